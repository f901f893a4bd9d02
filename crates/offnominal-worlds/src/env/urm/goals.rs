//! The goals of an episode of reaching: which is sought, what a step is worth, and whether all were reached.
//!
//! Simulation and robot share it, so that both are the same task.

use super::goal::Goal;
use offnominal_core::Rng;

/// Goals of an episode.
pub(super) const GOALS: usize = 4;
/// Steps that a goal lasts.
pub(super) const INTERVAL: usize = 50;
/// How near is near enough, in m.
pub(super) const NEAR_M: f64 = 0.02;

/// Goals, and what was made of them so far.
#[derive(Debug, Clone, Default)]
pub(super) struct GoalSequence {
    goals: [[f64; 3]; GOALS],
    steps: usize,
    /// Whether the tool was too far from a goal at the end of its interval.
    missed: bool,
}

impl GoalSequence {
    /// Coordinates of all goals, in m.
    pub(super) fn draw(rng: &mut Rng) -> Vec<f64> {
        (0..GOALS).flat_map(|_| Goal::draw(rng)).collect()
    }

    /// The goals before the first step.
    pub(super) fn new(x: &[f64]) -> GoalSequence {
        assert_eq!(x.len(), 3 * GOALS, "length of the initial condition");
        let goals = std::array::from_fn(|k| std::array::from_fn(|i| x[3 * k + i]));
        GoalSequence { goals, steps: 0, missed: false }
    }

    /// The first goal.
    pub(super) fn first(&self) -> [f64; 3] {
        self.goals[0]
    }

    /// Counts a step that ended at a distance from the goal. The next goal, if its time has come; after the last one
    /// the first one returns.
    pub(super) fn advance(&mut self, distance_m: f64) -> Option<[f64; 3]> {
        self.steps += 1;
        if !self.at_a_boundary() {
            return None;
        }
        self.missed |= !is_near(distance_m);
        Some(self.goals[self.steps / INTERVAL % GOALS])
    }

    /// Whether every goal was reached in time, and the present one is.
    pub(super) fn is_met(&self, distance_m: f64) -> bool {
        !self.missed && (self.at_a_boundary() || is_near(distance_m))
    }

    /// Whether a goal has just taken the place of another one.
    fn at_a_boundary(&self) -> bool {
        self.steps > 0 && self.steps.is_multiple_of(INTERVAL)
    }
}

/// Whether the tool is near enough to the goal.
pub(super) fn is_near(distance_m: f64) -> bool {
    distance_m < NEAR_M
}

/// What a step is worth that ends at a distance from the goal.
pub(super) fn reward(distance_m: f64, action: &[f32]) -> f64 {
    let miss = if is_near(distance_m) { 0.0 } else { 1.0 + distance_m };
    let effort = action.iter().map(|&a| f64::from(a).powi(2)).sum::<f64>().sqrt();
    -miss - 0.1 * effort
}
