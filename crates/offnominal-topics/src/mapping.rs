//! Which column of a log is what: the file that a person edits.
//!
//! A column is named `topic:column`, or by its name alone in a log that is one table.

use crate::dates::wrong_format;
use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const FORMAT: u32 = 1;

/// Which column is what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Version of this format.
    pub version: u32,
    /// The clock of the steps.
    pub clock: Clock,
    /// Where one episode ends and the next begins.
    #[serde(default)]
    pub episodes: Episodes,
    /// What a monitor observes.
    pub observation: Vec<Channel>,
    /// What the controller commanded; may be empty.
    #[serde(default)]
    pub command: Vec<Channel>,
    /// The column that tells how an episode ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The column that is not zero where something was wrong, or several, each for a kind of event; for judging only, no
    /// detector sees them.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub label: Labels,
    /// The column that names the task of an episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Numbers that say in a channel that nothing was read, such as -999.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<f64>,
    /// Columns that are passed over; a column that is not named here or above is an error, so that nothing is lost
    /// unnoticed, unless this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Vec<String>>,
}

/// Columns of labels: one, written as a text, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "OneOrSeveral", into = "OneOrSeveral")]
pub struct Labels(pub Vec<String>);

impl Labels {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// [`Labels`] as they are written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a column or a list of columns")]
enum OneOrSeveral {
    One(String),
    Several(Vec<String>),
}

impl From<OneOrSeveral> for Labels {
    fn from(written: OneOrSeveral) -> Labels {
        match written {
            OneOrSeveral::One(column) => Labels(vec![column]),
            OneOrSeveral::Several(columns) => Labels(columns),
        }
    }
}

impl From<Labels> for OneOrSeveral {
    fn from(Labels(mut columns): Labels) -> OneOrSeveral {
        match columns.len() {
            1 => OneOrSeveral::One(columns.remove(0)),
            _ => OneOrSeveral::Several(columns),
        }
    }
}

/// The clock of the steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Steps per second; without it, each row of a table is a step. Rows without a time follow one another at this rate, or
    /// once a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_hz: Option<f64>,
    /// The column with the time of a row, in tables; messages have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Its unit.
    #[serde(default)]
    pub unit: TimeUnit,
    /// How a date is written, as `strftime` has it; without it, any form in which day and month cannot be confused. A date
    /// without a zone is taken as UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What becomes of rows whose time is not after that of the row before.
    #[serde(default, skip_serializing_if = "Order::is_refused")]
    pub order: Order,
    /// Age in seconds beyond which the last value of a channel counts as missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age_secs: Option<f64>,
    /// How long, in seconds, a stream that is watched waits for rows that come late: they are sorted in by their time. What
    /// comes later is dropped and counted. A log is sorted in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_secs: Option<f64>,
}

/// What becomes of rows of a table whose time is before that of a row before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// They are an error.
    #[default]
    Refuse,
    /// All rows are brought into the order of their times.
    Sort,
    /// They are left out, and so are rows that repeat the time before them.
    Drop,
}

impl Order {
    fn is_refused(&self) -> bool {
        *self == Order::Refuse
    }
}

/// The unit of a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TimeUnit {
    /// Days.
    #[serde(rename = "d")]
    Days,
    /// Hours.
    #[serde(rename = "h")]
    Hours,
    /// Minutes.
    #[serde(rename = "min")]
    Minutes,
    /// Seconds.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Thousandths.
    #[serde(rename = "ms")]
    Millis,
    /// Millionths.
    #[serde(rename = "us")]
    Micros,
    /// Billionths.
    #[serde(rename = "ns")]
    Nanos,
    /// Date and time, or time of day, as text, such as `2020-03-09 10:14:33`.
    #[serde(rename = "date")]
    Date,
}

impl TimeUnit {
    /// As a mapping has it.
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Days => "d",
            TimeUnit::Hours => "h",
            TimeUnit::Minutes => "min",
            TimeUnit::Seconds => "s",
            TimeUnit::Millis => "ms",
            TimeUnit::Micros => "us",
            TimeUnit::Nanos => "ns",
            TimeUnit::Date => "date",
        }
    }

    /// Nanoseconds in one; `None` for dates.
    pub fn nanos(self) -> Option<f64> {
        match self {
            TimeUnit::Days => Some(8.64e13),
            TimeUnit::Hours => Some(3.6e12),
            TimeUnit::Minutes => Some(6e10),
            TimeUnit::Seconds => Some(1e9),
            TimeUnit::Millis => Some(1e6),
            TimeUnit::Micros => Some(1e3),
            TimeUnit::Nanos => Some(1.0),
            TimeUnit::Date => None,
        }
    }
}

/// Where one episode ends and the next begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Episodes {
    /// Each log is one.
    #[default]
    File,
    /// Where the value of a column changes.
    Column {
        /// The column.
        column: String,
    },
    /// Where nothing was recorded for so long, or the time of a table falls by more than that.
    Gap {
        /// Seconds.
        secs: f64,
    },
    /// Where a column becomes something else than zero: that row is the first of an episode.
    Event {
        /// The column.
        column: String,
    },
    /// After a row in which one of some columns is not zero: it is the last of an episode.
    Ends {
        /// The columns.
        columns: Vec<String>,
    },
    /// After so long; for streams without an end.
    Window {
        /// Seconds.
        secs: f64,
    },
}

/// A column that is a channel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// The column.
    pub column: String,
    /// Its name in reports; the column's, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What is subtracted from its numbers before they become those of single precision; without it, the fit decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
}

/// The column that tells how an episode ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The column.
    pub column: String,
    /// Its last value in an episode that succeeded.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub success: toml::Value,
}

impl Mapping {
    /// Reads a mapping from its text.
    ///
    /// # Errors
    /// If something in it is wrong.
    pub fn parse(text: &str) -> Result<Mapping> {
        let mapping: Mapping = toml::from_str(text)?;
        mapping.check()?;
        Ok(mapping)
    }

    /// The mapping as the text of a file.
    ///
    /// # Panics
    /// Never: each field has a counterpart in TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a mapping is valid TOML")
    }

    /// Checks what a reader of the file cannot see from types alone.
    ///
    /// # Errors
    /// If something is wrong.
    pub fn check(&self) -> Result<()> {
        ensure!(self.version == FORMAT, "version: expected {FORMAT}, found {}", self.version);
        ensure!(!self.observation.is_empty(), "observation: expected at least one channel, found none");
        let positive = |name: &str, value: Option<f64>| {
            let is = value.is_none_or(|x| x.is_finite() && x > 0.0);
            ensure!(is, "{name}: expected a number above zero, found {}", value.unwrap_or_default());
            Ok(())
        };
        positive("clock.rate_hz", self.clock.rate_hz)?;
        positive("clock.max_age_secs", self.clock.max_age_secs)?;
        positive("clock.wait_secs", self.clock.wait_secs)?;
        match self.episodes {
            Episodes::Gap { secs } | Episodes::Window { secs } => positive("episodes.secs", Some(secs))?,
            Episodes::Ends { ref columns } => {
                ensure!(!columns.is_empty(), "episodes.columns: expected at least one, found none");
            }
            Episodes::File | Episodes::Column { .. } | Episodes::Event { .. } => {}
        }
        if let Some(why) = self.clock.format.as_deref().and_then(wrong_format) {
            bail!("clock.format: {why}");
        }
        for channel in self.channels() {
            let reference = channel.reference.unwrap_or(0.0);
            ensure!(
                reference.is_finite(),
                "{}: reference: expected a number, found {reference}",
                channel.name()
            );
        }
        let mut names: Vec<&str> = self.channels().map(Channel::name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        ensure!(
            twice.is_none(),
            "expected different channels, found {:?} twice",
            twice.map_or("", |pair| pair[0])
        );
        Ok(())
    }

    /// The mapping with the references of a monitor, by the names and references of its observations and commands, which must
    /// be those of the mapping in their order.
    ///
    /// # Errors
    /// If there are other channels, or one has another reference.
    pub fn of_monitor(mut self, [observation, command]: &[Vec<(&str, f64)>; 2]) -> Result<Mapping> {
        let parts =
            [("observation", observation, &mut self.observation), ("command", command, &mut self.command)];
        for (what, expected, found) in parts {
            ensure!(
                expected.iter().map(|(name, _)| *name).eq(found.iter().map(Channel::name)),
                "{what}: expected the channels of the monitor, {}; found {}",
                expected.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
                found.iter().map(Channel::name).collect::<Vec<_>>().join(", ")
            );
            for (channel, (name, reference)) in found.iter_mut().zip(expected) {
                let given = *channel.reference.get_or_insert(*reference);
                ensure!(
                    given == *reference,
                    "{name}: expected the reference of the monitor, {reference}; found {given}"
                );
            }
        }
        Ok(self)
    }

    /// The columns that are read: observations, commands, and then what tells of the episode.
    pub fn columns(&self) -> Vec<&str> {
        let outcome = self.outcome.as_ref().map(|outcome| outcome.column.as_str());
        let told = [self.task.as_deref(), outcome].into_iter().flatten();
        let mut columns: Vec<&str> = self.channels().map(|channel| channel.column.as_str()).collect();
        for name in self.label.0.iter().map(String::as_str).chain(told).chain(self.episodes.columns()) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        columns
    }

    /// Whether a column only judges a recording, so that a log may lack it.
    pub fn judges(&self, column: &str) -> bool {
        let is_label = self.label.0.iter().any(|label| label == column);
        let judges = is_label || self.outcome.as_ref().is_some_and(|outcome| outcome.column == column);
        judges && self.channels().all(|channel| channel.column != column)
    }

    /// All channels, observations first.
    pub fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.observation.iter().chain(&self.command)
    }
}

impl Episodes {
    /// The columns that tell where one ends.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Episodes::Column { column } | Episodes::Event { column } => std::slice::from_ref(column),
            Episodes::Ends { columns } => columns,
            Episodes::File | Episodes::Gap { .. } | Episodes::Window { .. } => &[],
        };
        all.iter().map(String::as_str)
    }
}

impl Channel {
    /// Its name in reports.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_and_what_is_wrong_is_named() {
        let good = "version = 1\nobservation = [{ column = \"x\", unit = \"m\" }]\n[clock]\nrate_hz = 50.0\n";
        let read = Mapping::parse(good).unwrap();
        assert_eq!((read.observation[0].name(), read.episodes), ("x", Episodes::File));
        let refused = |from: &str, to: &str| Mapping::parse(&good.replace(from, to)).unwrap_err().to_string();
        assert_eq!(refused("version = 1", "version = 2"), "version: expected 1, found 2");
        assert_eq!(refused("50.0", "-1.0"), "clock.rate_hz: expected a number above zero, found -1");
        assert!(refused("rate_hz", "rate").contains("unknown field `rate`"));
        let twice = refused("observation = [", "observation = [{ column = \"x\" }, ");
        assert_eq!(twice, "expected different channels, found \"x\" twice");
    }
}
