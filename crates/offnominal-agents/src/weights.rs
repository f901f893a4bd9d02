//! Parameters with their optimiser, and what a checkpoint holds of both.

use offnominal_nets::{Adam, AdamState, TensorError, Tensors};

/// Parameters that Adam learns.
pub(crate) struct Weights {
    pub(crate) params: Vec<f32>,
    /// Derivatives of the last loss by the parameters.
    pub(crate) grad: Vec<f32>,
    adam: AdamState,
    /// What the names of their tensors begin with.
    name: String,
}

impl Weights {
    /// Parameters before the first step.
    pub(crate) fn new(params: Vec<f32>, name: impl Into<String>) -> Weights {
        let (grad, adam) = (vec![0.0; params.len()], AdamState::new(params.len()));
        Weights { params, grad, adam, name: name.into() }
    }

    /// Gradient steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// One step down the last gradient.
    pub(crate) fn step(&mut self, adam: Adam) {
        adam.step(&mut self.params, &self.grad, &mut self.adam);
    }

    /// Adds everything that a continuation needs. The step count is stored in two halves of 16 bits and the rest, each
    /// exact in single precision.
    pub(crate) fn save(&self, into: &mut Tensors) {
        let steps = [self.adam.steps & 0xffff, (self.adam.steps >> 16) & 0xffff, self.adam.steps >> 32];
        into.put(&self.name, &self.params);
        into.put(&format!("{}.mean", self.name), &self.adam.mean);
        into.put(&format!("{}.square", self.name), &self.adam.square);
        into.put(&format!("{}.steps", self.name), &steps.map(|part| part as f32));
    }

    /// Continues from what was saved.
    pub(crate) fn load(&mut self, from: &Tensors) -> Result<(), TensorError> {
        from.read(&self.name, &mut self.params)?;
        from.read(&format!("{}.mean", self.name), &mut self.adam.mean)?;
        from.read(&format!("{}.square", self.name), &mut self.adam.square)?;
        let name = format!("{}.steps", self.name);
        let parts = from.expect(&name, &[3])?;
        let halves = parts.iter().all(|part| (0.0..65_536.0).contains(part));
        TensorError::require(halves, &name, "three parts of 16 bits", format!("{parts:?}"))?;
        self.adam.steps = parts[0] as u64 | (parts[1] as u64) << 16 | (parts[2] as u64) << 32;
        Ok(())
    }
}
