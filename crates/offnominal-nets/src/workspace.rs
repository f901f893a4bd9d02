//! The buffers of a forward and a backward pass.

use crate::dropconnect::Thinned;
use crate::matmul::Pack;

/// Everything that passing batches of up to a given size through one network writes to.
///
/// A backward pass uses what the forward pass before it left here.
#[derive(Debug, Clone)]
pub struct Workspace {
    pub(crate) max_batch: usize,
    /// Rows of the last forward pass.
    pub(crate) batch: usize,
    /// Results of each layer.
    pub(crate) outputs: Vec<Vec<f32>>,
    /// What the derivative of the activation needs and `outputs` does not have.
    pub(crate) inner: Vec<Vec<f32>>,
    /// Dropout factors of the last training pass; empty without dropout.
    pub(crate) masks: Vec<Vec<f32>>,
    /// Whether the last forward pass applied dropout.
    pub(crate) masked: bool,
    /// The weights that DropConnect left to the last pass.
    pub(crate) thinned: Thinned,
    /// Derivatives of the current layer and of the one before it.
    pub(crate) delta: [Vec<f32>; 2],
    pub(crate) pack: Pack,
}

impl Workspace {
    /// What the last layer read in the last forward pass, row-major; empty if the network has one layer.
    pub fn features(&self) -> &[f32] {
        let read = self.outputs.iter().rev().nth(1).map_or(&[][..], Vec::as_slice);
        &read[..read.len() / self.max_batch * self.batch]
    }

    /// The result of the last forward pass, row-major.
    pub fn output(&self) -> &[f32] {
        let last = self.outputs.last().expect("a network has a layer");
        &last[..last.len() / self.max_batch * self.batch]
    }
}
