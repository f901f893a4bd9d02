//! Between the grid of the features and that of the image.

use super::{Features, Output};

impl Features<'_> {
    /// `[channels, rows, columns]`.
    pub fn shape(&self) -> [usize; 3] {
        [self.channels, self.rows, self.columns]
    }

    /// Number of places.
    pub(super) fn places(&self) -> usize {
        self.rows * self.columns
    }

    /// The feature vector of a place.
    pub(super) fn vector(&self, place: usize, out: &mut [f32]) {
        let n = self.places();
        out.iter_mut().enumerate().for_each(|(channel, x)| *x = self.values[channel * n + place]);
    }
}

/// The pixel in the middle of a place.
pub(super) fn pixel_of(output: &Output<'_>, features: &Features<'_>, place: usize) -> usize {
    let middle = |at: usize, cells: usize, pixels: usize| (2 * at + 1) * pixels / (2 * cells);
    let row = middle(place / features.columns, features.rows, output.height);
    row * output.width + middle(place % features.columns, features.columns, output.width)
}

/// Class and feature vector of each labelled place.
pub(super) fn labelled<'a>(
    output: &'a Output<'_>,
    features: &'a Features<'_>,
    labels: &'a [u8],
) -> impl Iterator<Item = (usize, usize, Vec<f32>)> + 'a {
    (0..features.places()).filter_map(move |place| {
        let class = usize::from(labels[pixel_of(output, features, place)]);
        let mut x = vec![0.0; features.channels];
        features.vector(place, &mut x);
        (class < output.classes).then_some((class, place, x))
    })
}

/// Spreads a value for each place over the pixels, bilinearly between the middles of places.
pub(super) fn spread(values: &[f32], features: &Features<'_>, output: &Output<'_>, scores: &mut [f32]) {
    let columns: Vec<_> = (0..output.width).map(|c| between(c, output.width, features.columns)).collect();
    for (row, line) in scores.chunks_exact_mut(output.width).enumerate() {
        let (top, low, w) = between(row, output.height, features.rows);
        let at = |r: usize, &(left, right, v): &(usize, usize, f32)| {
            let line = &values[r * features.columns..];
            line[left] + v * (line[right] - line[left])
        };
        for (score, column) in line.iter_mut().zip(&columns) {
            let upper = at(top, column);
            *score = upper + w * (at(low, column) - upper);
        }
    }
}

/// The two cells around a pixel, and the weight of the second.
fn between(pixel: usize, pixels: usize, cells: usize) -> (usize, usize, f32) {
    let at = ((pixel as f32 + 0.5) * cells as f32 / pixels as f32 - 0.5).clamp(0.0, (cells - 1) as f32);
    let first = at as usize;
    (first, (first + 1).min(cells - 1), at - first as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_stays_a_slope_and_edges_are_flat() {
        let features = Features { values: &[], channels: 0, rows: 1, columns: 4 };
        let output = Output {
            logits: &[],
            passes: 1,
            classes: 0,
            height: 1,
            width: 8,
            features: None,
            confidence: None,
        };
        let mut scores = [0.0; 8];
        spread(&[0.0, 1.0, 2.0, 3.0], &features, &output, &mut scores);
        assert_eq!(scores, [0.0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.0]);
        assert_eq!([0, 1, 3].map(|p| pixel_of(&output, &features, p)), [1, 3, 7]);
    }
}
