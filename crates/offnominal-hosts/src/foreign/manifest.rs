//! What a user says of a hosted environment in a TOML file: names and units of its channels, seconds of a step, and its
//! parameters.
//!
//! ```toml
//! dt = 0.02
//! observation = { names = ["x", "v", "angle", "rate"], units = ["m", "m/s", "rad", "rad/s"] }
//!
//! [parameters]
//! length = { attribute = "unwrapped.length", low = 0.1, high = 2.0, unit = "m", meaning = "half the length of the pole" }
//! gravity = { attribute = "unwrapped.model.opt.gravity[2]", low = -20.0, high = -1.0, unit = "m/s²" }
//! mass = { attribute = "unwrapped.model.body_mass", relative = true, low = 0.2, high = 5.0 }
//! ```

use anyhow::{Context, Result, ensure};
use offnominal_core::spec::{Channel, EnvSpec, Parameter};
use offnominal_files::store::address;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// The longest word or sentence.
const LONGEST: usize = 200;

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Manifest {
    observation: Channels,
    action: Channels,
    parameters: BTreeMap<String, Quantity>,
    /// Seconds of a step.
    dt: Option<f64>,
    /// The digest of the file.
    #[serde(skip)]
    digest: String,
}

/// Names and units of the numbers of an observation or a command, in their order.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Channels {
    names: Option<Vec<String>>,
    units: Option<Vec<String>>,
}

/// A physical quantity of the environment.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Quantity {
    /// Where it is found, from the environment on: names with dots between, and indices in brackets.
    attribute: String,
    /// The smallest and the largest value that make sense.
    low: f64,
    high: f64,
    /// Whether the value is a factor of what the environment has; then it may be an array.
    #[serde(default)]
    relative: bool,
    #[serde(default, skip_serializing)]
    unit: Option<String>,
    #[serde(default, skip_serializing)]
    meaning: Option<String>,
}

impl Manifest {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, has an unknown key, or a parameter cannot be one.
    pub(super) fn open(path: &Path) -> Result<Manifest> {
        let text = offnominal_files::read::text(path)?;
        Manifest::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// As above.
    pub(super) fn parse(text: &str) -> Result<Manifest> {
        let manifest = Manifest { digest: address(text.as_bytes()), ..toml::from_str(text)? };
        for (name, quantity) in &manifest.parameters {
            quantity.check(name).with_context(|| format!("parameters.{name}"))?;
        }
        let is_time = manifest.dt.is_none_or(|dt| dt > 0.0 && dt.is_finite());
        ensure!(is_time, "dt: expected seconds above 0, found {}", manifest.dt.unwrap_or_default());
        let units = [&manifest.observation.units, &manifest.action.units];
        units.into_iter().flatten().flatten().try_for_each(|unit| plain("unit", unit))?;
        Ok(manifest)
    }

    /// Seconds of a step, where the file states them.
    pub(super) fn dt_secs(&self) -> Option<f64> {
        self.dt
    }

    /// The first digits of the digest of the file, if there is one.
    pub(super) fn digest(&self) -> Option<&str> {
        self.digest.get(..12)
    }

    /// The parameters, as the process of the environment is told.
    pub(super) fn parameters(&self) -> serde_json::Value {
        serde_json::json!(self.parameters)
    }

    /// The specification with names, units and meanings of the file.
    ///
    /// # Errors
    /// If there are more or fewer names or units than channels.
    pub(super) fn apply(&self, spec: EnvSpec) -> Result<EnvSpec> {
        let observation = self.observation.apply(spec.observation).context("observation")?;
        let action = self.action.apply(spec.action).context("action")?;
        let parameters = spec.parameters.into_iter().map(|parameter| self.described(parameter)).collect();
        Ok(EnvSpec { observation, action, parameters, ..spec })
    }

    fn described(&self, parameter: Parameter) -> Parameter {
        let Some(quantity) = self.parameters.get(&parameter.name) else { return parameter };
        let factor = if quantity.relative { "factor of" } else { "" };
        let meaning = format!("{factor} {}", quantity.meaning.as_ref().unwrap_or(&quantity.attribute));
        let unit = quantity.unit.clone().filter(|_| !quantity.relative).unwrap_or_else(|| "1".into());
        Parameter { meaning: meaning.trim().into(), unit, ..parameter }
    }
}

impl Channels {
    fn apply(&self, mut channels: Vec<Channel>) -> Result<Vec<Channel>> {
        named(&channels, self.names.as_deref()).context("names")?;
        let (expected, found) = (channels.len(), self.units.as_ref().map_or(channels.len(), Vec::len));
        ensure!(found == expected, "units: expected {expected}, one for each channel, found {found}");
        for (channel, name) in channels.iter_mut().zip(self.names.iter().flatten()) {
            channel.name.clone_from(name);
        }
        for (channel, unit) in channels.iter_mut().zip(self.units.iter().flatten()) {
            channel.unit.clone_from(unit);
        }
        Ok(channels)
    }
}

impl Quantity {
    fn check(&self, name: &str) -> Result<()> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        ensure!(
            !name.is_empty() && name.chars().all(is_word),
            "expected a name of letters, digits, - and _, found {name:?}"
        );
        let is_path = |c: char| is_word(c) || ".[]".contains(c);
        ensure!(
            !self.attribute.is_empty() && self.attribute.chars().all(is_path),
            "attribute: expected names with dots between and indices in brackets, found {:?}",
            self.attribute
        );
        ensure!(
            self.low.is_finite() && self.high.is_finite() && self.low < self.high,
            "expected low < high, found {} and {}",
            self.low,
            self.high
        );
        self.unit.iter().try_for_each(|unit| plain("unit", unit))?;
        self.meaning.iter().try_for_each(|meaning| plain("meaning", meaning))
    }
}

fn plain(what: &str, text: &str) -> Result<()> {
    let is_plain = !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_control);
    ensure!(is_plain, "{what}: expected 1 to {LONGEST} plain characters, found {text:?}");
    Ok(())
}

/// The longest name of a channel.
const LONGEST_NAME: usize = 100;

/// Insists on names that can tell the channels apart.
///
/// # Errors
/// If there are more or fewer names than channels, two are the same, or one is no plain text.
pub(super) fn named(channels: &[Channel], names: Option<&[String]>) -> Result<()> {
    let Some(names) = names else { return Ok(()) };
    let (expected, found) = (channels.len(), names.len());
    ensure!(found == expected, "expected {expected} names, found {found}: {}", names.join(", "));
    let mut seen = HashSet::new();
    for name in names {
        let is_plain =
            !name.trim().is_empty() && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
        ensure!(is_plain, "expected a name of 1 to {LONGEST_NAME} plain characters, found {name:?}");
        ensure!(seen.insert(name), "expected different names, found {name:?} twice");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
