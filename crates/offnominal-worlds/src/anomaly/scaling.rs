//! A signal with the wrong gain.
//!
//! x′ₜ = β xₜ; β is the magnitude, 1 is neutral, 0 is silence, and negative values reverse the signal.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Scaling>(Words {
    id: "obs-scaling",
    summary: "sensors with the wrong gain",
    equation: "o′ₜ = β oₜ",
    imitates: "a sensor calibrated wrongly, or read in the wrong unit",
    shows: "readings out of their usual range, and channels that no longer agree with one another",
});

/// On actions.
pub const ACT: Listed = on_action::<Scaling>(Words {
    id: "act-scaling",
    summary: "actuators that do more or less than told",
    equation: "a′ₜ = β aₜ",
    imitates: "an actuator that weakens (β < 1: wear, low battery, heat) or overreacts (β > 1)",
    shows: "answers that are too large or too small for the action: the residual of a dynamics model",
})
.reaching(&[Reach::one(0.1, 9.0), Reach::one(-0.1, -1.0)]);

recipe! {
    /// The recipe.
    pub struct Scaling {}
}

impl Operator for Scaling {
    const NAME: &'static str = "scaling";
    const DOMAIN: Domain = Domain::Real;
    const NEUTRAL: f64 = 1.0;
    const REACH: &'static [Reach] = &[Reach::one(0.05, 9.0), Reach::one(-0.05, -1.0)];
    const MAGNITUDE: &'static str = "β, factor; 1 is neutral, harm grows upwards and downwards";

    fn disturb(&mut self, _: At, value: f64, _: &mut Rng) -> f64 {
        value * self.magnitude
    }
}
