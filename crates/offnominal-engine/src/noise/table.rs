//! A table of noise as a file has it: sensors with their figures and sources, and which channels they measure.

use anyhow::{Context, Result, ensure};
use offnominal_core::noisy::{NominalNoise, Term};
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_core::suggest::did_you_mean;
use offnominal_core::with_defaults;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The noise of an environment, sensor by sensor.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseTable {
    /// Sensors and actuators by name.
    pub sensors: BTreeMap<String, Sensor>,
    /// How late commands arrive.
    pub jitter: Option<Jitter>,
    /// What measures which channels of the observation; channels that stand nowhere are exact.
    pub observation: Vec<Assigned>,
    /// What drives which channels of the action.
    pub action: Vec<Assigned>,
}

with_defaults! {
    /// The figures of a sensor or an actuator, in its own unit.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Sensor {
        /// Where the figures come from.
        pub source: String = String::new(),
        /// The unit of the figures.
        pub unit: String = "1".into(),
        /// Standard deviation of a reading.
        pub white: f64 = 0.0,
        /// White noise as a density, per √Hz: σ is this times the root of the rate.
        pub density: f64 = 0.0,
        /// Standard deviation as a share of the reading.
        pub proportional: f64 = 0.0,
        /// Standard deviation of the bias at the start.
        pub turn_on: f64 = 0.0,
        /// Drift of the bias, per √s.
        pub walk: f64 = 0.0,
        /// Seconds in which the drift forgets; 0 for a random walk.
        pub tau_secs: f64 = 0.0,
        /// Step of the digital reading.
        pub quantum: f64 = 0.0,
        /// Whether a reading at a bound of its channel says that there is nothing to measure.
        pub bounds_are_empty: bool = false,
    }
}

impl Sensor {
    /// The figures that are spreads, with their names.
    pub fn figures(&self) -> [(&'static str, f64); 7] {
        [
            ("white", self.white),
            ("density", self.density),
            ("proportional", self.proportional),
            ("turn_on", self.turn_on),
            ("walk", self.walk),
            ("tau_secs", self.tau_secs),
            ("quantum", self.quantum),
        ]
    }

    fn check(&self) -> Result<()> {
        for (name, x) in self.figures() {
            ensure!(x.is_finite() && x >= 0.0, "{name}: expected a finite number from 0 upwards, found {x}");
        }
        Ok(())
    }
}

/// How late commands arrive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// Scale of the delay, |N(0, 1)| times this.
    pub secs: f64,
    /// Where the figure comes from.
    pub source: String,
}

with_defaults! {
    /// Channels and what measures or drives them.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Assigned {
        /// Their names; `*` at the end stands for any rest.
        pub channels: Vec<String> = vec![],
        /// The sensor.
        pub sensor: String = String::new(),
        /// How much the channel changes per unit of the sensor.
        pub scale: f64 = 1.0,
        /// How many times worse than the sensor's figures.
        pub times: f64 = 1.0,
        /// Whether the channel is the rate of what the sensor measures, computed from two readings one step apart.
        pub by_difference: bool = false,
    }
}

impl NoiseTable {
    /// Reads a table; names are checked by [`NoiseTable::resolve`].
    ///
    /// # Errors
    /// If it is no such table, with the line.
    pub fn parse(text: &str) -> Result<NoiseTable> {
        let table: NoiseTable = toml::from_str(text)?;
        let sourced = table.sensors.iter().map(|(name, s)| (name.as_str(), &s.source));
        let sourced = sourced.chain(table.jitter.iter().map(|j| ("jitter", &j.source)));
        for (name, source) in sourced {
            ensure!(!source.trim().is_empty(), "{name}: expected a source of its figures, found none");
        }
        for (name, sensor) in &table.sensors {
            sensor.check().with_context(|| format!("sensor {name:?}"))?;
        }
        Ok(table)
    }

    /// The same with more sensors, none of which it has itself.
    ///
    /// # Errors
    /// If it has one of that name.
    pub fn with_sensors(mut self, more: &NoiseTable) -> Result<NoiseTable> {
        for (name, sensor) in &more.sensors {
            let taken = self.sensors.insert(name.clone(), sensor.clone()).is_some();
            ensure!(!taken, "sensor {name:?}: expected a name of its own, found that of a built-in one");
        }
        Ok(self)
    }

    /// The noise of each number of an environment.
    ///
    /// # Errors
    /// If a sensor or a channel does not exist, or a channel has two sensors.
    pub fn resolve(&self, spec: &EnvSpec) -> Result<NominalNoise> {
        let side = |name, of, channels| self.side(of, channels, spec.dt_secs).context(name);
        let noise = NominalNoise {
            observation: side("observation", &self.observation, &spec.observation)?,
            action: side("action", &self.action, &spec.action)?,
            jitter_secs: self.jitter.as_ref().map_or(0.0, |j| j.secs),
        };
        noise.check(spec)?;
        Ok(noise)
    }

    fn side(&self, assigned: &[Assigned], channels: &[Channel], dt_secs: f64) -> Result<Vec<Term>> {
        let mut of: Vec<Option<Term>> = vec![None; channels.len()];
        for entry in assigned {
            let term = entry.term(self.sensor(&entry.sensor)?, dt_secs)?;
            for pattern in &entry.channels {
                for i in matching(pattern, channels)? {
                    ensure!(of[i].is_none(), "{}: expected one sensor, found two", channels[i].name);
                    of[i] = Some(term);
                }
            }
        }
        let each = channels.iter().zip(of);
        Ok(each.flat_map(|(c, term)| std::iter::repeat_n(term.unwrap_or_default(), c.width())).collect())
    }

    fn sensor(&self, name: &str) -> Result<&Sensor> {
        let known = || self.sensors.keys().map(String::as_str);
        self.sensors.get(name).with_context(|| {
            format!(
                "no sensor is called {name:?}{}; there are: {}",
                did_you_mean(name, known()),
                known().collect::<Vec<_>>().join(", ")
            )
        })
    }
}

/// The places of the channels that a name or the start of one stands for.
fn matching(pattern: &str, channels: &[Channel]) -> Result<Vec<usize>> {
    let fits = |name: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    let found: Vec<usize> = (0..channels.len()).filter(|&i| fits(&channels[i].name)).collect();
    let known = || channels.iter().map(|c| c.name.as_str());
    ensure!(
        !found.is_empty(),
        "no channel is called {pattern:?}{}; there are: {}",
        did_you_mean(pattern, known()),
        known().collect::<Vec<_>>().join(", ")
    );
    Ok(found)
}

impl Assigned {
    /// The sensor's figures in the channel's unit, at the environment's rate.
    ///
    /// # Errors
    /// If a factor is none.
    pub fn term(&self, sensor: &Sensor, dt_secs: f64) -> Result<Term> {
        for (name, factor) in [("scale", self.scale), ("times", self.times)] {
            let sound = factor.is_finite() && factor > 0.0;
            ensure!(sound, "{}: {name}: expected a finite number above 0, found {factor}", self.sensor);
        }
        let factor = self.scale * self.times;
        let white = factor * sensor.white.hypot(sensor.density / dt_secs.sqrt());
        let quantum = factor * sensor.quantum;
        let proportional = self.times * sensor.proportional;
        if self.by_difference {
            // Two readings, each rounded: the variances of both add up.
            let white = (2.0 * white * white + quantum * quantum / 6.0).sqrt() / dt_secs;
            return Ok(Term { white, proportional, ..Term::default() });
        }
        Ok(Term {
            white,
            proportional,
            turn_on: factor * sensor.turn_on,
            walk: factor * sensor.walk,
            tau_secs: sensor.tau_secs,
            quantum,
            bounds_are_empty: sensor.bounds_are_empty,
        })
    }
}
