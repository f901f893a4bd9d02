//! What a fit runs on, how much memory there is, and what it tells on the way.

use crate::device::{self, Device};

/// What a fit tells after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitStep {
    /// Steps that were made.
    pub step: usize,
    /// Steps that may be made.
    pub steps: usize,
    /// Loss of the step.
    pub loss: f64,
    /// Loss of the best network so far on the validation videos, if they were looked at.
    pub best: Option<f64>,
}

/// What a fit runs on.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// The processor, or a graphics card.
    pub device: Device,
    /// Bytes that can be had, where that is known; a fit that needs more is refused.
    pub memory: Option<u64>,
}

impl Default for Runtime {
    /// On the processor, with as much memory as it takes.
    fn default() -> Runtime {
        Runtime { device: device::cpu(), memory: None }
    }
}
