//! A first mapping, guessed from names and numbers. Each guess says what it rests on.

use crate::inspect::clock::{self, clock};
use crate::inspect::column::{ColumnReport, Kind};
use crate::inspect::merged::{self, Merged};
use crate::inspect::names::{looks_ahead, stem};
use crate::inspect::survey::{LogReport, TopicReport};
use crate::inspect::taken::{Role, Taken};
use crate::inspect::windows::windows;
use crate::mapping::{Channel, Episodes, FORMAT, Labels, Mapping, Outcome};
use anyhow::{Context, Result, bail};
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
    /// Two logs that state different units of a column that is used.
    pub units: Option<String>,
}

/// Names of columns, in lower case, that are taken for something whatever they hold.
const NAMES: [(Role, &[&str]); 4] = [
    (
        Role::Episode,
        &["episode", "episode_index", "episode_id", "run", "run_id", "trial", "trajectory", "rollout"],
    ),
    (
        Role::Label,
        &[
            "anomaly",
            "label",
            "fault",
            "is_anomaly",
            "anomalous",
            "is_anomalous",
            "is_fault",
            "faulty",
            "attack",
        ],
    ),
    (
        Role::Outcome,
        &[
            "success",
            "is_success",
            "outcome",
            "next.success",
            "succeeded",
            "infos/success",
            "result",
            "verdict",
        ],
    ),
    (Role::Task, &["task", "task_index", "task_id", "task_name"]),
];

/// Names of an outcome if words of a table stand below them.
const VAGUE: [&str; 2] = ["result", "verdict"];

/// Names, or beginnings of names, of what a controller commands.
const COMMANDS: [&str; 9] =
    ["action", "actions", "act", "cmd", "command", "commands", "control", "u", "actuator"];

/// Columns that count rows, or say what a learner got, and are neither signal nor command.
const BOOKKEEPING: [&str; 15] = [
    "index",
    "frame_index",
    "step",
    "steps",
    "row",
    "id",
    "reward",
    "rewards",
    "return",
    "returns",
    "next.reward",
    "next.done",
    "changepoint",
    "seq",
    "header.seq",
];

/// Flags of the last row of an episode.
const ENDS: [&str; 12] = [
    "terminals",
    "terminal",
    "timeouts",
    "timeout",
    "dones",
    "done",
    "terminated",
    "truncated",
    "terminations",
    "truncations",
    "is_last",
    "is_terminal",
];

/// Words of an outcome that is a success.
const SUCCESS: [&str; 8] = ["ok", "success", "succeeded", "pass", "passed", "good", "true", "done"];

/// Proposes a mapping for logs that are alike.
///
/// # Panics
/// If there is none.
pub fn propose(logs: &[LogReport]) -> Proposal {
    let merged = merged::merged(logs);
    let mut taken = take(&merged, logs.len());
    one_table(&mut taken);
    without_twins(&mut taken);
    clock::choose(&mut taken);
    only_one(&mut taken);
    let [observation, command] = [Role::Observation, Role::Command].map(|role| channels(&mut taken, role));
    let (clock, clock_why) = clock(&taken);
    let (episodes, episodes_why) = episodes(logs, &taken, &clock);
    let outcome = outcome(&mut taken);
    let named = |role: Role| taken.iter().find(|t| t.role == role).map(|t| t.name.clone());
    let mut mapping = Mapping {
        version: FORMAT,
        clock,
        episodes,
        observation,
        command,
        outcome,
        label: Labels(taken.iter().filter(|t| t.role == Role::Label).map(|t| t.name.clone()).collect()),
        task: named(Role::Task),
        missing: missing(&taken),
        ignored: None,
    };
    let is_used = |name: &String| {
        mapping.columns().contains(&name.as_str()) || mapping.clock.column.as_ref() == Some(name)
    };
    let units = merged.units.iter().find(|(name, _)| is_used(name)).map(|(_, units)| units.clone());
    mapping.ignored = Some(taken.iter().map(|t| t.name.clone()).filter(|name| !is_used(name)).collect());
    let why = taken.into_iter().map(|t| (t.name, t.why)).collect();
    Proposal { mapping, why, clock_why, episodes_why, units }
}

impl Proposal {
    /// Insists on a mapping that can be used.
    ///
    /// # Errors
    /// If there is no channel, in which case the error says why some of the columns are none, or logs differ in a unit.
    pub fn check(&self) -> Result<()> {
        if let Some(units) = &self.units {
            bail!(
                "{units}: convert its numbers and mend its unit in some of the logs, or give logs of one unit alone"
            );
        }
        let whys: Vec<String> = self.why.iter().take(8).map(|(name, why)| format!("{name}: {why}")).collect();
        self.mapping.check().with_context(|| format!("no mapping can be proposed ({})", whys.join("; ")))
    }
}

/// What each column is taken for.
fn take<'m>(merged: &'m Merged, n_logs: usize) -> Vec<Taken<'m>> {
    let observes = |topic: &TopicReport| topic.columns.iter().any(|c| stem(&c.name).starts_with("obs"));
    let taken = |topic: &'m TopicReport, column: &'m ColumnReport| {
        let name = topic.full_name(column);
        let (role, why) = match merged.lacking.get(&name) {
            Some(n) => (Role::Ignored, format!("{n} of {n_logs} logs have no value of it")),
            None if observes(topic) && is_of_simulator(&column.name) => {
                (Role::Ignored, "guess: what the simulator knows beside the observation".into())
            }
            None => role(topic, column),
        };
        Taken { name, role, why, column, topic }
    };
    let columns = merged.log.topics.iter().flat_map(|topic| topic.columns.iter().map(move |c| (topic, c)));
    columns.map(|(topic, column)| taken(topic, column)).collect()
}

/// Whether a column beside observations is one that no controller sees.
fn is_of_simulator(name: &str) -> bool {
    let stem = stem(name);
    let is_named = |known: &&str| NAMES.iter().any(|(_, names)| names.contains(known));
    matches!(stem.as_str(), "states" | "state") || (stem.starts_with("infos/") && !is_named(&stem.as_str()))
}

/// Tables without times of their own have no clock in common: the channels are those of the longest one.
fn one_table(taken: &mut [Taken<'_>]) {
    let channels =
        |topic: &TopicReport| taken.iter().filter(|t| std::ptr::eq(t.topic, topic) && t.is_channel()).count();
    let tables = taken.iter().filter(|t| t.topic.times.is_none()).map(|t| t.topic);
    let longest = tables.max_by_key(|topic| (channels(topic) > 0, topic.rows, channels(topic)));
    let has_messages = taken.iter().any(|t| t.topic.times.is_some() && t.is_channel());
    for own in taken.iter_mut().filter(|t| t.topic.times.is_none() && t.role != Role::Ignored) {
        if has_messages || longest.is_some_and(|longest| !std::ptr::eq(longest, own.topic)) {
            own.role = Role::Ignored;
            own.why = "another table, which has no time in common with the channels".into();
        }
    }
}

/// Of several outcomes, tasks or episodes the first one that changes is taken; of several labels, all that do.
fn only_one(taken: &mut [Taken<'_>]) {
    for role in [Role::Label, Role::Outcome, Role::Task, Role::Episode] {
        let places: Vec<usize> = (0..taken.len()).filter(|&i| taken[i].role == role).collect();
        let changes = |&&i: &&usize| taken[i].column.kind != Kind::Constant;
        let chosen = places.iter().find(changes).or(places.first()).copied();
        let is_kept = |i: usize| Some(i) == chosen || (role == Role::Label && changes(&&i));
        let left: Vec<usize> = places.iter().copied().filter(|&i| !is_kept(i)).collect();
        for i in left {
            let other = chosen.map_or(String::new(), |i| taken[i].name.clone());
            (taken[i].role, taken[i].why) = (Role::Ignored, format!("guess: {other} says it"));
        }
    }
}

/// Where episodes end: a column counts them, flags end them, or the clock begins anew; else each log is one, or, of a few long
/// ones, each window.
fn episodes(logs: &[LogReport], taken: &[Taken<'_>], clock: &crate::mapping::Clock) -> (Episodes, String) {
    if let Some(found) = taken.iter().find(|t| t.role == Role::Episode) {
        let column = found.name.clone();
        return (Episodes::Column { column }, format!("guess: the name of {}", found.name));
    }
    let ends: Vec<&Taken<'_>> = taken.iter().filter(|t| t.role == Role::End).collect();
    if ends.iter().any(|t| t.column.kind == Kind::Flag) {
        let columns: Vec<String> = ends.iter().map(|t| t.name.clone()).collect();
        let why =
            format!("guess: the names of {}, flags of the last row of an episode", columns.join(" and "));
        return (Episodes::Ends { columns }, why);
    }
    if let Some((secs, falls)) = clock::begins_anew(taken, clock) {
        return (Episodes::Gap { secs }, format!("guess: the time begins anew {falls} times"));
    }
    let each = "guess: no column names an episode, so each log is one".to_string();
    match windows(logs, taken, clock) {
        Some((Some(windows), why)) => (windows, why),
        Some((None, why)) => (Episodes::File, format!("{each}; {why}")),
        None => (Episodes::File, each),
    }
}

/// How an episode ended, if one of the words or numbers is known to be a success.
fn outcome(taken: &mut [Taken<'_>]) -> Option<Outcome> {
    let found = taken.iter_mut().find(|t| t.role == Role::Outcome)?;
    let good = |word: &&String| SUCCESS.iter().any(|known| known.eq_ignore_ascii_case(word.trim()));
    let success = match found.column.kind {
        Kind::Text => found.column.words.iter().find(good).map(|word| toml::Value::String(word.clone())),
        Kind::Flag | Kind::Whole | Kind::Constant => Some(toml::Value::Integer(1)),
        _ => None,
    };
    if success.is_none() {
        let words = found.column.words.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        found.why = format!("its name says how an episode ended, but none of its values does: {words}");
        found.role = Role::Ignored;
    }
    Some(Outcome { column: found.name.clone(), success: success? })
}

/// Numbers that mean in the channels that nothing was read: far from all others where they occur.
fn missing(taken: &[Taken<'_>]) -> Vec<f64> {
    let channels = || taken.iter().filter(|t| t.is_channel());
    let is_plausible = |x: &f64| channels().any(|t| t.column.plausible.contains(x));
    let mut all: Vec<f64> = channels().flat_map(|t| t.column.suspicious.iter().map(|(x, _)| *x)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.retain(|x| !is_plausible(x));
    all
}

/// The columns of a role, as many as can be; the others are ignored.
fn channels(taken: &mut [Taken<'_>], role: Role) -> Vec<Channel> {
    let mut places: Vec<usize> = (0..taken.len()).filter(|&i| taken[i].role == role).collect();
    if places.len() > MOST_CHANNELS {
        // What is too much comes from the slowest topics: those tell of the software rather than of the machine.
        let steady = |topic: &TopicReport| topic.rate().filter(|_| !topic.is_in_bursts());
        let rate = |i: usize| steady(taken[i].topic).unwrap_or(0.0);
        places.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
        for &i in &places[MOST_CHANNELS..] {
            taken[i].role = Role::Ignored;
            taken[i].why = format!("more than {MOST_CHANNELS} channels: choose those that matter");
        }
        places.truncate(MOST_CHANNELS);
    }
    let channel =
        |t: &Taken<'_>| Channel { column: t.name.clone(), unit: t.column.unit.clone(), ..Channel::default() };
    places.into_iter().map(|i| channel(&taken[i])).collect()
}

/// Of columns that hold the same, the first one is taken. One that is not taken has no twin: it says nothing in place of another.
fn without_twins(taken: &mut [Taken<'_>]) {
    let mut first: HashMap<(u64, u64), String> = HashMap::new();
    let is_taken = |t: &&mut Taken<'_>| t.role != Role::Ignored && t.column.kind == Kind::Number;
    for own in taken.iter_mut().filter(is_taken) {
        match first.get(&(own.topic.rows, own.column.digest)) {
            Some(of) => (own.role, own.why) = (Role::Ignored, format!("holds the same as {of}")),
            None => drop(first.insert((own.topic.rows, own.column.digest), own.name.clone())),
        }
    }
}

fn role(topic: &TopicReport, column: &ColumnReport) -> (Role, String) {
    let plain = stem(&column.name);
    let leaf = plain.rsplit('.').next().unwrap_or_default();
    let is_table = topic.times.is_none();
    let by_name = || format!("guess: the name {:?}", column.name);
    for (role, names) in NAMES {
        let needs_table = role == Role::Episode;
        let is_named = names.contains(&plain.as_str()) || needs_table && names.contains(&leaf);
        // The result of a command is a code, of which nobody knows which one is good.
        let is_code = VAGUE.contains(&plain.as_str()) && !(is_table && column.kind == Kind::Text);
        if is_named && !is_code && (is_table || !needs_table) && column.kind != Kind::Empty {
            let is_both = column.low.is_some() && !column.words.is_empty();
            return if is_both { (Role::Ignored, texts(column)) } else { (role, by_name()) };
        }
    }
    match column.kind {
        Kind::Empty => return (Role::Ignored, "no values".into()),
        _ if is_table && clock::is_candidate(column) => return (Role::Time, by_name()),
        _ if is_table && ENDS.contains(&plain.as_str()) => return (Role::End, by_name()),
        _ if looks_ahead(&column.name) => {
            return (Role::Ignored, "guess: it is known after the step only".into());
        }
        Kind::Constant => return (Role::Ignored, format!("always {}", column.low.unwrap_or_default())),
        Kind::Date => return (Role::Ignored, "dates".into()),
        Kind::Text | Kind::Mixed => return (Role::Ignored, texts(column)),
        Kind::Flag | Kind::Whole | Kind::Number => {}
    }
    if BOOKKEEPING.contains(&plain.as_str()) || ENDS.contains(&plain.as_str()) || is_time(&plain) {
        return (Role::Ignored, by_name());
    }
    if plain != "index" && clock::is_index(&plain) {
        return (Role::Ignored, "guess: an index without a name".into());
    }
    if is_table && clock::counts_time(column) {
        let unit = column.unit.as_deref().unwrap_or_default();
        return (Role::Time, format!("guess: it counts {unit} and only rises"));
    }
    if column.kind == Kind::Whole && column.steps.as_ref().is_some_and(|s| s.always_rise()) {
        return (Role::Ignored, "guess: a counter, which only rises".into());
    }
    let stem = plain.split(['[', '.', '_', ' ', '/']).next().unwrap_or_default();
    let of_topic = topic.name.to_lowercase();
    if COMMANDS.contains(&stem) || ["cmd", "command", "setpoint"].iter().any(|word| of_topic.contains(word)) {
        return (Role::Command, "guess: the name".into());
    }
    (Role::Observation, format!("guess: a number that changes{}", remarks(column)))
}

/// What a column of texts holds, so that a person sees numbers that were not understood.
fn texts(column: &ColumnReport) -> String {
    let words: Vec<&str> = column.words.iter().take(3).map(String::as_str).collect();
    if words.is_empty() { "texts".into() } else { format!("texts such as {}", words.join(", ")) }
}

/// What is to be said of the numbers of a channel.
fn remarks(column: &ColumnReport) -> String {
    let missing =
        (!column.words.is_empty()).then(|| format!("; {} are taken as missing", column.words.join(", ")));
    let far = column
        .suspicious
        .iter()
        .map(|(x, n)| format!("; suspicious: {x}, {n} times, far from all other numbers"));
    missing.into_iter().chain(far).collect()
}

/// Whether a name is that of a time within a message, such as the stamp in a header of ROS.
fn is_time(name: &str) -> bool {
    name.ends_with("timestamp") || name.contains("timestamp_") || name.contains("header.stamp.")
}
