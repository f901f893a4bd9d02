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
