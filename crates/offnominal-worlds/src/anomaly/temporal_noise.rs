//! Noise with a memory: an autoregressive process of order one.
//!
//! x′ₜ = xₜ + nₜ with nₜ = φ nₜ₋₁ + εₜ, n₀ = ε₀ and εₜ ~ N(0, β²), each channel by itself. β is the magnitude, φ the
//! `correlation` (0.9 unless given). Far from the onset, nₜ has the variance β² / (1 − φ²) and the correlation φ from
//! step to step. After a pause of an intermittent anomaly the process begins again.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2, which uses one symbol for β and φ. Deviates: they are
//! two parameters here.

use super::signal::*;
use serde::{Deserializer, de::Error};

/// On observations.
pub const OBS: Listed = on_observation::<TemporalNoise>(Words {
    id: "obs-temporal-noise",
    summary: "slowly wandering noise on sensors",
    equation: "o′ₜ = oₜ + nₜ,  nₜ = φ nₜ₋₁ + εₜ,  εₜ ~ N(0, β²)",
    imitates: "a sensor whose error wanders: satellite positioning, temperature, vibration",
    shows: "correlated residuals; distance from nominal states once the error has wandered off",
});

/// On actions.
pub const ACT: Listed = on_action::<TemporalNoise>(Words {
    id: "act-temporal-noise",
    summary: "slowly wandering noise on actions",
    equation: "a′ₜ = aₜ + nₜ,  nₜ = φ nₜ₋₁ + εₜ,  εₜ ~ N(0, β²)",
    imitates: "an actuator under a load that varies slowly: gusts, hydraulic pressure",
    shows: "correlated residuals of a dynamics model",
});

recipe! {
    /// The recipe, and the state nₜ of each channel.
    pub struct TemporalNoise {
        #[serde(default = "slow", deserialize_with = "correlation")]
        correlation: f64,
        #[serde(skip)]
        state: Vec<f64>,
    }
}

fn slow() -> f64 {
    0.9
}

/// Reads a correlation from step to step.
pub(super) fn correlation<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let found = f64::deserialize(d)?;
    let rule =
        || D::Error::custom(format!("expected a correlation between -1 and 1, both excluded, found {found}"));
    (found.abs() < 1.0).then_some(found).ok_or_else(rule)
}

impl Operator for TemporalNoise {
    const NAME: &'static str = "temporal-noise";
    const DOMAIN: Domain = Domain::NonNegative;
    const REACH: &'static [Reach] = &[Reach::signal(0.05, 10.0)];
    const MAGNITUDE: &'static str =
        "β, standard deviation of the innovations ε, in the unit of the channel; φ is `correlation`";

    fn fit(&mut self, width: usize) {
        self.state = vec![0.0; width];
    }

    fn begin(&mut self) {
        self.state.fill(0.0);
    }

    fn disturb(&mut self, At { channel, .. }: At, value: f64, rng: &mut Rng) -> f64 {
        let state = &mut self.state[channel];
        *state = self.correlation * *state + self.magnitude * rng.normal();
        value + *state
    }
}
