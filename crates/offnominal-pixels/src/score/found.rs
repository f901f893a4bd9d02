//! Connected pixels above a threshold: where they are, and how high their scores.

use crate::evaluate::ComponentSizes;
use offnominal_stats::pixel::components::Components;
use serde::Serialize;

/// What a method says of an image.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImageScores {
    /// The name of the image.
    pub image: String,
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Its largest score.
    pub largest_score: f32,
    /// What lies above the threshold, from the largest; empty without one.
    pub components: Vec<Found>,
}

/// Connected pixels above a threshold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// First column and row, number of columns and rows.
    #[serde(rename = "box")]
    pub bounds: [usize; 4],
    /// Pixels.
    pub pixels: usize,
    /// Their mean score.
    pub mean_score: f64,
    /// Their largest score.
    pub largest_score: f32,
}

impl Found {
    /// The components of an image, from the largest, and which of them each pixel belongs to (0 for none). Those that are
    /// too small for [`ComponentSizes::Scaled`] are left out.
    pub(super) fn all(scores: &[f32], width: usize, threshold: f64) -> (Vec<Found>, Vec<bool>) {
        let above: Vec<bool> = scores.iter().map(|&s| f64::from(s) > threshold).collect();
        let components = Components::of(&above, width);
        let least = ComponentSizes::Scaled.of(scores.len()).predicted;
        let mut open: Vec<Open> = components.sizes.iter().map(|_| Open::default()).collect();
        for (at, &label) in components.labels.iter().enumerate().filter(|(_, label)| **label > 0) {
            open[label as usize - 1].add(at % width, at / width, scores[at]);
        }
        let counts = |label: u32| label > 0 && components.size(label) >= least;
        let inside = components.labels.iter().map(|&label| counts(label)).collect();
        let mut found: Vec<Found> =
            open.into_iter().filter(|one| one.pixels >= least).map(Open::found).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.pixels));
        (found, inside)
    }
}

/// A component whose pixels are being counted.
struct Open {
    /// First and last column and row.
    columns: [usize; 2],
    rows: [usize; 2],
    pixels: usize,
    sum: f64,
    largest: f32,
}

impl Default for Open {
    fn default() -> Open {
        Open {
            columns: [usize::MAX, 0],
            rows: [usize::MAX, 0],
            pixels: 0,
            sum: 0.0,
            largest: f32::NEG_INFINITY,
        }
    }
}

impl Open {
    fn add(&mut self, column: usize, row: usize, score: f32) {
        self.columns = [self.columns[0].min(column), self.columns[1].max(column)];
        self.rows = [self.rows[0].min(row), self.rows[1].max(row)];
        self.pixels += 1;
        self.sum += f64::from(score);
        self.largest = self.largest.max(score);
    }

    fn found(self) -> Found {
        let ([left, right], [top, bottom]) = (self.columns, self.rows);
        Found {
            bounds: [left, top, right - left + 1, bottom - top + 1],
            pixels: self.pixels,
            mean_score: self.sum / self.pixels as f64,
            largest_score: self.largest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_have_boxes_and_scores_and_the_largest_comes_first() {
        let scores = [
            [9.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 2.0, 0.0],
            [0.0, 0.0, 4.0, 0.0, 1.0], // 1 lies on the threshold, not above it
        ];
        let (found, inside) = Found::all(scores.as_flattened(), 5, 1.0);
        let want = [
            Found { bounds: [2, 1, 2, 2], pixels: 2, mean_score: 3.0, largest_score: 4.0 },
            Found { bounds: [0, 0, 1, 1], pixels: 1, mean_score: 9.0, largest_score: 9.0 },
        ];
        assert_eq!(found, want);
        let places: Vec<usize> = (0..15).filter(|&at| inside[at]).collect();
        assert_eq!(places, [0, 8, 12]);
    }

    #[test]
    fn what_is_too_small_in_a_large_image_does_not_count() {
        let mut scores = vec![0.0; 40_000];
        scores[..10].fill(1.0);
        scores[4_000..4_009].fill(1.0);
        let (found, inside) = Found::all(&scores, 200, 0.5);
        assert_eq!((found.len(), found[0].pixels, inside.iter().filter(|&&i| i).count()), (1, 10, 10));
    }
}
