//! What a network says of an image.

use offnominal_detectors::pixel::{Features, Output};

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
