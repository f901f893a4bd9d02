//! Episodes out of recordings: cut, brought to one clock, and named.
//!
//! At each tick of the clock a channel has the last value that was seen, never a later one, and the age of that value.
//! A value that is older than the mapping allows is missing, and so is one of which nothing has been seen yet.

mod log;
mod order;
pub(crate) mod truth;

use crate::chosen::Truth;
use crate::gather::{self, Gathered};
use crate::mapping::{Channel, Mapping};
use crate::source::Source;
use crate::suspects::Suspects;
use anyhow::{Context, Result, ensure};
use log::Log;
use std::path::{Path, PathBuf};

/// One episode of T steps: T + 1 observations and T commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The log.
    pub log: PathBuf,
    /// Its number within the log, from 1: in names, tables and JSON alike.
    pub number: usize,
    /// Whether it is the only one of its log.
    pub is_alone: bool,
    /// Whether the log ends before the window does of which it is the recording.
    pub is_part: bool,
    /// The time of its first observation in the clock of the log, in nanoseconds.
    pub start_nanos: i64,
    /// The time of each observation in seconds since the first, `[T + 1]`.
    pub secs: Vec<f64>,
    /// Observations, `[T + 1, n_observations]`; NaN where a value is missing.
    pub observations: Vec<f64>,
    /// Commands, `[T, n_commands]`; NaN where a value is missing.
    pub commands: Vec<f64>,
    /// Age of each value of the observations in seconds, `[T + 1, n_observations]`.
    pub ages_secs: Vec<f32>,
    /// Where something was wrong, `[T]`, if the mapping names a label.
    pub labels: Option<Vec<bool>>,
    /// The same by kind of event, where several are told apart.
    pub kinds: Vec<Labelled>,
    /// Whether it succeeded, if the mapping names an outcome.
    pub success: Option<bool>,
    /// Its task, if the mapping names one.
    pub task: Option<String>,
}

/// Where events of a kind were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The column of the label, or the word of a file of events.
    pub kind: String,
    /// The steps, `[T]`.
    pub steps: Vec<bool>,
}

impl Recorded {
    /// Takes labels: of one kind or several, of which any makes a step one where something was wrong.
    pub(crate) fn label(&mut self, kinds: Vec<Labelled>) {
        let n = kinds.first().map_or(0, |one| one.steps.len());
        let any = |step: usize| kinds.iter().any(|kind| kind.steps[step]);
        self.labels = (!kinds.is_empty()).then(|| (0..n).map(any).collect());
        self.kinds = if kinds.len() > 1 { kinds } else { vec![] };
    }

    /// Number of steps.
    pub fn len(&self, n_observations: usize) -> usize {
        (self.observations.len() / n_observations.max(1)).saturating_sub(1)
    }
}

/// What is to be known of a log that was read, beside its episodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Rows that hold columns of the mapping.
    pub rows: usize,
    /// What was left out, taken as missing or for granted.
    pub remarks: Vec<String>,
    /// What its labels say.
    pub(crate) labels: Vec<truth::Said>,
}

/// The episodes of a log.
///
/// # Errors
/// If the log cannot be read, lacks a column of the mapping, or its clock jumps back.
pub fn read(
    log: &(impl Source + ?Sized),
    mapping: &Mapping,
    truth: Truth,
) -> Result<(Vec<Recorded>, Reading)> {
    let gathered = gather::gather(log, mapping, truth)?;
    let path = log.name();
    let (found, left_out) =
        cut(&gathered, mapping, path).with_context(|| format!("log {}", path.display()))?;
    let n_empty = left_out.parts;
    let mut remarks = gathered.remarks.clone();
    remarks.extend(order::remark(&gathered, mapping));
    remarks.extend(suspicious(&gathered, mapping));
    remarks.extend(unlabelled(&gathered, mapping));
    if n_empty > 0 && !found.is_empty() {
        remarks.push(format!(
            "{n_empty} parts of it were left out: none has a step in which each channel has been seen"
        ));
    }
    remarks.extend(left_out.begun_late(mapping));
    remarks.extend(left_out.held());
    if found.is_empty() {
        remarks.push(format!(
            "no recording: {} rows make no step in which each channel has been seen",
            gathered.n_rows
        ));
    }
    let labels = truth::said(&gathered, mapping);
    Ok((found, Reading { rows: gathered.n_rows, remarks, labels }))
}

/// Of several labels, those that the log lacks while it has others: nothing of their kinds is known of it.
fn unlabelled(gathered: &Gathered, mapping: &Mapping) -> Option<String> {
    let columns = mapping.columns();
    let is_there = |label: &String| {
        let place = columns.iter().position(|column| column == label);
        place.is_some_and(|place| gathered.places[place].is_some())
    };
    let (there, lacking): (Vec<&String>, Vec<&String>) =
        mapping.label.0.iter().partition(|label| is_there(label));
    let names: Vec<&str> = lacking.iter().map(|name| name.as_str()).collect();
    (!there.is_empty() && !names.is_empty())
        .then(|| format!("no column {}: its rows are labelled by the other labels alone", names.join(", ")))
}

/// What is in no recording.
#[derive(Default)]
pub(crate) struct LeftOut {
    /// Parts without a step.
    parts: usize,
    /// Steps before each channel has been seen, with those of recordings.
    late: usize,
    of: usize,
    /// The most of them in one recording, and the number of the channel that comes last there.
    latest: (usize, usize),
    /// Whether a label says of one of them that something is wrong.
    has_label: bool,
    /// Steps of recordings, and those in which all values are held for far longer than rows are apart.
    steps: usize,
    held: usize,
}

impl LeftOut {
    /// Says that values are held in more than a hundredth of the steps: what is in a gap was not watched.
    fn held(&self) -> Option<String> {
        (100 * self.held > self.steps).then(|| {
            format!(
                "{} of {} steps lie in gaps, where all values are held for more than ten times as long as rows are usually \
                 apart: nothing was watched there, and the time counts. `max_age_secs` of the mapping's clock makes such values \
                 missing; `by = \"gap\"` of its episodes ends the recording there",
                self.held, self.steps
            )
        })
    }

    /// Says that recordings begin late, if more than a twentieth is lost, or a label.
    fn begun_late(&self, mapping: &Mapping) -> Option<String> {
        let last = mapping.channels().nth(self.latest.1)?;
        (20 * self.late > self.of || self.has_label).then(|| {
            format!(
                "{} of {} steps lie before the first value of {}, and are left out{}",
                self.late,
                self.of,
                last.column,
                if self.has_label { ", with labels that say that something is wrong" } else { "" }
            )
        })
    }
}

/// The episodes of what was gathered, and what is in none.
pub(crate) fn cut(gathered: &Gathered, mapping: &Mapping, path: &Path) -> Result<(Vec<Recorded>, LeftOut)> {
    has_values(gathered, mapping)?;
    let (mut found, mut left_out) = (Vec::new(), LeftOut::default());
    for part in order::parts(gathered, mapping)? {
        let log = Log::new(gathered, mapping, part)?;
        for window in log.windows()? {
            let episode = log.episode(path, found.len() + 1, window, &mut left_out)?;
            left_out.parts += usize::from(episode.is_none());
            found.extend(episode);
        }
    }
    if let [alone] = &mut found[..] {
        alone.is_alone = true;
    }
    Ok((found, left_out))
}

/// Numbers of channels that may mean that nothing was read.
fn suspicious(gathered: &Gathered, mapping: &Mapping) -> Vec<String> {
    let of = |(channel, place): (&Channel, &Option<(usize, usize)>)| {
        let (topic, number) = place.expect("all channels were found");
        let suspects = Suspects::of(&gathered.topics[topic].columns[number]);
        let lost = suspects.lost_digits(channel.reference).map(|(step, what)| {
            format!(
                "{}: single precision rounds its numbers to steps of about {step:.0e}, and little of what happens in it is \
                 left; {what}",
                channel.column
            )
        });
        let says = |(x, n): (f64, u64)| {
            format!(
                "{}: {x} occurs {n} times, far from all other numbers; if it means that nothing was read, \
                 `missing = [{x}]` in the mapping says so",
                channel.column
            )
        };
        suspects.suspicious().into_iter().map(says).chain(lost).collect::<Vec<_>>()
    };
    mapping.channels().zip(&gathered.places).flat_map(of).collect()
}

/// Insists on a value of each channel somewhere in the log: an episode begins when each has been seen.
fn has_values(gathered: &Gathered, mapping: &Mapping) -> Result<()> {
    for (channel, place) in mapping.channels().zip(&gathered.places) {
        let (topic, number) = place.expect("all channels were found");
        let column = &gathered.topics[topic].columns[number];
        ensure!(
            column.is_empty() || column.iter().any(|x| x.is_finite()),
            "column {:?}: expected values, as it is a channel of the mapping, found none in {} rows",
            channel.column,
            column.len()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
