//! Signals of a policy's chunks while it acts.

use crate::error::caught;
use offnominal_rollouts::chunk::{Chunk, ChunkSignals as Signals};
use pyo3::prelude::*;

/// The chunks of one rollout as they come.
#[pyclass(module = "offnominal._engine")]
pub(crate) struct ChunkSignals(Signals);

#[pymethods]
impl ChunkSignals {
    /// A rollout begins.
    #[new]
    fn new() -> ChunkSignals {
        ChunkSignals(Signals::default())
    }

    /// The next chunk, of samples, actions and numbers of an action: name and value of each signal.
    fn step(
        &mut self,
        sizes: [usize; 3],
        values: Vec<f32>,
        executed: usize,
    ) -> PyResult<Vec<(&'static str, f64)>> {
        caught(|| self.0.push(Chunk::new(sizes, values)?, executed))?;
        Ok(self.0.last().collect())
    }
}
