//! Disturbances of a signal, whichever way it flows.

pub use super::Listed;
use super::kind::Unit;
pub use super::kind::{Class, Domain, Reach};
pub use offnominal_core::prelude::*;
pub use serde::Deserialize;

use offnominal_core::anomaly::AnomalyError;
use offnominal_core::catalogue::parse;
use offnominal_core::channel::width;
use serde::de::DeserializeOwned;

/// A disturbance of single values, the same for observations and actions.
pub trait Operator: OperatorRecipe {
    /// Name without the side.
    const NAME: &'static str;
    /// Which magnitudes make sense.
    const DOMAIN: Domain;
    /// The magnitude at which it does nothing.
    const NEUTRAL: f64 = 0.0;
    /// How far a search for a magnitude goes.
    const REACH: &'static [Reach];
    /// What the magnitude means.
    const MAGNITUDE: &'static str;
    /// Whether it changes values by degrees. What only repeats values can be done to a choice too.
    const BY_DEGREES: bool = true;

    /// Makes room for a signal of so many channels.
    fn fit(&mut self, _width: usize) {}

    /// Forgets what happened before: the disturbance begins anew.
    fn begin(&mut self) {}

    /// Called once before the values of a step.
    fn advance(&mut self, _rng: &mut Rng) {}

    /// The disturbed value of a chosen channel.
    fn disturb(&mut self, at: At, value: f64, rng: &mut Rng) -> f64;

    /// Notes the value of a channel in a step without disturbance.
    fn watch(&mut self, _channel: usize, _value: f64) {}
}

/// Where and when a value is disturbed.
#[derive(Clone, Copy)]
pub struct At {
    /// The number of the channel.
    pub channel: usize,
    /// Steps since the disturbance became active, from 1.
    pub step: f64,
}

/// The parameters of an [`Operator`], as they are deserialised.
pub trait OperatorRecipe: DeserializeOwned + Send + 'static {
    /// How strong it is.
    fn magnitude(&self) -> f64;

    /// Which channels it disturbs.
    fn channels(&self) -> &Channels;

    /// What a magnitude of one means in each channel of the signal, in the unit of the channel; one, if it is empty.
    fn units(&self) -> &[f64];
}

/// Declares the recipe of an operator: magnitude and channels, which all have, and what else it has.
macro_rules! recipe {
    ($(#[$doc:meta])* pub struct $name:ident { $($field:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            magnitude: f64,
            #[serde(default)]
            channels: Channels,
            #[serde(default)]
            units: Vec<f64>,
            $($field)*
        }

        impl OperatorRecipe for $name {
            fn magnitude(&self) -> f64 {
                self.magnitude
            }

            fn channels(&self) -> &Channels {
                &self.channels
            }

            fn units(&self) -> &[f64] {
                &self.units
            }
        }
    };
}
pub(super) use recipe;

/// What is said of an anomaly.
pub struct Words {
    /// The name in commands and recipes.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// What it does to a value.
    pub equation: &'static str,
    /// What happens to real systems that this imitates.
    pub imitates: &'static str,
    /// What a monitor must look at to notice it.
    pub shows: &'static str,
}

/// An operator on observations.
pub const fn on_observation<O: Operator>(words: Words) -> Listed {
    let kind = (Class::Observation, O::DOMAIN, O::NEUTRAL);
    Listed::new(kind, O::REACH, O::MAGNITUDE, |params| build::<O>(Class::Observation, params), words)
}

/// An operator on actions.
pub const fn on_action<O: Operator>(words: Words) -> Listed {
    let kind = (Class::Action, O::DOMAIN, O::NEUTRAL);
    Listed::new(kind, O::REACH, O::MAGNITUDE, |params| build::<O>(Class::Action, params), words)
}

fn build<O: Operator>(side: Class, params: &serde_json::Value) -> Result<Box<dyn Anomaly>, BuildError> {
    Ok(Box::new(Signal { side, operator: parse::<O>(params)?, chosen: Chosen::default(), steps: 0.0 }))
}

/// An operator applied to the chosen channels of one side.
struct Signal<O> {
    side: Class,
    operator: O,
    chosen: Chosen,
    /// Steps since the disturbance became active.
    steps: f64,
}

impl<O: Operator> Signal<O> {
    fn apply(&mut self, signal: &mut [f32], rng: &mut Rng) {
        self.steps += 1.0;
        self.operator.advance(rng);
        for channel in self.chosen.iter() {
            let unit = self.operator.units().get(channel).copied().unwrap_or(1.0);
            let value = f64::from(signal[channel]) / unit;
            let disturbed = self.operator.disturb(At { channel, step: self.steps }, value, rng);
            // A channel that never changes has no unit, and is left as it is.
            if unit > 0.0 {
                signal[channel] = (unit * disturbed) as f32;
            }
        }
    }

    fn note(&mut self, signal: &[f32]) {
        for channel in self.chosen.iter() {
            let unit = self.operator.units().get(channel).copied().unwrap_or(1.0);
            self.operator.watch(channel, f64::from(signal[channel]) / unit);
        }
    }
}

impl<O: Operator> Anomaly for Signal<O> {
    fn fit(&mut self, spec: &EnvSpec) -> Result<(), AnomalyError> {
        let prefix = if self.side == Class::Action { "act" } else { "obs" };
        let id = format!("{prefix}-{}", O::NAME);
        check_magnitude(&id, O::DOMAIN, self.operator.magnitude())?;
        let (side, signal) = match self.side {
            Class::Action => ("action", &spec.action),
            _ => ("observation", &spec.observation),
        };
        self.chosen = Chosen::of(self.operator.channels(), &spec.id, side, signal)?;
        if self.side == Class::Action && O::BY_DEGREES {
            refuse_choices(&id, spec, &self.chosen)?;
        }
        check_units::<O>(&id, self.operator.units(), width(signal))?;
        self.operator.fit(width(signal));
        Ok(())
    }

    fn begin(&mut self, _: &mut dyn Env, rng: &mut Rng) {
        self.steps = 0.0;
        self.chosen.draw(rng);
        self.operator.begin();
    }

    fn on_action(&mut self, action: &mut [f32], rng: &mut Rng) {
        if self.side == Class::Action {
            self.apply(action, rng);
        }
    }

    fn on_observation(&mut self, obs: &mut [f32], rng: &mut Rng) {
        if self.side == Class::Observation {
            self.apply(obs, rng);
        }
    }

    fn watch(&mut self, action: &[f32]) {
        if self.side == Class::Action {
            self.note(action);
        }
    }

    fn watch_observation(&mut self, obs: &[f32]) {
        if self.side == Class::Observation {
            self.note(obs);
        }
    }
}

/// Refuses to change a choice by degrees: between "left" and "right" there is nothing to add to.
fn refuse_choices(id: &str, spec: &EnvSpec, chosen: &Chosen) -> Result<(), AnomalyError> {
    match chosen.iter().map(|i| &spec.action[i]).find(|c| c.is_choice()) {
        None => Ok(()),
        Some(c) => Err(AnomalyError::Choice {
            id: id.into(),
            env: spec.id.clone(),
            channel: c.name.clone(),
            choices: c.choices,
        }),
    }
}

/// Refuses units of a magnitude that is in no unit of a channel, and units that are none.
fn check_units<O: Operator>(id: &str, units: &[f64], width: usize) -> Result<(), AnomalyError> {
    let refused = |expected: String| Err(AnomalyError::Units { id: id.into(), expected });
    if units.is_empty() {
        return Ok(());
    }
    if !O::REACH.iter().any(|reach| reach.unit == Unit::Signal) {
        return refused(format!("none, as its magnitude is {}", O::MAGNITUDE));
    }
    match units.len() == width && units.iter().all(|unit| *unit >= 0.0 && unit.is_finite()) {
        true => Ok(()),
        false => refused(format!("{width} finite numbers from 0 on, one for each channel, found {units:?}")),
    }
}

/// Refuses what is not a magnitude of the anomaly.
///
/// # Errors
/// [`AnomalyError::Magnitude`], with the rule and the value found.
pub fn check_magnitude(id: &str, domain: Domain, found: f64) -> Result<(), AnomalyError> {
    if domain.contains(found) {
        return Ok(());
    }
    Err(AnomalyError::Magnitude { id: id.into(), expected: domain.rule(), found })
}
