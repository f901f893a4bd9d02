//! How fast and how far the tool may be sent: the same for the simulated arm and for a robot.

/// Seconds of a step.
pub(super) const DT_SECS: f64 = 0.04;
/// How far an action of 1 moves the commanded point in one step, in m.
pub(super) const FULL_M: f64 = 0.01;
/// The speed along an axis that an action of 1 asks for, and the nominal limit, in m/s.
pub(super) const FULL_MPS: f64 = FULL_M / DT_SECS;
/// Where the commanded point may be: lowest and highest coordinate along each axis, in m.
pub(super) const WORKSPACE_M: [(f64, f64); 3] = [(-0.3, 0.2), (0.2, 0.4), (0.05, 0.25)];

/// A coordinate of the commanded point after an action, in m.
pub(super) fn displaced(at: f64, action: f32, most: f64, (low, high): (f64, f64)) -> f64 {
    (at + (FULL_M * f64::from(action)).clamp(-most, most)).clamp(low, high)
}
