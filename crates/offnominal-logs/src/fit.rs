//! A monitor out of recordings alone.

use crate::chosen::Truth;
use crate::episodes::Recorded;
use crate::exchangeability;
use crate::mapping::{Channel, Episodes, Mapping};
use crate::recordings::{self, Recordings, ReferencedSignals, held};
use crate::source::in_folders;
use crate::until::Until;
use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::detector::Signals;
use offnominal_core::reference::references;
use offnominal_files::store::address;
use offnominal_files::write::atomically;
use offnominal_monitor::{ChannelName, Identity, SAME_STEP};
use offnominal_stats::Rule;
use offnominal_work::context::Context;
use offnominal_work::fitted::{FittedMonitor, nominal};
use offnominal_work::fitting::Fitting;
use offnominal_work::monitor_file::{Fit, Made, System};
use offnominal_work::rule_choice::asked;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// What to fit; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// Nominal logs, instead of --env and --policy
    #[arg(value_name = "LOGS", required = true)]
    pub logs: Vec<PathBuf>,
    /// Mapping of columns to channels [default: the proposal of `inspect`]
    #[arg(long, value_name = "MAP.toml")]
    pub map: Option<PathBuf>,
    /// Labels of the logs: CSV of start, end, label, log; or NAB's JSON
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Use rows before the first `label`, a date, or a time since the start
    #[arg(long, value_name = "label|DATE|TIME")]
    pub until: Option<Until>,
    /// One threshold per task; small tasks share one
    #[arg(long)]
    pub by_task: bool,
    /// What is fitted, and how its threshold is set.
    #[command(flatten)]
    pub fitting: Fitting,
    /// Output file
    #[arg(long = "out", value_name = "FILE.monitor")]
    pub file: PathBuf,
}

/// A monitor's file, and what is to be known of the recordings behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedOnLogs {
    /// The file.
    #[serde(flatten)]
    pub fitted: FittedMonitor,
    /// Recordings that were read.
    pub recordings: usize,
    /// Rows of the logs that hold columns of the mapping.
    pub rows: usize,
    /// Channels: observations and commands.
    pub channels: usize,
    /// Steps of all recordings.
    pub steps: usize,
    /// Share of the numbers of observations that are missing.
    pub share_missing: f64,
    /// What was left out of the logs, taken as missing or for granted.
    pub remarks: Vec<String>,
    /// The mean time between false alarms in seconds that the threshold promises, where recordings are windows of an
    /// endless stream: no fewer than one in alpha windows.
    pub mean_time_between_false_alarms_secs: Option<f64>,
    /// The proposed mapping, if none was given.
    pub proposed: Option<String>,
}

/// Reads the logs, fits on the earlier recordings, sets the threshold on the later ones and writes the file.
///
/// # Errors
/// If a log cannot be read, there are too few nominal recordings, the detector cannot be fitted without commands, or the
/// file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<FittedOnLogs> {
    // What can be wrong without the logs is said before they are read.
    request.fitting.rule(Some(1.0))?;
    let detector = &request.fitting.detector;
    offnominal_detectors::catalogue().build(&detector.id, &detector.params)?;
    let logs = in_folders(&request.logs)?;
    let mapping = recordings::mapping(request.map.as_deref(), &logs, context)?;
    let mut all = recordings::read(&logs, &mapping, Truth::Needed, context)?;
    if let Some(path) = &request.events {
        label(&mut all, path)?;
    }
    let (found, file) = of(&all, &mapping, request, context)?;
    atomically(&request.file, &file)?;
    Ok(found)
}

#[cfg(not(target_family = "wasm"))]
fn label(all: &mut Recordings, events: &Path) -> Result<()> {
    crate::events::Events::open(events)?.label(all)
}

#[cfg(target_family = "wasm")]
fn label(_: &mut Recordings, _: &Path) -> Result<()> {
    bail!("events: expected labels in a column, as a page in a browser reads logs alone")
}

/// Fits on the recordings of logs; the contents of the file come with what is to be known.
///
/// # Errors
/// As [`run`], but for logs and files.
pub fn of(
    read: &Recordings,
    mapping: &Mapping,
    request: &Request,
    context: &Context,
) -> Result<(FittedOnLogs, Vec<u8>)> {
    let (mut found, file) = on(&read.all, mapping, request, context)?;
    found.remarks.extend_from_slice(&read.remarks);
    Ok((FittedOnLogs { rows: read.rows, ..found }, file))
}

/// Fits on recordings that were read with a mapping; the contents of the file come with what is to be known.
///
/// # Errors
/// As [`run`], but for logs and files.
pub fn on(
    all: &[Recorded],
    mapping: &Mapping,
    request: &Request,
    context: &Context,
) -> Result<(FittedOnLogs, Vec<u8>)> {
    let before = request.until.map(|until| until.before(all, mapping)).transpose()?;
    let of_logs = steps(all, mapping);
    let all = before.as_deref().unwrap_or(all);
    let each = all.iter().map(|recording| (recording.name(), recording));
    let why_not = recordings::not_for_fit(all);
    let (nominal, left_out) = nominal(each, |recording| why_not(recording)).map_err(|e| no_part(e, all))?;
    let dt_secs = nominal[0].dt_secs(mapping);
    let other = other_rate(&nominal, mapping, dt_secs);
    if let Some(other) = other.as_ref().filter(|_| request.fitting.threshold.is_timed()) {
        bail!("expected recordings of one rate, as false alarms are promised per time, found {other}");
    }
    let rule = request.fitting.rule(system(mapping, dt_secs).known_dt_secs())?;
    let is_cut = matches!(rule, Rule::RunLength(_)) && nominal.len() == 1 && nominal[0].secs.len() > 2;
    let [n_train, n_calibration] = request.split(if is_cut { 2 } else { nominal.len() }, rule)?;
    let given = mapping;
    let mapping = &with_references(given, &held_rows(&nominal[..n_train], given));
    let seen = nominal
        .iter()
        .map(|recording| ReferencedSignals::of(recording, mapping))
        .collect::<Result<Vec<_>>>()?;
    let held: Vec<ReferencedSignals> = seen.iter().map(ReferencedSignals::held).collect();
    let [signals, recorded] =
        [&held, &seen].map(|all| parts(all.iter().map(ReferencedSignals::signals).collect(), is_cut));
    let (train, late) = (&signals[..n_train], &signals[signals.len() - n_calibration..]);
    let names: Vec<String> = mapping.observation.iter().map(|channel| channel.name().into()).collect();
    let mut warnings = exchangeability::warnings(train, late, &names, Seed(context.seed));
    warnings.extend(constant(train, &names)?);
    // What is missing is data for the threshold, as it is for the monitor at work; detectors learn from whole rows.
    let calibration = &recorded[recorded.len() - n_calibration..];
    let groups = request.by_task.then(|| tasks(&nominal, calibration.len(), mapping)).transpose()?;
    let system = system(mapping, dt_secs);
    let system = System { assumes_dt: system.assumes_dt || other.is_some(), ..system };
    let made = request.fit(&system, [train, calibration], rule, groups.as_deref(), context)?;
    let file = made.bytes();
    warnings.extend(made.warnings);
    let window = match mapping.episodes {
        Episodes::Window { secs } => rule.promise().map(|promise| secs / promise.alpha),
        _ => None,
    };
    let found = FittedOnLogs {
        fitted: FittedMonitor {
            file: request.file.clone(),
            bytes: file.len(),
            monitor: made.about,
            left_out,
            warnings,
        },
        recordings: all.len(),
        rows: 0,
        channels: mapping.channels().count(),
        steps: steps(all, mapping),
        share_missing: share_missing(all),
        remarks: cut(request.until, of_logs, steps(all, mapping))
            .into_iter()
            .chain(referenced(given, mapping))
            .collect(),
        mean_time_between_false_alarms_secs: window,
        proposed: request.map.is_none().then(|| mapping.to_toml()),
    };
    Ok((found, file))
}

/// Number of steps of all recordings.
fn steps(all: &[Recorded], mapping: &Mapping) -> usize {
    all.iter().map(|recording| recording.len(mapping.observation.len())).sum()
}

/// The error that no recording is nominal; where labels say so, the part before them may be.
fn no_part(error: Error, all: &[Recorded]) -> Error {
    let is_late =
        |one: &Recorded| one.labels.as_ref().is_some_and(|labels| labels.iter().position(|&l| l) > Some(0));
    if all.iter().any(is_late) {
        anyhow!("{error}; until `label` (`--until label`) each log is used up to its first labelled row")
    } else {
        error
    }
}

/// What is to be said of the part of the logs that is used.
fn cut(until: Option<Until>, of_logs: usize, used: usize) -> Option<String> {
    let until = until?;
    Some(format!("{used} of {of_logs} steps lie before {until}; the others are not used"))
}

/// A recording whose steps are not as long as those of the first, so that hours cannot be counted in steps.
fn other_rate(nominal: &[&Recorded], mapping: &Mapping, dt_secs: f64) -> Option<String> {
    let differs = |one: &&&Recorded| (one.dt_secs(mapping) / dt_secs - 1.0).abs() > SAME_STEP;
    let other = nominal.iter().find(differs)?;
    Some(format!(
        "steps of {dt_secs:.4} s in {}, and of {:.4} s in {}; `clock.rate_hz` of the mapping brings recordings to one rate",
        nominal[0].name(),
        other.dt_secs(mapping),
        other.name()
    ))
}

/// Share of the numbers of observations that are missing.
fn share_missing(all: &[Recorded]) -> f64 {
    let numbers = |recording: &Recorded| recording.observations.len() as f64;
    let missing: f64 = all.iter().map(|recording| recording.share_missing() * numbers(recording)).sum();
    missing / all.iter().map(numbers).sum::<f64>().max(1.0)
}

/// Recordings, of which at least one is to learn from and one sets the threshold: a single stream is cut in the middle.
fn parts(all: Vec<Signals<'_>>, is_cut: bool) -> Vec<Signals<'_>> {
    match &all[..] {
        [one] if is_cut => vec![one.until(one.len() / 2), one.from(one.len() / 2)],
        _ => all,
    }
}

/// Observations and commands of recordings without gaps, in their own units.
fn held_rows(all: &[&Recorded], mapping: &Mapping) -> [Vec<Vec<f64>>; 2] {
    let rows = |of: fn(&Recorded) -> &[f64], width| all.iter().map(|one| held(of(one), width)).collect();
    [
        rows(|one| &one.observations, mapping.observation.len()),
        rows(|one| &one.commands, mapping.command.len()),
    ]
}

/// The mapping with a reference wherever what is learned from, the rows of observations and of commands, needs one, and nobody
/// has said which.
pub fn with_references<R: AsRef<[f64]>>(given: &Mapping, [observed, commanded]: &[Vec<R>; 2]) -> Mapping {
    let mut mapping = given.clone();
    for (channels, rows) in [(&mut mapping.observation, observed), (&mut mapping.command, commanded)] {
        let needed = references(rows, channels.len());
        for (channel, reference) in channels.iter_mut().zip(needed).filter(|(_, reference)| *reference != 0.0)
        {
            channel.reference.get_or_insert(reference);
        }
    }
    mapping
}

/// What is to be said of the references that the mapping has got.
fn referenced(given: &Mapping, mapping: &Mapping) -> Vec<String> {
    let new =
        given.channels().zip(mapping.channels()).filter(|(before, now)| before.reference != now.reference);
    let says = |(_, now): (&Channel, &Channel)| {
        let (name, reference) = (now.name(), now.reference.unwrap_or(0.0));
        format!(
            "{name}: {reference} is its reference, which is subtracted, as single precision would round what happens in it"
        )
    };
    new.map(says).collect()
}

/// The tasks of the last recordings, so many as set the threshold.
fn tasks(nominal: &[&Recorded], n: usize, mapping: &Mapping) -> Result<Vec<String>> {
    ensure!(mapping.task.is_some(), "by_task: expected a mapping that names the column `task`, found none");
    let task = |recording: &&Recorded| {
        let task = recording.task.clone();
        task.with_context(|| format!("by_task: expected a task, found none in {}", recording.name()))
    };
    nominal[nominal.len().saturating_sub(n)..].iter().map(task).collect()
}

/// What is to be said of channels that never change where the detector learns.
fn constant(train: &[Signals<'_>], names: &[String]) -> Result<Option<String>> {
    let values = |channel| {
        train.iter().flat_map(move |s| s.observations().iter().skip(channel).step_by(s.obs_width()))
    };
    let is_constant = |channel: &usize| {
        let mut values = values(*channel);
        let first = values.next();
        values.all(|x| Some(x) == first)
    };
    let constant: Vec<&str> = (0..names.len()).filter(is_constant).map(|i| names[i].as_str()).collect();
    let told = constant.join(", ");
    ensure!(
        constant.len() < names.len(),
        "expected channels that change in the recordings to learn from, found only constant ones: {told}"
    );
    let text = format!(
        "{told}: never changes in the recordings to learn from; most detectors do not see such channels"
    );
    Ok((!constant.is_empty()).then_some(text))
}

impl Request {
    /// How many of so many recordings, the first ones, are to learn from, and how many, the last ones, set the threshold.
    fn split(&self, n: usize, rule: Rule) -> Result<[usize; 2]> {
        let [train, calibration] =
            [self.fitting.train, self.fitting.calibration].map(|given| given.map(|n| n as usize));
        let half = (n / 2).min(n.saturating_sub(rule.min_episodes()));
        let calibration = calibration.unwrap_or_else(|| n - train.unwrap_or(half).min(n));
        let train = train.unwrap_or_else(|| n.saturating_sub(calibration));
        let (needed, learned) = (
            rule.min_episodes().max(self.fitting.calibration.unwrap_or(0) as usize),
            self.fitting.train.unwrap_or(1),
        );
        let least = needed + learned as usize;
        let instead = match rule {
            Rule::Rate(_) => "the rule run-length takes a single one",
            _ => "and the rule `max` needs one for calibration, but promises nothing",
        };
        ensure!(
            train > 0 && train + calibration <= n && calibration >= rule.min_episodes(),
            "rule {}{}: expected at least {least} nominal recordings ({needed} for calibration, {learned} to learn from), found \
             {n}: {} more are needed. A larger alpha needs fewer; long recordings can be cut into windows (`[episodes]` of the \
             mapping); {instead}",
            rule.id(),
            asked(rule),
            least.saturating_sub(n)
        );
        Ok([train, calibration])
    }

    fn fit(
        &self,
        system: &System<'_>,
        [train, calibration]: [&[Signals<'_>]; 2],
        rule: Rule,
        groups: Option<&[String]>,
        context: &Context,
    ) -> Result<Made> {
        let Fitting { detector, diagnosis: diagnoses, lost_after, .. } = &self.fitting;
        let (alarm, diagnoses, lost_after) = (self.fitting.alarm(), *diagnoses, *lost_after);
        let fit = Fit { system, detector, rule, groups, alarm, diagnoses, faults: None, lost_after, context };
        fit.make(train, calibration)
    }
}

/// What a monitor says that it watches, if it is fitted on recordings with this mapping.
pub fn system(mapping: &Mapping, dt_secs: f64) -> System<'static> {
    let text = mapping.to_toml();
    let names = |channels: &[Channel]| channels.iter().map(channel_name).collect();
    System {
        environment: Identity { id: "logs".into(), digest: address(text.as_bytes()) },
        policy_name: Identity { id: "unknown".into(), digest: String::new() },
        policy: None,
        observation: names(&mapping.observation),
        action: names(&mapping.command),
        dt_secs,
        // Rows without a time are taken to follow one another once a second.
        assumes_dt: mapping.clock.rate_hz.is_none() && mapping.clock.column.is_none() && dt_secs == 1.0,
        mapping: Some(text),
    }
}

fn channel_name(channel: &Channel) -> ChannelName {
    let reference = channel.reference.unwrap_or(0.0);
    ChannelName { name: channel.name().into(), unit: channel.unit.clone().unwrap_or_default(), reference }
}

impl Display for FittedOnLogs {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(mapping) = &self.proposed {
            writeln!(out, "No mapping was given. This one was proposed; `inspect` says why:\n\n{mapping}")?;
        }
        let FittedOnLogs { recordings, rows, steps, channels, .. } = self;
        let missing = 100.0 * self.share_missing;
        let used = match self.fitted.left_out.len() {
            0 => format!("all {recordings}"),
            n => format!("{} of {recordings}", recordings - n),
        };
        writeln!(
            out,
            "Using {used} recordings ({channels} channels, {}): {rows} rows, {steps} steps, {missing:.2} % of the observations \
             missing",
            recordings::rate(self.fitted.monitor.dt_secs)
        )?;
        recordings::write(&self.remarks, out)?;
        if let Some(secs) = self.mean_time_between_false_alarms_secs {
            writeln!(out, "mean time between false alarms: at least {:.2} hours", secs / 3600.0)?;
        }
        write!(out, "{}", self.fitted)
    }
}
