//! A bias that swings slowly.
//!
//! x′ₜ = xₜ + β sin(2π k / P), where k = 1, 2, … counts the anomalous steps since the anomaly became active; β is the
//! magnitude, P the `period` in steps (100 unless given). After a pause of an intermittent anomaly the count begins
//! again.
//!
//! Reference: Hong, "Boiling frog" (arXiv 2603.08455), which finds sinusoidal drift unseen by detectors that watch mean,
//! variance or percentiles of the error of a world model.

use super::signal::*;
use serde::{Deserializer, de::Error};
use std::f64::consts::TAU;

/// On observations.
pub const OBS: Listed = on_observation::<SineDrift>(Words {
    id: "obs-sine-drift",
    summary: "sensors with a bias that swings slowly",
    equation: "o′ₜ = oₜ + β sin(2π k / P),  k = 1, 2, … steps since the onset",
    imitates: "a sensor that follows the day, a temperature cycle, a swell or a slow rotation",
    shows: "residuals of one sign over many steps; their mean over a whole period is zero, so windows must be shorter",
});

/// On actions.
pub const ACT: Listed = on_action::<SineDrift>(Words {
    id: "act-sine-drift",
    summary: "actuators with a bias that swings slowly",
    equation: "a′ₜ = aₜ + β sin(2π k / P),  k = 1, 2, … steps since the onset",
    imitates: "an actuator under a load that comes and goes: swell, an unbalanced rotor, supply voltage",
    shows: "residuals of one sign over many steps; their mean over a whole period is zero, so windows must be shorter",
});

recipe! {
    /// The recipe.
    pub struct SineDrift {
        #[serde(default = "slow", deserialize_with = "period")]
        period: f64,
    }
}

fn slow() -> f64 {
    100.0
}

/// A swing faster than two steps is not seen as one.
fn period<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let found = f64::deserialize(d)?;
    let rule = || D::Error::custom(format!("expected a finite period above 2 steps, found {found}"));
    (found > 2.0 && found.is_finite()).then_some(found).ok_or_else(rule)
}

impl Operator for SineDrift {
    const NAME: &'static str = "sine-drift";
    const DOMAIN: Domain = Domain::Real;
    const REACH: &'static [Reach] = &[Reach::signal(0.05, 10.0)];
    const MAGNITUDE: &'static str =
        "β, amplitude of the swing, in the unit of the channel; P is `period`, in steps";

    fn disturb(&mut self, at: At, value: f64, _: &mut Rng) -> f64 {
        value + self.magnitude * (TAU * at.step / self.period).sin()
    }
}
