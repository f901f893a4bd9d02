//! A first mapping, guessed from names and numbers. Each guess says what it rests on.

use crate::inspect::column::{ColumnReport, Kind};
use crate::inspect::merged::{self, Merged};
use crate::inspect::steps::Steps;
use crate::inspect::survey::{LogReport, TopicReport};
use crate::mapping::{Channel, Clock, Episodes, FORMAT, Mapping, Outcome, TimeUnit};
use std::collections::{BTreeMap, HashMap};

/// More channels than this are not proposed: a person must choose.
pub const MOST_CHANNELS: usize = 64;

/// A mapping, with the reason of each part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The mapping.
    pub mapping: Mapping,
    /// Why each column is what it is, by its name.
    pub why: BTreeMap<String, String>,
    /// Why the clock and the episodes are what they are.
    pub clock_why: String,
    /// See `clock_why`.
    pub episodes_why: String,
}

/// What a column is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Time,
    Episode,
    Label,
    Outcome,
    Task,
    Command,
    Observation,
    Ignored,
}

/// Names of columns, in lower case, that are taken for something whatever they hold.
const NAMES: [(Role, &[&str]); 5] = [
    (
        Role::Time,
        &["time", "timestamp", "t", "stamp", "datetime", "date", "secs", "seconds", "time_s", "log_time"],
    ),
    (
        Role::Episode,
        &["episode", "episode_index", "episode_id", "run", "run_id", "trial", "trajectory", "rollout"],
    ),
    (Role::Label, &["anomaly", "label", "fault", "is_anomaly", "anomalous", "is_fault"]),
    (Role::Outcome, &["success", "is_success", "outcome", "next.success", "succeeded", "infos/success"]),
    (Role::Task, &["task", "task_index", "task_id", "task_name"]),
];

/// Names, or beginnings of names, of what a controller commands.
const COMMANDS: [&str; 9] =
    ["action", "actions", "act", "cmd", "command", "commands", "control", "u", "actuator"];

/// Columns that count rows, or say what a learner got, and are neither signal nor command.
const BOOKKEEPING: [&str; 14] = [
    "index",
    "frame_index",
    "step",
    "steps",
    "row",
    "id",
    "reward",
    "rewards",
    "next.reward",
    "next.done",
    "terminations",
    "truncations",
    "dones",
    "changepoint",
];

/// A column, and what it is taken for.
struct Taken<'a> {
    name: String,
    role: Role,
    why: String,
    column: &'a ColumnReport,
    topic: &'a TopicReport,
}

/// Proposes a mapping for logs that are alike.
///
/// # Panics
/// If there is none.
pub fn propose(logs: &[LogReport]) -> Proposal {
    let merged = merged::merged(logs);
    let mut taken = take(&merged, logs.len());
    time_by_steps(&mut taken);
    let chosen = [Role::Observation, Role::Command].map(|role| channels(&mut taken, role));
    let named = |role: Role| taken.iter().find(|t| t.role == role).map(|t| t.name.clone());
    let time = taken.iter().find(|t| t.role == Role::Time);
    let (clock, clock_why) = clock(&merged.log, time);
    let (episodes, episodes_why) = match named(Role::Episode) {
        Some(column) => (Episodes::Column { column: column.clone() }, format!("guess: the name of {column}")),
        None => (Episodes::File, "guess: no column names an episode, so each log is one".to_string()),
    };
    let [observation, command] = chosen;
    let is_ignored = |t: &&Taken<'_>| t.role == Role::Ignored;
    let mapping = Mapping {
        version: FORMAT,
        clock,
        episodes,
        observation,
        command,
        outcome: named(Role::Outcome).map(|column| Outcome { column, success: toml::Value::Integer(1) }),
        label: named(Role::Label),
        task: named(Role::Task),
        ignored: Some(taken.iter().filter(is_ignored).map(|t| t.name.clone()).collect()),
    };
    let why = taken.into_iter().map(|t| (t.name, t.why)).collect();
    Proposal { mapping, why, clock_why, episodes_why }
}

/// What each column is taken for.
fn take<'m>(merged: &'m Merged, n_logs: usize) -> Vec<Taken<'m>> {
    let twins = twins(&merged.log);
    let taken = |topic: &'m TopicReport, column| {
        let name = topic.full_name(column);
        let (role, why) = match (merged.lacking.get(&name), twins.get(name.as_str())) {
            (Some(n), _) => (Role::Ignored, format!("{n} of {n_logs} logs do not have it")),
            (None, Some(of)) => (Role::Ignored, format!("holds the same as {of}")),
            (None, None) => role(topic, column),
        };
        Taken { name, role, why, column, topic }
    };
    let columns = merged.log.topics.iter().flat_map(|topic| topic.columns.iter().map(move |c| (topic, c)));
    columns.map(|(topic, column)| taken(topic, column)).collect()
}

/// Where no name says so, the first column of a table is its time, if it rises by the same step in each row.
fn time_by_steps(taken: &mut [Taken<'_>]) {
    if taken.iter().any(|t| t.role == Role::Time) {
        return;
    }
    let is_time =
        |t: &&mut Taken<'_>| t.role == Role::Observation && t.topic.times.is_none() && rises_evenly(t.column);
    if let Some(found) = taken.iter_mut().find(is_time) {
        (found.role, found.why) = (Role::Time, "guess: it rises by the same step in each row".into());
    }
}

fn rises_evenly(column: &ColumnReport) -> bool {
    let is_even = |steps: &Steps| {
        steps.always_rise() && steps.median().is_some_and(|step| steps.longest() < 1.2 * step)
    };
    column.missing == 0.0 && column.steps.as_ref().is_some_and(is_even)
}

/// The columns of a role, as many as can be; the others are ignored.
fn channels(taken: &mut [Taken<'_>], role: Role) -> Vec<Channel> {
    let mut places: Vec<usize> = (0..taken.len()).filter(|&i| taken[i].role == role).collect();
    if places.len() > MOST_CHANNELS {
        // What is too much comes from the slowest topics: those tell of the software rather than of the machine.
        let rate = |i: usize| taken[i].topic.rate().unwrap_or(0.0);
        places.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
        for &i in &places[MOST_CHANNELS..] {
            taken[i].role = Role::Ignored;
            taken[i].why = format!("more than {MOST_CHANNELS} channels: choose those that matter");
        }
        places.truncate(MOST_CHANNELS);
    }
    let channel = |t: &Taken<'_>| Channel { column: t.name.clone(), name: None, unit: t.column.unit.clone() };
    places.into_iter().map(|i| channel(&taken[i])).collect()
}

/// Columns that hold the same as another one before them.
fn twins(log: &LogReport) -> HashMap<String, String> {
    let mut first: HashMap<(u64, u64), String> = HashMap::new();
    let mut twins = HashMap::new();
    for topic in &log.topics {
        for column in topic.columns.iter().filter(|c| matches!(c.kind, Kind::Number)) {
            let name = topic.full_name(column);
            match first.get(&(topic.rows, column.digest)) {
                Some(of) => drop(twins.insert(name, of.clone())),
                None => drop(first.insert((topic.rows, column.digest), name)),
            }
        }
    }
    twins
}

fn role(topic: &TopicReport, column: &ColumnReport) -> (Role, String) {
    let plain = column.name.to_lowercase();
    let leaf = plain.rsplit('.').next().unwrap_or_default();
    let is_table = topic.times.is_none();
    for (role, names) in NAMES {
        let needs_table = matches!(role, Role::Time | Role::Episode);
        let is_named = names.contains(&plain.as_str()) || needs_table && names.contains(&leaf);
        if is_named && (is_table || !needs_table) && column.kind != Kind::Empty {
            return (role, format!("guess: the name {:?}", column.name));
        }
    }
    match column.kind {
        Kind::Empty => return (Role::Ignored, "no values".into()),
        Kind::Constant => return (Role::Ignored, format!("always {}", column.low.unwrap_or_default())),
        Kind::Text | Kind::Mixed => return (Role::Ignored, "texts".into()),
        Kind::Flag | Kind::Whole | Kind::Number => {}
    }
    if BOOKKEEPING.contains(&plain.as_str()) || is_time(&plain) {
        return (Role::Ignored, format!("guess: the name {:?}", column.name));
    }
    if column.kind == Kind::Whole && column.steps.as_ref().is_some_and(|s| s.always_rise()) {
        return (Role::Ignored, "guess: a counter, which only rises".into());
    }
    let stem = plain.split(['[', '.', '_', ' ']).next().unwrap_or_default();
    let of_topic = topic.name.to_lowercase();
    if COMMANDS.contains(&stem) || ["cmd", "command", "setpoint"].iter().any(|word| of_topic.contains(word)) {
        return (Role::Command, "guess: the name".into());
    }
    (Role::Observation, "guess: a number that changes".into())
}

/// Whether a name is that of a time within a message, such as the stamp in a header of ROS.
fn is_time(name: &str) -> bool {
    name.ends_with("timestamp") || name.contains("timestamp_") || name.contains("header.stamp.")
}

/// The clock: the own time of messages, else the column that looks like one.
fn clock(log: &LogReport, time: Option<&Taken<'_>>) -> (Clock, String) {
    let plain = |rate_hz, column, unit| Clock { rate_hz, column, unit, max_age_secs: None, wait_secs: None };
    let rate = |median: f64| round((1.0 / median).min(1e6));
    let timed = log.topics.iter().filter(|t| t.rows > 1);
    let fastest =
        timed.filter_map(|t| Some((t, t.times.as_ref()?.median()?))).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((topic, median)) = fastest {
        let why = format!("guess: the rate of {}, the fastest topic", topic.name);
        return (plain(Some(rate(median)), None, TimeUnit::Seconds), why);
    }
    let Some(Taken { name, why, column, .. }) = time else {
        let why = "guess: no column is a time, so each row is a step".into();
        return (plain(None, None, TimeUnit::Seconds), why);
    };
    let unit = unit(column);
    let name = Some(name.clone());
    let Some((median, nanos)) = column.steps.as_ref().and_then(|s| s.median()).zip(unit.nanos()) else {
        return (plain(None, name, unit), format!("{why}; each row is a step"));
    };
    let why = format!("{why}; a step is {median:.6} in the unit of the column");
    (plain(Some(rate(median * nanos * 1e-9)), name, unit), why)
}

/// The unit of times since 1970 is told by their size, of others by the name.
fn unit(column: &ColumnReport) -> TimeUnit {
    if column.kind == Kind::Text {
        return TimeUnit::Date;
    }
    let (name, high) = (column.name.to_lowercase(), column.high.unwrap_or(0.0));
    let stated = column.unit.as_deref().unwrap_or_default();
    match () {
        () if ["h", "hour", "hours"].contains(&name.as_str()) || ["h", "hours"].contains(&stated) => {
            TimeUnit::Hours
        }
        () if ["minute", "minutes"].contains(&name.as_str()) || stated == "min" => TimeUnit::Minutes,
        () if name.ends_with("_ns") || stated == "ns" || high > 1e17 => TimeUnit::Nanos,
        () if name.ends_with("_us") || stated == "us" || high > 1e14 => TimeUnit::Micros,
        () if name.ends_with("_ms") || stated == "ms" || high > 1e11 => TimeUnit::Millis,
        () => TimeUnit::Seconds,
    }
}

/// Three significant digits, so that 49.97 Hz is proposed as 50.
fn round(rate: f64) -> f64 {
    let digits = 10f64.powf(rate.abs().log10().floor() - 2.0);
    let rounded = (rate / digits).round() * digits;
    format!("{rounded:.6}").parse().unwrap_or(rounded)
}
