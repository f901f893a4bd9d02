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

/// What probabilities add up to as they are written, and the unit to which they may be rounded: shares, per cent, and
/// integers of 8 and of 16 bits.
const TOTALS: [(f32, f32); 4] = [(1.0, 0.01), (100.0, 1.0), (255.0, 1.0), (65_535.0, 1.0)];

/// What the values of the pixels add up to, if they are probabilities: none is negative, and 99 % of the pixels have the same
/// sum, as far as they are rounded; others may be filled with zeros. Logits have no such sum. `values` is
/// `[passes, classes, pixels]`.
pub(crate) fn total_of_probabilities(values: &[f32], classes: usize, pixels: usize) -> Option<f32> {
    if classes < 2 || values.iter().any(|&v| v < 0.0) {
        return None;
    }
    let sums: Vec<f32> = values.chunks_exact(classes * pixels).flat_map(|pass| sums(pass, pixels)).collect();
    let is_total = |&(total, unit): &(f32, f32)| {
        let is_rounded = values.iter().all(|v| (v / unit - (v / unit).round()).abs() < 1e-3);
        let slack = if is_rounded { 0.5 * unit * classes as f32 } else { 1e-3 * total };
        let with_it = sums.iter().filter(|&sum| (sum - total).abs() <= slack.min(0.5 * total)).count();
        with_it * 100 >= sums.len() * 99
    };
    TOTALS.iter().find(|total| is_total(total)).map(|(total, _)| *total)
}

/// The sums over the classes of `[classes, pixels]`.
fn sums(pass: &[f32], pixels: usize) -> Vec<f32> {
    let mut sums = vec![0.0; pixels];
    for plane in pass.chunks_exact(pixels) {
        sums.iter_mut().zip(plane).for_each(|(sum, v)| *sum += v);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_known_in_every_unit_and_logits_are_not_taken_for_them() {
        // Three classes of two hundred pixels: a softmax of numbers that differ.
        let logit = |class: usize, pixel: usize| ((class * 7 + pixel * 3) % 11) as f32 * 0.7;
        let sum = |pixel: usize| (0..3).map(|class| logit(class, pixel).exp()).sum::<f32>();
        let each = |of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
            (0..3)
                .flat_map(|class| (0..200).map(move |pixel| (class, pixel)))
                .map(|(c, p)| of(c, p))
                .collect()
        };
        let softmax = |class: usize, pixel: usize| logit(class, pixel).exp() / sum(pixel);
        let found = |values: &[f32]| total_of_probabilities(values, 3, 200);
        let mut padded = each(&softmax);
        padded.iter_mut().step_by(200).for_each(|v| *v = 0.0);
        assert_eq!([found(&each(&softmax)), found(&padded)], [Some(1.0); 2]);
        let rounded = |unit: f32| each(&|class, pixel| (softmax(class, pixel) * unit).round());
        let found_in = [100.0, 255.0, 65_535.0].map(|unit| found(&rounded(unit)));
        assert_eq!(found_in, [Some(100.0), Some(255.0), Some(65_535.0)]);
        assert_eq!(found(&rounded(100.0).iter().map(|v| v / 100.0).collect::<Vec<_>>()), Some(1.0));
        assert_eq!([found(&each(&logit)), found(&vec![0.0; 600]), found(&vec![3.0; 600])], [None; 3]);
        assert_eq!(total_of_probabilities(&[1.0; 200], 1, 200), None, "one class has one value");
    }

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
