//! A signal with a constant bias.
//!
//! x′ₜ = xₜ + β; β is the magnitude.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2. Deviates: β may be negative.

use super::Listed;
use super::kind::{Class, Domain, Kind, Reach};
use super::signal::{Operator, on_action, on_observation};
use offnominal_core::prelude::*;
use serde::Deserialize;

/// On observations.
pub const OBS: Listed = Listed {
    entry: Entry {
        id: "obs-offset",
        summary: "sensors with a constant bias",
        build: on_observation::<Offset>,
        exempt: &[],
    },
    kind: Kind {
        class: Class::Observation,
        equation: "o′ₜ = oₜ + β",
        imitates: "a sensor that was moved, or has lost its zero",
        shows: "readings out of their usual range, and channels that no longer agree with one another",
        ..KIND
    },
};

/// On commands.
pub const ACT: Listed = Listed {
    entry: Entry {
        id: "act-offset",
        summary: "actuators with a constant bias",
        build: on_action::<Offset>,
        exempt: &[],
    },
    kind: Kind {
        class: Class::Action,
        equation: "a′ₜ = aₜ + β",
        imitates: "an actuator out of trim: a bent linkage, a valve that leaks",
        shows: "answers with a constant error: the mean residual of a dynamics model over some steps",
        ..KIND
    },
};

const KIND: Kind = Kind {
    class: Class::Observation,
    domain: Offset::DOMAIN,
    neutral: 0.0,
    reach: &[Reach::signal(0.05, 10.0), Reach::signal(-0.05, -10.0)],
    equation: "",
    magnitude: "β, bias, in the unit of the channel",
    imitates: "",
    shows: "",
};

/// The recipe.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offset {
    magnitude: f64,
    #[serde(default)]
    channels: Channels,
}

impl Operator for Offset {
    const NAME: &'static str = "offset";
    const DOMAIN: Domain = Domain::Real;

    fn magnitude(&self) -> f64 {
        self.magnitude
    }

    fn channels(&self) -> &Channels {
        &self.channels
    }

    fn disturb(&mut self, _: usize, value: f64, _: &mut Rng) -> f64 {
        value + self.magnitude
    }
}
