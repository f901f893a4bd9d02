//! An image with its scores laid over it, and outlines of what lies above the threshold.

use crate::gallery::outline;
use crate::heat::{Scale, ramp};
use crate::resize::Size;

/// How much of an image is covered where its score is highest.
const COVER: f32 = 0.7;
/// Outline of what lies above the threshold.
const OUTLINE: [u8; 3] = [0, 225, 255];

/// The colours; `rgb` is the image, or nothing if there is none, and `inside` what is outlined.
pub fn overlay(rgb: &[u8], scores: &[f32], scale: Scale, inside: &[bool], size: Size) -> Vec<u8> {
    let line = outline(inside, size);
    let pixel = |at: usize| {
        let (share, below) = (scale.place(scores[at]), rgb.get(3 * at..3 * at + 3));
        let heat = ramp(share);
        match below {
            _ if line[at] => OUTLINE,
            Some(below) => std::array::from_fn(|i| mix(below[i], heat[i], COVER * share)),
            None => heat,
        }
    };
    (0..scores.len()).flat_map(pixel).collect()
}

fn mix(below: u8, above: u8, share: f32) -> u8 {
    (f32::from(below) + share * (f32::from(above) - f32::from(below))) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_scores_leave_the_image_high_ones_cover_it_and_outlines_run_around() {
        let size = Size { width: 4, height: 1 };
        let scale = Scale::of(vec![0.0, 1.0, 1.0, 1.0]);
        let scores = [0.0, 0.0, 0.0, 1.0];
        let drawn = overlay(&[90; 12], &scores, scale, &[false, false, false, true], size);
        assert_eq!(drawn[..6], [90; 6]);
        assert_eq!(drawn[6..9], OUTLINE);
        assert!(drawn[9] > 180, "{drawn:?}");
        assert_eq!(overlay(&[], &scores, scale, &[false; 4], size)[..3], ramp(0.0));
    }
}
