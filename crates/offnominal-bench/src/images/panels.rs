//! Images for the report: what the camera saw, what was expected, and where the score comes from.

use crate::results::Panel;
use anyhow::Result;
use offnominal_core::image_detector::{Heat, ImageScorer, Video};
use offnominal_core::prelude::*;
use offnominal_files::png as image;
use offnominal_report::page::encoded;

/// Which step of which episode.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    /// Environment id.
    pub env: &'a str,
    /// Anomaly id.
    pub anomaly: &'a str,
    /// Strength level.
    pub strength: &'a str,
    /// Detector.
    pub detector: &'a str,
    /// Index of the test episode.
    pub episode: u64,
    /// First anomalous step.
    pub onset: usize,
}

/// The step after the onset that the monitor finds most anomalous.
///
/// # Errors
/// If an image cannot be encoded.
pub fn panel(
    monitor: &mut dyn ImageScorer,
    video: &Video,
    scores: &[f64],
    shown: &Shown<'_>,
) -> Result<Option<Panel>> {
    let steps = shown.onset..scores.len();
    let Some(step) = steps.max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { return Ok(None) };
    monitor.reset();
    for t in 0..=step {
        monitor.score(video.transition(t));
    }
    let seen = video.frame(step + 1);
    let size = (video.width, video.height);
    Ok(Some(Panel {
        env: shown.env.into(),
        anomaly: shown.anomaly.into(),
        strength: shown.strength.into(),
        detector: shown.detector.into(),
        episode: shown.episode,
        step: step as u32,
        onset: shown.onset as u32,
        score: scores[step],
        seen: png(seen.to_vec(), size)?,
        expected: monitor.expected().map(|e| png(e.to_vec(), size)).transpose()?,
        heat: monitor.heat().map(|heat| png(overlaid(seen, size, &heat), size)).transpose()?,
    }))
}

/// What the camera saw after a step, what was expected, and the heat over it, side by side; the monitor has just scored
/// that step.
pub fn side_by_side(monitor: &dyn ImageScorer, video: &Video, step: usize) -> Frame {
    let (seen, size) = (video.frame(step + 1), (video.width, video.height));
    let heat = monitor.heat().map(|heat| overlaid(seen, size, &heat));
    let all: Vec<&[u8]> = [Some(seen), monitor.expected(), heat.as_deref()].into_iter().flatten().collect();
    let mut frame = Frame::new(all.len() * video.width, video.height);
    for (row, line) in frame.rgb.chunks_exact_mut(all.len() * 3 * video.width).enumerate() {
        for (part, image) in line.chunks_exact_mut(3 * video.width).zip(&all) {
            part.copy_from_slice(&image[row * part.len()..(row + 1) * part.len()]);
        }
    }
    frame
}

fn png(rgb: Vec<u8>, (width, height): (usize, usize)) -> Result<String> {
    let frame = Frame { width, height, rgb, classes: vec![0; width * height] };
    Ok(encoded(&image::png(&frame)?))
}

/// The image in grey, and over it the heat: from nothing at the median of the fields to full red at the largest.
fn overlaid(image: &[u8], (width, height): (usize, usize), heat: &Heat) -> Vec<u8> {
    let mut sorted = heat.values.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    let (low, high) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let mut out = Vec::with_capacity(image.len());
    for (at, pixel) in image.as_chunks::<3>().0.iter().enumerate() {
        let (row, column) = (at / width * heat.rows / height, at % width * heat.columns / width);
        let value = heat.values[row * heat.columns + column];
        let share = ((value - low) / (high - low).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let grey = pixel.iter().map(|&p| f32::from(p)).sum::<f32>() / 3.0 * 0.6 + 60.0;
        let mix = |hot: f32| ((1.0 - share) * grey + share * hot).round() as u8;
        out.extend([mix(214.0), mix(40.0), mix(40.0)]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_field_is_red_and_the_usual_ones_are_grey() {
        let heat = Heat::new(2, 2, vec![0.0, 0.0, 0.0, 9.0]);
        let out = overlaid(&[100; 4 * 4 * 3], (4, 4), &heat);
        assert_eq!(out[..3], [120, 120, 120]);
        assert_eq!(out[45..], [214, 40, 40]);
    }
}
