//! What a log says of the truth: labels and outcomes, from its rows and not at the ticks of the clock, so that what is written
//! between two ticks, or after the last one, counts.

use super::Labelled;
use super::log::{Log, Tick};
use crate::gather::Gathered;
use crate::mapping::Mapping;
use anyhow::{Result, bail};
use offnominal_topics::words::is_nominal;
use std::collections::BTreeSet;

/// A column of the truth in the rows of an episode's log.
struct Truth<'a> {
    gathered: &'a Gathered,
    times: &'a [i64],
    numbers: &'a [f64],
    /// The rows in the order of time.
    order: &'a [usize],
    is_text: bool,
}

impl Truth<'_> {
    /// Whether a value of a label says that something is wrong; a word may say that nothing is.
    fn is_fault(&self, value: f64) -> bool {
        is_fault(self.gathered, self.is_text, value)
    }

    /// Whether a label says somewhere in the log that nothing is wrong. If it never does, an empty cell says it.
    fn says_nominal(&self) -> bool {
        self.numbers.iter().any(|&value| value.is_finite() && !self.is_fault(value))
    }

    /// A value as a person reads it.
    fn text(&self, value: f64) -> String {
        text(self.gathered, self.is_text, value)
    }
}

fn is_fault(gathered: &Gathered, is_text: bool, value: f64) -> bool {
    match is_text {
        _ if !value.is_finite() => false,
        true => gathered.texts.get(value as usize).is_some_and(|word| !is_nominal(word)),
        false => value != 0.0,
    }
}

fn text(gathered: &Gathered, is_text: bool, value: f64) -> String {
    let word = gathered.texts.get(value as usize).filter(|_| is_text);
    word.map_or_else(|| value.to_string(), String::clone)
}

impl Log<'_> {
    fn truth(&self, name: &str) -> Option<Truth<'_>> {
        let place = self.mapping.columns().iter().position(|column| *column == name)?;
        let (topic, number) = self.gathered.places[place]?;
        let rows = &self.gathered.topics[topic];
        Some(Truth {
            gathered: self.gathered,
            times: &rows.times,
            numbers: &rows.columns[number],
            order: &self.order[topic],
            is_text: self.gathered.is_text[place],
        })
    }

    /// Whether a label says at each tick that something is wrong: its last row does, or an event begins and ends since the
    /// tick before.
    pub(super) fn labelled(&self, name: &str, ticks: &[Tick]) -> Option<Labelled> {
        let truth = self.truth(name)?;
        let empty_is_nominal = !truth.says_nominal();
        let (mut next, mut held) = (0, false);
        let mut steps = Vec::with_capacity(ticks.len());
        for tick in ticks {
            let mut begins = false;
            while let Some(&row) = truth.order[..tick.rows.min(truth.order.len())].get(next)
                && truth.times[row] <= tick.time
            {
                let value = truth.numbers[row];
                if value.is_finite() || empty_is_nominal {
                    begins |= !held && truth.is_fault(value);
                    held = truth.is_fault(value);
                }
                next += 1;
            }
            steps.push(held || begins);
        }
        Some(Labelled { kind: name.into(), steps })
    }

    /// Whether an episode that ends at a time succeeded: by the last row of its outcome.
    ///
    /// # Errors
    /// If the outcome holds words and success is no word, or numbers and success is neither a number nor true or false.
    pub(super) fn succeeded(&self, end: i64) -> Result<Option<bool>> {
        let Some(outcome) = &self.mapping.outcome else { return Ok(None) };
        let Some(truth) = self.truth(&outcome.column) else { return Ok(None) };
        let is_known = |&&row: &&usize| truth.times[row] <= end && truth.numbers[row].is_finite();
        let Some(&row) = truth.order.iter().rev().find(is_known) else { return Ok(None) };
        let (last, wanted) = (truth.numbers[row], &outcome.success);
        if let (true, toml::Value::String(word)) = (truth.is_text, wanted) {
            return Ok(Some(truth.text(last) == *word));
        }
        match number(wanted).filter(|_| !truth.is_text) {
            Some(Wanted::Number(x)) => Ok(Some(last == x)),
            Some(Wanted::Is(is)) => Ok(Some((last != 0.0) == is)),
            None => bail!(
                "outcome.success: expected what the column {:?} holds where an episode succeeded, such as {:?}, found {wanted}",
                outcome.column,
                truth.text(last)
            ),
        }
    }
}

/// What numbers are compared with.
enum Wanted {
    Number(f64),
    Is(bool),
}

/// A wanted value for a column of numbers; tables of text say it in words.
fn number(wanted: &toml::Value) -> Option<Wanted> {
    match wanted {
        toml::Value::Integer(n) => Some(Wanted::Number(*n as f64)),
        toml::Value::Float(x) => Some(Wanted::Number(*x)),
        toml::Value::Boolean(is) => Some(Wanted::Is(*is)),
        toml::Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" => Some(Wanted::Is(true)),
            "false" => Some(Wanted::Is(false)),
            text => text.parse().ok().map(Wanted::Number),
        },
        _ => None,
    }
}

/// What the labels of a log say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// The column.
    pub label: String,
    /// Values that are taken as faults.
    pub faults: BTreeSet<String>,
    /// Whether a row says that nothing is wrong.
    pub nominal: bool,
    /// Whether a cell is empty.
    pub empty: bool,
}

impl Said {
    /// Whether it says of faults alone, so that the rest is a guess.
    fn is_doubtful(&self) -> bool {
        !self.faults.is_empty() && !self.nominal
    }
}

/// What each label of a mapping says in a log.
pub(super) fn said(gathered: &Gathered, mapping: &Mapping) -> Vec<Said> {
    let columns = mapping.columns();
    let of = |label: &String| {
        let place = columns.iter().position(|column| column == label)?;
        let (topic, number) = gathered.places[place]?;
        let (values, is_text) = (&gathered.topics[topic].columns[number], gathered.is_text[place]);
        let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
        let (empty, known): (Vec<f64>, Vec<f64>) =
            distinct.into_iter().map(f64::from_bits).partition(|value| value.is_nan());
        let (faults, nominal): (Vec<f64>, Vec<f64>) =
            known.into_iter().partition(|&value| is_fault(gathered, is_text, value));
        let faults = faults.into_iter().map(|value| text(gathered, is_text, value)).collect();
        Some(Said { label: label.clone(), faults, nominal: !nominal.is_empty(), empty: !empty.is_empty() })
    };
    mapping.label.0.iter().filter_map(of).collect()
}

/// Of labels that never say that nothing is wrong: what is taken as a fault, as the words may mean something else, and whether
/// empty cells are taken to say it.
pub(crate) fn remarks(said: &[Said]) -> Vec<String> {
    let of = |label: &str| {
        let own = || said.iter().filter(move |one| one.label == label);
        let faults: BTreeSet<&str> = own().flat_map(|one| &one.faults).map(String::as_str).collect();
        let some: Vec<&str> = faults.iter().take(5).copied().collect();
        let others = if faults.len() > some.len() { " and others" } else { "" };
        if own().any(|one| one.is_doubtful() && one.empty) {
            return Some(format!(
                "label {label}: where no row of a log says that nothing is wrong, its empty cells are taken to say it, and {}{others} \
                 as faults; 0, false or a word such as normal says it for sure",
                some.join(", ")
            ));
        }
        (own().any(Said::is_doubtful) && own().all(|one| !one.nominal)).then(|| {
            format!(
                "label {label}: no row says that nothing is wrong; {}{others} are taken as faults. Where nothing is wrong, 0, \
                 false, an empty cell or a word such as normal says so",
                some.join(", ")
            )
        })
    };
    let labels: BTreeSet<&str> = said.iter().map(|one| one.label.as_str()).collect();
    labels.into_iter().filter_map(of).collect()
}
