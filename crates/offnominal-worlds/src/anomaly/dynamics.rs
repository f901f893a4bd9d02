//! A physical quantity of the environment that changes.
//!
//! p ← magnitude while the anomaly is active, and when it ends p ← what it was before: its nominal value, or what was drawn for
//! the episode. `dyn-mass` is this entry with the
//! parameter `mass`; the environment's card lists its parameters with their meaning, nominal value and range.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2: dynamics anomalies. Deviates: one mechanism for all
//! environments, and the parameter returns to what it was when the anomaly ends.

use super::Listed;
use super::kind::{AnomalyKind, Class, Domain};
use offnominal_core::anomaly::AnomalyError;
use offnominal_core::prelude::*;
use serde::Deserialize;

/// On the environment.
pub const DYN: Listed = Listed {
    entry: entry!(
        Dynamics as dyn Anomaly,
        "dyn",
        "a parameter of the environment changes; written dyn-<parameter>"
    ),
    kind: AnomalyKind {
        class: Class::Dynamics,
        domain: Domain::Real,
        neutral: 0.0,
        reach: &[],
        equation: "p ← β while active, p ← what it was when it ends",
        magnitude: "β, value of the parameter, in its unit; neutral is its nominal value",
        imitates: "a body or a surrounding that changes: load, wear, wind, ice, moving obstacles",
        shows: "answers that no longer fit state and action: the residual of a dynamics model",
    },
};

/// The recipe, and the value to return to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dynamics {
    parameter: String,
    magnitude: f64,
    /// The nominal value, and then that of the episode.
    #[serde(skip)]
    before: f64,
}

impl Dynamics {
    fn set(&self, env: &mut dyn Env, value: f64) {
        env.set_parameter(&self.parameter, value).expect("the value was checked against the specification");
    }
}

impl Anomaly for Dynamics {
    fn fit(&mut self, spec: &EnvSpec) -> Result<(), AnomalyError> {
        spec.check(&self.parameter, self.magnitude)?;
        self.before = spec.parameter(&self.parameter)?.nominal;
        Ok(())
    }

    fn begin(&mut self, env: &mut dyn Env, _: &mut Rng) {
        self.before = env.parameter(&self.parameter).unwrap_or(self.before);
        self.set(env, self.magnitude);
    }

    fn end(&mut self, env: &mut dyn Env) {
        self.set(env, self.before);
    }
}
