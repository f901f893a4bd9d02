//! Images to look at: image, truth, prediction and score side by side, of the worst image for each cause.

use crate::data_set::{DataSet, Sample};
use crate::failures::Failures;
use crate::network::Network;
use crate::resize::{bilinear, nearest};
use crate::results::Panel;
use crate::scorer::Scorer;
use anyhow::Result;
use offnominal_files::image_file;

/// The longer side of an image has at most so many pixels, or a page of large images could not be opened.
const LONGEST: usize = 512;

/// The panels of the worst images.
///
/// # Errors
/// If an image cannot be read any longer.
pub(crate) fn make(
    network: &Network,
    set: &DataSet,
    scorer: &Scorer,
    failures: &Failures,
    samples: &[Sample],
) -> Result<Vec<Panel>> {
    let mut panels = Vec::new();
    for (cause, number) in failures.worst() {
        let wrong = failures.images[number][cause as usize];
        let caption = format!("{}: {} wrong pixels in {}", cause.name(), wrong, samples[number].name);
        panels.push(Panel { caption, images: images(network, set, scorer, &samples[number])? });
    }
    Ok(panels)
}

fn images(
    network: &Network,
    set: &DataSet,
    scorer: &Scorer,
    sample: &Sample,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (labels, output) = network.predict(set, sample)?;
    let scores = scorer.scores(sample, &labels, &output)?;
    let (from, to) = (labels.size(), labels.size().at_most(LONGEST));
    let png = |rgb: &[u8]| image_file::small_colours(to.width, to.height, rgb);
    let classes = |ids: &[u8]| -> Vec<u8> {
        nearest(ids, from, to).into_iter().flat_map(|id| set.colour(id)).collect()
    };
    let mut images = Vec::new();
    // A data set may keep its images in a format that is not read; the other panels do not need it.
    if let Ok(rgb) = set.rgb(sample, &labels) {
        images.push(("image", png(&if from == to { rgb } else { bilinear(&rgb, from, to) })?));
    }
    images.push(("truth", png(&classes(&labels.ids))?));
    if let Some(prediction) = output.prediction() {
        images.push(("prediction", png(&classes(&prediction))?));
    }
    images.push(("score", png(&heat(&nearest(&scores, from, to)))?));
    Ok(images)
}

/// Scores as colours, from the hundredth with the lowest to the hundredth with the highest.
pub fn heat(scores: &[f32]) -> Vec<u8> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(0.01), at(0.99));
    let place = |s: f32| if high > low { ((s - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    scores.iter().flat_map(|&s| ramp(place(s))).collect()
}

/// From black through violet and orange to pale yellow, ever brighter.
fn ramp(share: f32) -> [u8; 3] {
    const STOPS: [[f32; 3]; 5] = [
        [2.0, 2.0, 10.0],
        [74.0, 18.0, 108.0],
        [176.0, 50.0, 90.0],
        [244.0, 136.0, 40.0],
        [252.0, 250.0, 170.0],
    ];
    let at = share * 4.0;
    let below = (at as usize).min(3);
    let weight = at - below as f32;
    std::array::from_fn(|i| (STOPS[below][i] + weight * (STOPS[below + 1][i] - STOPS[below][i])) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_scores_are_brighter() {
        let scores: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let light: Vec<u32> =
            heat(&scores).chunks_exact(3).map(|c| c.iter().map(|&v| u32::from(v)).sum()).collect();
        assert!(light.is_sorted() && light[199] > 600 && light[0] < 20);
        assert!(heat(&[3.0; 4]).chunks_exact(3).all(|c| c == [2, 2, 10]));
    }
}
