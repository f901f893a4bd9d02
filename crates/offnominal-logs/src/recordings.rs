//! Recordings as detectors take them: all logs at one clock, less the references of channels, missing values held, nominal
//! ones apart.

use crate::chosen::Truth;
use crate::episodes::{self, Recorded, truth};
use crate::inspect::guess::{self, Proposal};
use crate::inspect::survey;
use crate::mapping::{Channel, Mapping};
use crate::source::{self, Source, Strict};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::detector::Signals;
use offnominal_core::reference::relative;
use offnominal_monitor::About;
use offnominal_report::number;
use offnominal_work::context::Context;
use offnominal_work::parallel;
use std::fmt;
use std::path::Path;

/// Reads the file of a mapping.
///
/// # Errors
/// If it cannot be read, or something in it is wrong.
pub fn load(path: &Path) -> Result<Mapping> {
    let text = offnominal_files::read::text(path)?;
    Mapping::parse(&text).with_context(|| format!("mapping {}", path.display()))
}

/// The mapping of a file; without one, the proposal for the logs.
///
/// # Errors
/// If the file is wrong, or the log cannot be read.
pub fn mapping(given: Option<&Path>, logs: &[impl Source], context: &Context) -> Result<Mapping> {
    match given {
        Some(path) => load(path),
        None => Ok(proposal(logs, context)?.mapping),
    }
}

/// The mapping proposed for the logs, which can be read with it.
///
/// # Errors
/// If there is no log, one cannot be read, or there is no channel.
pub fn proposal(logs: &[impl Source], context: &Context) -> Result<Proposal> {
    let first = logs.first().context("expected at least one log, found none")?;
    let task = context.task(logs.len(), "logs");
    let reports = parallel::map(context.jobs, logs.len(), &task, |i| {
        survey::survey(&Strict(&logs[i], context.strict))
    })?;
    let proposal = guess::propose(&reports);
    let place = || format!("the mapping proposed for {}", first.name().display());
    proposal.check().with_context(place)?;
    Ok(proposal)
}

/// The mapping by which a monitor reads logs, with its references: that of a file, whose channels must be the monitor's, else
/// that of its fit.
///
/// # Errors
/// If the file is wrong or names other channels, or there is neither.
pub fn mapping_of(about: &About, given: Option<&Path>) -> Result<Mapping> {
    let Some(path) = given else { return mapping_in(about, None) };
    let text = offnominal_files::read::text(path)?;
    mapping_in(about, Some(&text)).with_context(|| format!("mapping {}", path.display()))
}

/// The same by the text of a mapping; it has the references of the monitor.
///
/// # Errors
/// As [`mapping_of`].
pub fn mapping_in(about: &About, given: Option<&str>) -> Result<Mapping> {
    let text = given.or(about.mapping.as_deref()).with_context(|| {
        format!("expected a mapping, as the monitor was fitted on {}, found none", about.environment.id)
    })?;
    Mapping::parse(text)?.of_monitor(&about.references())
}

/// All recordings, and what is to be known of the logs that they are of.
#[derive(Debug, Clone, Default)]
pub struct Recordings {
    /// In the order in which they begin; those that begin together stay in the order of the logs.
    pub all: Vec<Recorded>,
    /// Rows of the logs that hold columns of the mapping.
    pub rows: usize,
    /// What was left out, taken as missing or for granted, each after the name of its log.
    pub remarks: Vec<String>,
    /// Whether they were called good or bad as a whole, so that nothing says when something began.
    pub are_whole: bool,
}

/// The recordings of all logs.
///
/// # Errors
/// If a log cannot be read or does not have the columns of the mapping, or no recording has a step.
pub fn read(logs: &[impl Source], mapping: &Mapping, truth: Truth, context: &Context) -> Result<Recordings> {
    if let Some(path) = source::twice(logs) {
        bail!("{}: expected each log once, found it twice: its recordings would count twice", path.display());
    }
    let task = context.task(logs.len(), "logs");
    let one = |i: usize| episodes::read(&Strict(&logs[i], context.strict), mapping, truth);
    let read = parallel::map(context.jobs, logs.len(), &task, one)?;
    let mut found = Recordings::default();
    let mut remarks: Vec<(String, Vec<&Path>)> = Vec::new();
    let mut labels = Vec::new();
    for (log, (recordings, reading)) in logs.iter().zip(read) {
        found.all.extend(recordings);
        found.rows += reading.rows;
        labels.extend(reading.labels);
        for remark in reading.remarks {
            match remarks.iter_mut().find(|(known, _)| *known == remark) {
                Some((_, of)) => of.push(log.name()),
                None => remarks.push((remark, vec![log.name()])),
            }
        }
    }
    found.remarks = remarks.into_iter().map(|(remark, of)| format!("{}: {remark}", named(&of))).collect();
    found.remarks.extend(truth::remarks(&labels));
    ensure!(
        !found.all.is_empty(),
        "expected recordings with at least one step, found none in {} logs{}",
        logs.len(),
        found.remarks.first().map_or(String::new(), |remark| format!("; {remark}"))
    );
    found.all.sort_by_key(|recording| recording.start_nanos);
    Ok(found)
}

/// Logs of which the same is to be said.
fn named(logs: &[&Path]) -> String {
    let first = logs[0].display();
    if logs.len() == 1 { first.to_string() } else { format!("{first} and {} logs more", logs.len() - 1) }
}

/// A rate in words, by the seconds of a step.
pub(crate) fn rate(dt_secs: f64) -> String {
    match dt_secs {
        dt if dt <= 1.0 => format!("{} Hz", number::plain(1.0 / dt)),
        dt => format!("1 per {} s", number::plain(dt)),
    }
}

/// Says what is to be said of logs: all of it, unless it is too much for a terminal.
pub fn write(remarks: &[String], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    const MOST: usize = 20;
    remarks.iter().take(MOST).try_for_each(|remark| writeln!(out, "  {remark}"))?;
    match remarks.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} remarks more, which `--json` has"),
    }
}

/// Observations and commands as detectors see them: less the references of their channels.
pub struct ReferencedSignals {
    observations: Vec<f32>,
    commands: Vec<f32>,
    widths: [usize; 2],
}

impl ReferencedSignals {
    /// Those of a recording as they were recorded: NaN where a value is missing.
    ///
    /// # Errors
    /// If single precision cannot hold one.
    pub fn of(recording: &Recorded, mapping: &Mapping) -> Result<ReferencedSignals> {
        let less =
            |values: &[f64], channels: &[Channel]| less(values, channels).with_context(|| recording.name());
        Ok(ReferencedSignals {
            observations: less(&recording.observations, &mapping.observation)?,
            commands: less(&recording.commands, &mapping.command)?,
            widths: [mapping.observation.len(), mapping.command.len()],
        })
    }

    /// The same without gaps, to learn from: a value that is missing is the last one that was recorded. Each channel has a
    /// value in the first step.
    #[must_use]
    pub fn held(&self) -> ReferencedSignals {
        let [observations, commands] =
            [(&self.observations, self.widths[0]), (&self.commands, self.widths[1])]
                .map(|(values, width)| held(values, width));
        ReferencedSignals { observations, commands, widths: self.widths }
    }

    /// What a detector sees.
    pub fn signals(&self) -> Signals<'_> {
        Signals::new(&self.observations, &self.commands, self.widths[0], self.widths[1])
    }
}

fn less(values: &[f64], channels: &[Channel]) -> Result<Vec<f32>> {
    let of = |(i, &x): (usize, &f64)| {
        let channel = &channels[i % channels.len()];
        let reference = channel.reference.unwrap_or(0.0);
        relative(x, reference).with_context(|| {
            let (step, name) = (i / channels.len(), channel.name());
            format!(
                "step {step}, {name}: expected a number within {:e} of {reference}, found {x:e}",
                f32::MAX
            )
        })
    };
    values.iter().enumerate().map(of).collect()
}

/// Numbers without gaps: one that is missing is the last one of its channel.
pub fn held<X: Copy + Into<f64>>(values: &[X], width: usize) -> Vec<X> {
    let mut held = values.to_vec();
    for i in width..held.len() {
        if held[i].into().is_nan() {
            held[i] = held[i - width];
        }
    }
    held
}

/// Why nothing is fitted on a recording of these, if something says so: it is not nominal, it is shorter than the others, or it
/// lacks an outcome that others have.
pub fn not_for_fit(all: &[Recorded]) -> impl Fn(&Recorded) -> Option<&'static str> + use<> {
    let has_outcomes = all.iter().any(|recording| recording.success.is_some());
    move |recording| {
        let is_unknown = has_outcomes && recording.success.is_none();
        let part = recording.is_part.then_some("the log ends before this window does");
        let unknown = is_unknown.then_some("its outcome is missing, and others have one");
        recording.not_nominal().or(part).or(unknown)
    }
}

impl Recorded {
    /// Observations and commands in their own units, as they were recorded: NaN where a value is missing.
    pub fn signals(&self, mapping: &Mapping) -> Signals<'_, f64> {
        let widths = [mapping.observation.len(), mapping.command.len()];
        Signals::new(&self.observations, &self.commands, widths[0], widths[1])
    }

    /// What it is called in reports.
    pub fn name(&self) -> String {
        self.name_of(&self.log)
    }

    /// The same with another name of its log.
    pub fn name_of(&self, log: &Path) -> String {
        let log = log.display();
        if self.is_alone { log.to_string() } else { format!("{log}, part {}", self.number) }
    }

    /// Why it is not nominal, if something says so.
    pub fn not_nominal(&self) -> Option<&'static str> {
        match self {
            Recorded { labels: Some(labels), .. } if labels.contains(&true) => Some("its label says so"),
            Recorded { success: Some(false), .. } => Some("it did not succeed"),
            _ => None,
        }
    }

    /// Seconds per step: of the clock, else on average.
    pub fn dt_secs(&self, mapping: &Mapping) -> f64 {
        let measured =
            || (self.secs.last().unwrap_or(&0.0) - self.secs[0]) / (self.secs.len() - 1).max(1) as f64;
        let dt = mapping.clock.rate_hz.map_or_else(measured, |rate| 1.0 / rate);
        if dt > 0.0 { dt } else { 1.0 }
    }

    /// Share of the numbers of observations that are missing.
    pub fn share_missing(&self) -> f64 {
        let missing = self.observations.iter().filter(|x| x.is_nan()).count();
        missing as f64 / self.observations.len().max(1) as f64
    }
}
