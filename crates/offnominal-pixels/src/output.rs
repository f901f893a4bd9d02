//! What a network says of an image.

use offnominal_detectors::pixel::{Features, Output};
use std::ops::Range;

/// The output of a network for one image.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkOutput {
    pub(crate) logits: Vec<f32>,
    /// Passes, classes, height, width.
    pub(crate) shape: [usize; 4],
    pub(crate) features: Option<(Vec<f32>, [usize; 3])>,
    pub(crate) confidence: Option<Vec<f32>>,
}

impl NetworkOutput {
    /// That of no network, for an image of so many rows and pixels per row.
    pub(crate) fn none(height: usize, width: usize) -> NetworkOutput {
        NetworkOutput { logits: Vec::new(), shape: [1, 0, height, width], features: None, confidence: None }
    }

    /// The predicted class of each pixel; none without a network.
    pub fn prediction(&self) -> Option<Vec<u8>> {
        (self.shape[1] > 0).then(|| self.view().prediction())
    }

    /// The same for some rows of the image, which begin where features do.
    pub(crate) fn rows(self, rows: Range<usize>) -> NetworkOutput {
        let [passes, classes, height, width] = self.shape;
        let features = self.features.map(|(values, [channels, n, columns])| {
            // Strides are powers of two, and the last feature may stand for fewer rows.
            let stride = height.div_ceil(n).next_power_of_two();
            let some = rows.start / stride..rows.end.div_ceil(stride);
            (cut(&values, n, columns, &some), [channels, some.len(), columns])
        });
        NetworkOutput {
            logits: cut(&self.logits, height, width, &rows),
            shape: [passes, classes, rows.len(), width],
            features,
            confidence: self.confidence.map(|values| cut(&values, height, width, &rows)),
        }
    }

    /// Bytes of its numbers.
    pub(crate) fn bytes(&self) -> usize {
        let of_features = self.features.as_ref().map_or(0, |(values, _)| values.len());
        let confidence = self.confidence.as_ref().map_or(0, Vec::len);
        size_of::<f32>() * (self.logits.len() + of_features + confidence)
    }

    /// As the methods read it.
    pub fn view(&self) -> Output<'_> {
        let [passes, classes, height, width] = self.shape;
        let features = self.features.as_ref().map(|(values, [channels, rows, columns])| Features {
            values,
            channels: *channels,
            rows: *rows,
            columns: *columns,
        });
        let confidence = self.confidence.as_deref();
        Output { logits: &self.logits, passes, classes, height, width, features, confidence }
    }
}

/// Some rows of each plane, `[planes, height, width]`.
fn cut(values: &[f32], height: usize, width: usize, rows: &Range<usize>) -> Vec<f32> {
    let planes = values.chunks_exact(height * width);
    planes.flat_map(|plane| &plane[rows.start * width..rows.end * width]).copied().collect()
}

/// Whether the values of every pixel are those of a distribution, as a softmax gives them: all from 0 to 1, with sum 1.
/// `values` is `[passes, classes, pixels]`.
pub(crate) fn are_probabilities(values: &[f32], classes: usize, pixels: usize) -> bool {
    let is_distribution = |pass: &[f32], pixel: usize| {
        let of_pixel = || pass.iter().skip(pixel).step_by(pixels);
        of_pixel().all(|p| (0.0..=1.0).contains(p)) && (of_pixel().sum::<f32>() - 1.0).abs() < 1e-3
    };
    classes > 1
        && values
            .chunks_exact(classes * pixels)
            .all(|pass| (0..pixels).all(|pixel| is_distribution(pass, pixel)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_an_output_have_their_logits_and_the_features_that_lie_in_them() {
        let numbers = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
        // Ten rows of two pixels, with a feature for every four rows: three rows of features.
        let output = NetworkOutput {
            logits: numbers(40),
            shape: [1, 2, 10, 2],
            features: Some((numbers(6), [2, 3, 1])),
            confidence: Some(numbers(20)),
        };
        let cut = output.rows(4..9);
        assert_eq!(cut.shape, [1, 2, 5, 2]);
        let logits: Vec<f32> = (8..18).chain(28..38).map(|i| i as f32).collect();
        assert_eq!(cut.logits, logits);
        assert_eq!(cut.features, Some((vec![1.0, 2.0, 4.0, 5.0], [2, 2, 1])));
        assert_eq!(cut.confidence, Some((8..18).map(|i| i as f32).collect()));
    }

    #[test]
    fn the_last_feature_may_stand_for_a_single_row() {
        // 33 rows with a feature for every eight: five rows of features.
        let output = NetworkOutput {
            logits: vec![0.0; 33],
            shape: [1, 1, 33, 1],
            features: Some((vec![0.0, 1.0, 2.0, 3.0, 4.0], [1, 5, 1])),
            confidence: None,
        };
        assert_eq!(output.rows(8..33).features, Some((vec![1.0, 2.0, 3.0, 4.0], [1, 4, 1])));
    }
}
