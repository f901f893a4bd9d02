//! A bias that grows with time.
//!
//! x′ₜ = xₜ + β k, where k = 1, 2, … counts the anomalous steps since the anomaly became active; β is the magnitude.
//! After a pause of an intermittent anomaly the count begins again.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2, which leaves open where the count begins. Deviates: it
//! begins at the onset, because an instrument that drifts does so from when it breaks; β may be negative.

use super::Listed;
use super::kind::{Class, Domain, Kind, Reach};
use super::signal::{Operator, on_action, on_observation};
use offnominal_core::prelude::*;
use serde::Deserialize;

/// On observations.
pub const OBS: Listed = Listed {
    entry: Entry {
        id: "obs-drift",
        summary: "sensors with a bias that grows from the onset",
        build: on_observation::<Drift>,
        exempt: &[],
    },
    kind: Kind {
        class: Class::Observation,
        equation: "o′ₜ = oₜ + β k,  k = 1, 2, … steps since the onset",
        imitates: "a sensor that ages or warms: gyroscope bias, dead reckoning, fouling",
        shows: "an error too small to be seen in one step: residuals added up over time, distance from nominal states",
        ..KIND
    },
};

/// On commands.
pub const ACT: Listed = Listed {
    entry: Entry {
        id: "act-drift",
        summary: "actuators with a bias that grows from the onset",
        build: on_action::<Drift>,
        exempt: &[],
    },
    kind: Kind {
        class: Class::Action,
        equation: "a′ₜ = aₜ + β k,  k = 1, 2, … steps since the onset",
        imitates: "an actuator that slips out of trim little by little",
        shows: "an error too small to be seen in one step: residuals added up over time",
        ..KIND
    },
};

const KIND: Kind = Kind {
    class: Class::Observation,
    domain: Drift::DOMAIN,
    neutral: 0.0,
    reach: &[Reach::signal(0.005, 5.0), Reach::signal(-0.005, -5.0)],
    equation: "",
    magnitude: "β, growth of the bias per step from the onset, in the unit of the channel",
    imitates: "",
    shows: "",
};

/// The recipe, and the steps since the anomaly became active.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    magnitude: f64,
    #[serde(default)]
    channels: Channels,
    #[serde(skip)]
    steps: f64,
}

impl Operator for Drift {
    const NAME: &'static str = "drift";
    const DOMAIN: Domain = Domain::Real;

    fn magnitude(&self) -> f64 {
        self.magnitude
    }

    fn channels(&self) -> &Channels {
        &self.channels
    }

    fn begin(&mut self) {
        self.steps = 0.0;
    }

    fn advance(&mut self, _: &mut Rng) {
        self.steps += 1.0;
    }

    fn disturb(&mut self, _: usize, value: f64, _: &mut Rng) -> f64 {
        value + self.magnitude * self.steps
    }
}
