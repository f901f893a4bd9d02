//! What a fit runs on, how much memory there is, and what it tells on the way.

use super::memory::Need;
use crate::device::{self, Device};

/// What a fit tells.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// Before it starts: what it will need.
    Need(Need),
    /// After a step.
    Step {
        /// Steps that were made.
        step: usize,
        /// Steps that may be made.
        steps: usize,
        /// Loss of the step.
        loss: f64,
        /// Loss of the best network so far on the validation videos, if they were looked at.
        best: Option<f64>,
    },
}

impl News {
    /// The part of the fit that is done at most, from 0 to 1: it may stop early.
    pub fn done(&self) -> f64 {
        match self {
            News::Need(_) => 0.0,
            News::Step { step, steps, .. } => *step as f64 / *steps as f64,
        }
    }
}

/// Whom a fit tells its news.
pub type Tell<'a> = &'a dyn Fn(&News);

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
