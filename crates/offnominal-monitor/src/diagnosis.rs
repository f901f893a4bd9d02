//! What looks wrong, with the names of channels and the numbers of steps.

use crate::about::ChannelName;
use offnominal_detectors::diagnosis::{Deviation, Diagnosis as Found, Family};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// A channel that deviates by less is not worth mentioning, unless it is the first.
const WORTH_MENTIONING: f64 = 2.0;

/// What is thought to be wrong.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosis<'a> {
    found: &'a Found,
    onset: u64,
    names: &'a [ChannelName],
}

impl<'a> Diagnosis<'a> {
    pub(crate) fn new(found: &'a Found, last: u64, names: &'a [ChannelName]) -> Diagnosis<'a> {
        Diagnosis { found, onset: last.saturating_sub(found.steps_ago as u64), names }
    }

    /// The kind of fault that it looks like most.
    pub fn family(&self) -> Family {
        self.found.family
    }

    /// Probability of each family, as far as simulated faults tell.
    pub fn probabilities(&self) -> [(Family, f64); 3] {
        let p = self.found.probabilities;
        std::array::from_fn(|i| (Family::ALL[i], p[i]))
    }

    /// The step of the episode, counted from 0, at which it seems to have begun.
    pub fn onset(&self) -> u64 {
        self.onset
    }

    /// Names of the channels and how far they are off, most deviant first: those that are off by two nominal standard
    /// deviations or more, and the first in any case.
    pub fn channels(&self) -> impl Iterator<Item = (&'a str, Deviation)> + use<'a> {
        let names = self.names;
        let all = self.found.channels.iter().enumerate();
        let worth = all.take_while(|(i, d)| *i == 0 || d.size >= WORTH_MENTIONING);
        worth.map(move |(_, d)| (names[d.channel].name.as_str(), *d))
    }
}

/// Written by hand, as its `Serialize` is.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Diagnosis<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Diagnosis".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let probability = serde_json::json!({ "type": "number", "minimum": 0, "maximum": 1 });
        let families = ["observation", "action", "dynamics"];
        schemars::json_schema!({
            "description": "What looks wrong, where an alarm is raised.",
            "type": "object",
            "required": ["family", "probabilities", "onset", "channels"],
            "properties": {
                "family": { "enum": families },
                "probabilities": {
                    "type": "object",
                    "required": families,
                    "properties": { "observation": probability, "action": probability, "dynamics": probability }
                },
                "onset": { "description": "The step of the episode at which it seems to have begun.", "type": "integer", "minimum": 0 },
                "channels": {
                    "description": "The channels that are off, most deviant first, in nominal standard deviations.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "size", "bias"],
                        "properties": { "name": { "type": "string" }, "size": { "type": "number" }, "bias": { "type": "number" } }
                    }
                }
            }
        })
    }
}

impl Serialize for Diagnosis<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("family", &self.family())?;
        map.serialize_entry("probabilities", &Probabilities(self))?;
        map.serialize_entry("onset", &self.onset)?;
        map.serialize_entry("channels", &Channels(self))?;
        map.end()
    }
}

struct Probabilities<'a>(&'a Diagnosis<'a>);

impl Serialize for Probabilities<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        for (family, p) in self.0.probabilities() {
            map.serialize_entry(family.id(), &p)?;
        }
        map.end()
    }
}

struct Channels<'a>(&'a Diagnosis<'a>);

impl Serialize for Channels<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Channel<'n> {
            name: &'n str,
            size: f64,
            bias: f64,
        }
        let mut list = to.serialize_seq(None)?;
        for (name, Deviation { size, bias, .. }) in self.0.channels() {
            list.serialize_element(&Channel { name, size, bias })?;
        }
        list.end()
    }
}
