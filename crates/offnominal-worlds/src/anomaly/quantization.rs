//! A sensor with too few digits.
//!
//! o′ₜ = β ⌊oₜ / β⌋; β is the magnitude. β = 0 is the limit of ever finer steps and leaves the signal as it is.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2.

use super::Listed;
use super::kind::{Class, Domain, Kind, Reach};
use super::signal::{Operator, on_observation};
use offnominal_core::prelude::*;
use serde::Deserialize;

/// On observations.
pub const OBS: Listed = Listed {
    entry: Entry {
        id: "obs-quantization",
        summary: "sensors with too coarse a resolution",
        build: on_observation::<Quantization>,
        exempt: &[],
    },
    kind: Kind {
        class: Class::Observation,
        domain: Quantization::DOMAIN,
        neutral: 0.0,
        reach: &[Reach::signal(0.05, 10.0)],
        equation: "o′ₜ = β ⌊oₜ / β⌋",
        magnitude: "β, width of a step, in the unit of the channel; 0 is no quantization",
        imitates: "a converter that lost bits, a coarse encoder, a saving radio link",
        shows: "too few different values, steps between plateaus: residuals that are never small",
    },
};

/// The recipe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantization {
    magnitude: f64,
    #[serde(default)]
    channels: Channels,
}

impl Operator for Quantization {
    const NAME: &'static str = "quantization";
    const DOMAIN: Domain = Domain::NonNegative;

    fn magnitude(&self) -> f64 {
        self.magnitude
    }

    fn channels(&self) -> &Channels {
        &self.channels
    }

    fn disturb(&mut self, _: usize, value: f64, _: &mut Rng) -> f64 {
        if self.magnitude == 0.0 { value } else { self.magnitude * (value / self.magnitude).floor() }
    }
}
