//! What a monitor sees of a step.

/// One step as a monitor sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition<'a> {
    /// Observation before the step.
    pub obs: &'a [f32],
    /// The policy's action.
    pub action: &'a [f32],
    /// Observation after the step.
    pub next_obs: &'a [f32],
}
