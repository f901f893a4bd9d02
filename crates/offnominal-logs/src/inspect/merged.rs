//! What logs that are alike have in common: the columns of the first one, each as it is in all of them.

use crate::inspect::column::{ColumnReport, Kind};
use crate::inspect::survey::LogReport;
use offnominal_topics::units::differ;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Logs as if they were one.
pub struct Merged {
    /// The first one that has rows, with the columns of all.
    pub log: LogReport,
    /// Columns without a value in some logs, each with the number of these logs.
    pub lacking: BTreeMap<String, usize>,
    /// Columns of which logs state different units, each with two of these logs.
    pub units: BTreeMap<String, String>,
}

/// Merges logs; those without a row say nothing.
///
/// # Panics
/// If there is none.
pub fn merged(logs: &[LogReport]) -> Merged {
    let has_rows = |log: &&LogReport| log.topics.iter().any(|topic| topic.rows > 0);
    let mut full = logs.iter().filter(has_rows);
    let mut log = full.next().unwrap_or(&logs[0]).clone();
    let others: Vec<HashMap<String, &ColumnReport>> = full.map(columns).collect();
    let mut lacking = BTreeMap::new();
    for topic in &mut log.topics {
        let names: Vec<String> = topic.columns.iter().map(|column| topic.full_name(column)).collect();
        for (column, name) in topic.columns.iter_mut().zip(names) {
            let has = others.iter().filter_map(|other| other.get(&name).copied());
            let has: Vec<&ColumnReport> = has.filter(|other| other.kind != Kind::Empty).collect();
            let lack = others.len() - has.len() + usize::from(column.kind == Kind::Empty && !has.is_empty());
            if lack > 0 {
                lacking.insert(name, lack);
            }
            has.into_iter().for_each(|other| merge(column, other));
        }
    }
    let units = other_units(logs);
    Merged { log, lacking, units }
}

/// Where a log states another unit of a column than the first log that states one.
fn other_units(logs: &[LogReport]) -> BTreeMap<String, String> {
    let mut first: HashMap<String, (&Path, &str)> = HashMap::new();
    let mut found = BTreeMap::new();
    for log in logs {
        for (name, column) in columns(log) {
            let Some(unit) = column.unit.as_deref() else { continue };
            let (path, expected) = *first.entry(name.clone()).or_insert((log.path.as_path(), unit));
            if differ(expected, unit) {
                let what = || {
                    let (one, other) = (path.display(), log.path.display());
                    format!(
                        "column {name:?}: expected one unit, found {expected} in {one} and {unit} in {other}"
                    )
                };
                found.entry(name.clone()).or_insert_with(what);
            }
        }
    }
    found
}

/// A column as it is in another log too.
fn merge(column: &mut ColumnReport, other: &ColumnReport) {
    let bound =
        |a: Option<f64>, b: Option<f64>, f: fn(f64, f64) -> f64| a.zip(b).map(|(a, b)| f(a, b)).or(a).or(b);
    column.kind = kind(column, other);
    column.low = bound(column.low, other.low, f64::min);
    column.high = bound(column.high, other.high, f64::max);
    column.missing = column.missing.max(other.missing);
    column
        .words
        .extend(other.words.iter().filter(|word| !column.words.contains(word)).cloned().collect::<Vec<_>>());
    column.suspicious.extend(&other.suspicious);
    column.plausible.extend(&other.plausible);
    column.digest = column.digest.rotate_left(7) ^ other.digest;
    if column.date_format != other.date_format {
        column.date_format = column.date_format.take().or_else(|| other.date_format.clone());
    }
    match (&mut column.steps, &other.steps) {
        (Some(steps), Some(other)) => steps.absorb(other),
        // A log of a few rows has no steps to speak of.
        (steps @ Some(_), None) if other.low != other.high => *steps = None,
        _ => {}
    }
}

fn kind(column: &ColumnReport, other: &ColumnReport) -> Kind {
    let is_number = |kind| matches!(kind, Kind::Constant | Kind::Flag | Kind::Whole | Kind::Number);
    let is_whole = |column: &ColumnReport| match column.kind {
        Kind::Constant => column.low.is_some_and(|x| x.fract() == 0.0),
        kind => kind != Kind::Number,
    };
    match (column.kind, other.kind) {
        (Kind::Empty, kind) | (kind, Kind::Empty) => kind,
        (a, b) if is_number(a) && is_number(b) => {
            let ends = [column, other].map(|c| (c.low.unwrap_or_default(), c.high.unwrap_or_default()));
            let whole = is_whole(column) && is_whole(other);
            Kind::of_numbers(ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1), whole)
        }
        (a, b) if a == b => a,
        (Kind::Text | Kind::Date, Kind::Text | Kind::Date) => Kind::Text,
        _ => Kind::Mixed,
    }
}

fn columns(log: &LogReport) -> HashMap<String, &ColumnReport> {
    let named =
        log.topics.iter().flat_map(|topic| topic.columns.iter().map(move |c| (topic.full_name(c), c)));
    named.collect()
}
