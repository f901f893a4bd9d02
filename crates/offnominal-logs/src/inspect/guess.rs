//! A first mapping, guessed from names and numbers. Each guess says what it rests on.

use crate::inspect::column::{ColumnReport, Kind};
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

/// Proposes a mapping for logs that are alike.
pub fn propose(logs: &[LogReport]) -> Proposal {
    let Some(first) = logs.first() else { return empty() };
    let mut roles: Vec<(String, Role, String, &ColumnReport, &TopicReport)> = Vec::new();
    let twins = twins(first);
    for topic in &first.topics {
        for column in &topic.columns {
            let name = full_name(topic, column);
            let (role, why) = match twins.get(name.as_str()) {
                Some(of) => (Role::Ignored, format!("holds the same as {of}")),
                None => role(topic, column),
            };
            roles.push((name, role, why, column, topic));
        }
    }
    let named = |role: Role| roles.iter().find(|r| r.1 == role).map(|r| r.0.clone());
    let (clock, clock_why) = clock(first, named(Role::Time).as_deref());
    let (episodes, episodes_why) = match named(Role::Episode) {
        Some(column) => (Episodes::Column { column: column.clone() }, format!("guess: the name of {column}")),
        None => (Episodes::File, "guess: no column names an episode, so each log is one".to_string()),
    };
    let channels = |wanted: Role| -> Vec<Channel> {
        let of = roles.iter().filter(|r| r.1 == wanted).take(MOST_CHANNELS);
        of.map(|r| Channel { column: r.0.clone(), name: None, unit: r.3.unit.clone() }).collect()
    };
    let chosen = [Role::Observation, Role::Command].map(channels);
    let is_chosen = |name: &str| chosen.iter().flatten().any(|c| c.column == name);
    let is_signal = |role: Role| matches!(role, Role::Observation | Role::Command);
    let ignored = |r: &&(String, Role, String, &ColumnReport, &TopicReport)| {
        r.1 == Role::Ignored || is_signal(r.1) && !is_chosen(&r.0)
    };
    let ignored: Vec<String> = roles.iter().filter(ignored).map(|r| r.0.clone()).collect();
    let mut why: BTreeMap<String, String> = roles.iter().map(|r| (r.0.clone(), r.2.clone())).collect();
    for (name, role, ..) in &roles {
        if is_signal(*role) && !is_chosen(name) {
            why.insert(name.clone(), format!("more than {MOST_CHANNELS} channels: choose those that matter"));
        }
    }
    let [observation, command] = chosen;
    let outcome = named(Role::Outcome).map(|column| Outcome { column, success: toml::Value::Integer(1) });
    let (label, task) = (named(Role::Label), named(Role::Task));
    let mapping = Mapping {
        version: FORMAT,
        clock,
        episodes,
        observation,
        command,
        outcome,
        label,
        task,
        ignored: Some(ignored),
    };
    Proposal { mapping, why, clock_why, episodes_why }
}

fn empty() -> Proposal {
    let clock = Clock { rate_hz: None, column: None, unit: TimeUnit::default(), max_age_secs: None };
    let mapping = Mapping {
        version: FORMAT,
        clock,
        episodes: Episodes::File,
        observation: vec![],
        command: vec![],
        outcome: None,
        label: None,
        task: None,
        ignored: None,
    };
    Proposal { mapping, why: BTreeMap::new(), clock_why: String::new(), episodes_why: String::new() }
}

/// `topic:column`, or the column alone in a log that is one table.
pub fn full_name(topic: &TopicReport, column: &ColumnReport) -> String {
    if topic.name.is_empty() { column.name.clone() } else { format!("{}:{}", topic.name, column.name) }
}

/// Columns that hold the same as another one before them.
fn twins(log: &LogReport) -> HashMap<String, String> {
    let mut first: HashMap<(u64, u64), String> = HashMap::new();
    let mut twins = HashMap::new();
    for topic in &log.topics {
        for column in topic.columns.iter().filter(|c| matches!(c.kind, Kind::Number)) {
            let name = full_name(topic, column);
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
    let is_table = topic.times.is_none();
    for (role, names) in NAMES {
        let needs_table = matches!(role, Role::Time | Role::Episode);
        if names.contains(&plain.as_str()) && (is_table || !needs_table) && column.kind != Kind::Empty {
            return (role, format!("guess: the name {:?}", column.name));
        }
    }
    match column.kind {
        Kind::Empty => return (Role::Ignored, "no values".into()),
        Kind::Constant => return (Role::Ignored, format!("always {}", column.low.unwrap_or_default())),
        Kind::Text | Kind::Mixed => return (Role::Ignored, "texts".into()),
        Kind::Flag | Kind::Whole | Kind::Number => {}
    }
    if BOOKKEEPING.contains(&plain.as_str()) || plain.ends_with("timestamp") || plain.contains("timestamp_") {
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

/// The clock: the own time of messages, else the column that looks like one.
fn clock(log: &LogReport, time: Option<&str>) -> (Clock, String) {
    let plain = |rate_hz, column, unit| Clock { rate_hz, column, unit, max_age_secs: None };
    let rate = |median: f64| round((1.0 / median).min(1e6));
    let timed = log.topics.iter().filter(|t| t.rows > 1);
    let fastest =
        timed.filter_map(|t| Some((t, t.times.as_ref()?.median()?))).min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((topic, median)) = fastest {
        let why = format!("guess: the rate of {}, the fastest topic", topic.name);
        return (plain(Some(rate(median)), None, TimeUnit::Seconds), why);
    }
    let column = |name: &str| log.topics.iter().flat_map(|t| &t.columns).find(|c| c.name == name);
    let Some(found) = time.and_then(column) else {
        return (
            plain(None, None, TimeUnit::Seconds),
            "guess: no column is a time, so each row is a step".into(),
        );
    };
    let unit = unit(found);
    let name = Some(found.name.clone());
    let Some((median, nanos)) = found.steps.as_ref().and_then(|s| s.median()).zip(unit.nanos()) else {
        return (plain(None, name, unit), "guess: the name; each row is a step".into());
    };
    let why = format!("guess: the name; a step is {median:.6} in the unit of the column");
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
