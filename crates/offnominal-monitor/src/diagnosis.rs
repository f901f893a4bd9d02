//! What looks wrong, with the names of channels and the numbers of steps.

use crate::about::{About, ChannelName};
use offnominal_detectors::diagnosis::{
    Deviation, Diagnosis as Found, Direction, Family, Hypothesis, Suspect,
};
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
    hypotheses: &'a [Hypothesis],
}

/// A named fault that may be the one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate<'a> {
    /// Which of [`About::hypotheses`] it is.
    #[serde(skip)]
    pub hypothesis: usize,
    /// Name of the anomaly, such as `dyn-mass`.
    pub anomaly: &'a str,
    /// To which side of its neutral magnitude.
    pub direction: Direction,
    /// The magnitude at which there is no fault.
    pub neutral: f64,
    /// The magnitude that it would have.
    pub magnitude: f64,
    /// How probable it is, if all families were equally likely before, and within each all hypotheses that were taught.
    pub probability: f64,
}

impl<'a> Diagnosis<'a> {
    pub(crate) fn new(found: &'a Found, last: u64, about: &'a About) -> Diagnosis<'a> {
        let onset = last.saturating_sub(found.steps_ago as u64);
        Diagnosis { found, onset, names: &about.observation, hypotheses: &about.hypotheses }
    }

    /// Whether it can name faults.
    pub fn names_faults(&self) -> bool {
        !self.hypotheses.is_empty()
    }

    /// The named faults that what was seen is compatible with: those of the most probable family first, and within each the most
    /// probable. The true one is among them in nine of
    /// ten diagnoses or more, if it was taught; if there are none, it is another fault.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate<'a>> + use<'a> {
        let hypotheses = self.hypotheses;
        self.found.suspects.iter().filter(|s| s.is_compatible).map(|s| {
            let Suspect { hypothesis, magnitude, probability, .. } = *s;
            let Hypothesis { anomaly, direction, neutral, .. } = &hypotheses[hypothesis];
            let (direction, neutral) = (*direction, *neutral);
            Candidate { hypothesis, anomaly, direction, neutral, magnitude, probability }
        })
    }

    /// The kind of fault that it looks like most; unknown without commands that vary, unless faults were taught.
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
        let all = ["observation", "action", "dynamics", "unknown"];
        schemars::json_schema!({
            "description": "What looks wrong, where an alarm is raised.",
            "type": "object",
            "required": ["family", "probabilities", "onset", "channels"],
            "properties": {
                "family": { "description": "The kind of fault that it looks like most; unknown where nothing tells, as there are no commands and no faults were taught.", "enum": all },
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
                },
                "candidates": {
                    "description": "The named faults that it may be, those of the most probable family first, and within each the most probable; if it is empty, another one. Absent if the monitor was not taught any.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["anomaly", "direction", "neutral", "magnitude", "probability"],
                        "properties": {
                            "anomaly": { "description": "Name of the anomaly, such as dyn-mass.", "type": "string" },
                            "direction": { "description": "To which side of its neutral magnitude.", "enum": ["up", "down"] },
                            "neutral": { "description": "The magnitude at which there is no fault.", "type": "number" },
                            "magnitude": { "description": "The magnitude that it would have.", "type": "number" },
                            "probability": probability
                        }
                    }
                }
            }
        })
    }
}

impl Serialize for Diagnosis<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4 + usize::from(self.names_faults())))?;
        map.serialize_entry("family", &self.family())?;
        map.serialize_entry("probabilities", &Probabilities(self))?;
        map.serialize_entry("onset", &self.onset)?;
        map.serialize_entry("channels", &Channels(self))?;
        if self.names_faults() {
            map.serialize_entry("candidates", &Candidates(self))?;
        }
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

struct Candidates<'a>(&'a Diagnosis<'a>);

impl Serialize for Candidates<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.candidates())
    }
}
