//! What a fit runs on, how much memory there is, and whom it tells how far it is.

use super::memory::Need;
use crate::device::{self, Device};
use std::fmt;
use std::sync::Arc;

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
        /// Loss of the best network so far on the validation films, if they were looked at.
        best: Option<f64>,
    },
}

/// Who listens.
pub type Report = Arc<dyn Fn(&News) + Send + Sync>;

/// What a fit runs on.
#[derive(Clone)]
pub struct Runtime {
    /// The processor, or a graphics card.
    pub device: Device,
    /// Bytes that can be had, where that is known; a fit that needs more is refused.
    pub memory: Option<u64>,
    /// Who is told how far it is.
    pub report: Report,
}

impl Default for Runtime {
    /// On the processor, with as much memory as it takes, in silence.
    fn default() -> Runtime {
        Runtime { device: device::cpu(), memory: None, report: Arc::new(|_| ()) }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("device", &self.device).field("memory", &self.memory).finish()
    }
}
