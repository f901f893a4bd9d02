//! A signal with a constant bias.
//!
//! x′ₜ = xₜ + β; β is the magnitude.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2. Deviates: β may be negative.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Offset>(Words {
    id: "obs-offset",
    summary: "sensors with a constant bias",
    equation: "o′ₜ = oₜ + β",
    imitates: "a sensor that was moved, or has lost its zero",
    shows: "readings out of their usual range, and channels that no longer agree with one another",
});

/// On actions.
pub const ACT: Listed = on_action::<Offset>(Words {
    id: "act-offset",
    summary: "actuators with a constant bias",
    equation: "a′ₜ = aₜ + β",
    imitates: "an actuator out of trim: a bent linkage, a valve that leaks",
    shows: "answers with a constant error: the mean residual of a dynamics model over some steps",
});

recipe! {
    /// The recipe.
    pub struct Offset {}
}

impl Operator for Offset {
    const NAME: &'static str = "offset";
    const DOMAIN: Domain = Domain::Real;
    const REACH: &'static [Reach] = &[Reach::signal(0.05, 10.0), Reach::signal(-0.05, -10.0)];
    const MAGNITUDE: &'static str = "β, bias, in the unit of the channel";

    fn disturb(&mut self, _: At, value: f64, _: &mut Rng) -> f64 {
        value + self.magnitude
    }
}
