//! White noise on a signal.
//!
//! x′ₜ = xₜ + εₜ with εₜ ~ N(0, β²), independent in time and between channels; β is the magnitude.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Noise>(Words {
    id: "obs-noise",
    summary: "white noise on sensors",
    equation: "o′ₜ = oₜ + εₜ,  εₜ ~ N(0, β²)",
    imitates: "a sensor with a poor signal: electromagnetic interference, low light, quantum noise",
    shows: "steps that no smooth motion explains: the residual of a one-step prediction",
});

/// On actions.
pub const ACT: Listed = on_action::<Noise>(Words {
    id: "act-noise",
    summary: "white noise on actions",
    equation: "a′ₜ = aₜ + εₜ,  εₜ ~ N(0, β²)",
    imitates: "an actuator that jitters: backlash, ripple of a drive, a disturbed line",
    shows: "the environment's answer no longer fits the recorded action: the residual of a dynamics model",
});

recipe! {
    /// The recipe.
    pub struct Noise {}
}

impl Operator for Noise {
    const NAME: &'static str = "noise";
    const DOMAIN: Domain = Domain::NonNegative;
    const REACH: &'static [Reach] = &[Reach::signal(0.1, 10.0)];
    const MAGNITUDE: &'static str = "β, standard deviation of the noise, in the unit of the channel";

    fn disturb(&mut self, _: At, value: f64, rng: &mut Rng) -> f64 {
        value + self.magnitude * rng.normal()
    }
}
