//! What a head reads of a place.

use super::super::grid::pixel_of;
use super::super::softmax::map;
use super::super::{Features, Output};

/// Places on each side of a place whose features are averaged.
const REACH: usize = 2;

/// Numbers of the logits that stand behind the features.
const OF_LOGITS: usize = 3;

/// The inputs of all places of an image.
pub(super) struct Described {
    /// Numbers of a place.
    pub width: usize,
    /// `[places, width]`.
    pub rows: Vec<f32>,
}

impl Described {
    /// The inputs of a place.
    pub fn row(&self, place: usize) -> &[f32] {
        &self.rows[place * self.width..][..self.width]
    }
}

/// The features, their means around, and what the logits say.
pub(super) fn describe(output: &Output<'_>, features: &Features<'_>) -> Described {
    let (n, d) = (features.places(), features.channels);
    let width = 2 * d + OF_LOGITS;
    let mut rows = vec![0.0; n * width];
    for (channel, plane) in features.values.chunks_exact(n).enumerate() {
        let around = means(plane, features.columns);
        for (row, (&own, around)) in rows.chunks_exact_mut(width).zip(plane.iter().zip(around)) {
            (row[channel], row[d + channel]) = (own, around);
        }
    }
    for (i, plane) in of_logits(output).iter().enumerate() {
        for (place, row) in rows.chunks_exact_mut(width).enumerate() {
            row[2 * d + i] = plane[pixel_of(output, features, place)];
        }
    }
    Described { width, rows }
}

/// The largest logit, the logarithm of the sum of exponentials, and the entropy of each pixel.
fn of_logits(output: &Output<'_>) -> [Vec<f32>; OF_LOGITS] {
    let (logits, n) = (output.mean_logits(), output.pixels());
    let plane = |of: fn(super::super::softmax::Sums) -> f32| {
        let mut plane = vec![0.0; n];
        map(&logits, 1.0, &mut plane, of);
        plane
    };
    [plane(|s| s.top), plane(|s| s.top + s.sum.ln()), plane(|s| s.entropy())]
}

/// Means over the places at most [`REACH`] rows and columns away, first along rows, then along columns.
fn means(plane: &[f32], columns: usize) -> Vec<f32> {
    let rows = plane.len() / columns;
    let along: Vec<f32> =
        (0..plane.len()).map(|i| mean(i % columns, columns, |c| plane[i / columns * columns + c])).collect();
    (0..plane.len()).map(|i| mean(i / columns, rows, |r| along[r * columns + i % columns])).collect()
}

/// The mean of the values from [`REACH`] before to [`REACH`] behind a place, as far as there are any.
fn mean(at: usize, n: usize, value: impl Fn(usize) -> f32) -> f32 {
    let around = at.saturating_sub(REACH)..(at + REACH + 1).min(n);
    let count = around.len() as f32;
    around.map(value).sum::<f32>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_end_at_the_border() {
        let plane: Vec<f32> = (0..12).map(|i| i as f32).collect();
        let found = means(&plane, 6);
        // Rows 0 and 1, columns 0 to 2, and columns 1 to 5.
        assert_eq!((found[0], found[3]), (4.0, 6.0));
    }
}
