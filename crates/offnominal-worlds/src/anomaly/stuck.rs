//! A value that is held.
//!
//! x′ₜ is the value last let through; x passes in every (d + 1)-th anomalous step only, d being the magnitude. d = 0 lets
//! everything through, a d beyond the rest of the episode holds the value of the onset to the end. What is held first is
//! the value of the step before the onset; where there is none, the first one.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Stuck>(Words {
    id: "obs-stuck",
    summary: "sensors that repeat their last reading",
    equation: "o′ₜ = o′ₜ₋₁, renewed in every (d + 1)-th step",
    imitates: "a frozen sensor or camera, a driver that hangs, a bus that repeats old frames",
    shows: "readings that do not move although the system does: change of 0, the residual of a dynamics model",
});

/// On actions.
pub const ACT: Listed = on_action::<Stuck>(Words {
    id: "act-stuck",
    summary: "actuators that keep doing what they did last",
    equation: "a′ₜ = a′ₜ₋₁, renewed in every (d + 1)-th step",
    imitates: "a jammed valve or rudder, a stuck throttle, a controller that is updated too rarely",
    shows: "answers that do not follow the action: the residual of a dynamics model",
});

recipe! {
    /// The recipe, and the value that each channel holds.
    pub struct Stuck {
        #[serde(skip)]
        held: Vec<Option<f64>>,
    }
}

impl Operator for Stuck {
    const NAME: &'static str = "stuck";
    const DOMAIN: Domain = Domain::Whole;
    const REACH: &'static [Reach] = &[Reach::one(1.0, 1000.0)];
    const MAGNITUDE: &'static str =
        "d, steps for which a value is held; at least as long as the episode: for good";
    const BY_DEGREES: bool = false;

    fn fit(&mut self, width: usize) {
        self.held = vec![None; width];
    }

    fn disturb(&mut self, At { channel, step }: At, value: f64, _: &mut Rng) -> f64 {
        if step % (self.magnitude + 1.0) == 0.0 {
            self.held[channel] = Some(value);
        }
        *self.held[channel].get_or_insert(value)
    }

    fn watch(&mut self, channel: usize, value: f64) {
        self.held[channel] = Some(value);
    }
}
