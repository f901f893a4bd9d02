//! What a monitor sees of a step.

/// One step as a monitor sees it; before its channels are brought to single precision, of another type of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition<'a, X = f32> {
    /// Observation before the step.
    pub obs: &'a [X],
    /// The policy's action.
    pub action: &'a [X],
    /// Observation after the step.
    pub next_obs: &'a [X],
}
