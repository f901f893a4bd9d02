//! Images to look at: image, truth, prediction and score side by side, of the worst image for each cause.

use crate::data_set::{DataSet, Sample};
use crate::failures::Failures;
use crate::heat::heat;
use crate::network::Network;
use crate::resize::{bilinear, nearest};
use crate::results::Panel;
use crate::scorer::{Image, Scorer};
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
    let scores = scorer.scores(&Image::new(sample, &labels, &output))?;
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
