//! Episodes out of recordings: cut, brought to one clock, and named.
//!
//! At each tick of the clock a channel has the last value that was seen, never a later one, and the age of that value.
//! A value that is older than the mapping allows is missing, and so is one of which nothing has been seen yet.

mod order;
pub(crate) mod truth;

use crate::chosen::Truth;
use crate::gather::{self, Gathered, Table};
use crate::mapping::{Channel, Episodes, Mapping};
use crate::source::Source;
use crate::suspects::Suspects;
use anyhow::{Context, Result, ensure};
use offnominal_topics::clock::{n_ticks, nanos, tick};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// So many windows may be empty of rows, however few there are.
const FEW_WINDOWS: i64 = 1000;

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
    /// The recording that loses the most steps before each channel has been seen: how many of how many, the number of the
    /// channel that comes last, and whether a label is among them.
    late: Option<(usize, usize, usize, bool)>,
}

impl LeftOut {
    /// Says that a recording begins late, if it loses more than a twentieth, or a label.
    fn begun_late(&self, mapping: &Mapping) -> Option<String> {
        let (steps, of, channel, has_label) = self.late.filter(|late| 20 * late.0 > late.1 || late.3)?;
        Some(format!(
            "{steps} of {of} steps lie before the first value of {}, and are left out{}",
            mapping.channels().nth(channel)?.column,
            if has_label { ", with labels that say that something is wrong" } else { "" }
        ))
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

/// A log, or the part of it that is one episode, in the order of time.
struct Log<'a> {
    gathered: &'a Gathered,
    mapping: &'a Mapping,
    /// For each topic the rows in the order of time.
    order: Vec<Vec<usize>>,
}

impl<'a> Log<'a> {
    fn new(gathered: &'a Gathered, mapping: &'a Mapping, part: Option<Range<usize>>) -> Result<Log<'a>> {
        let order = |rows: &Table| order::rows(rows, part.clone(), &mapping.clock);
        let order = gathered.topics.iter().map(order).collect::<Result<_>>()?;
        Ok(Log { gathered, mapping, order })
    }

    /// First and last time of each episode, in nanoseconds, and the time before which all its ticks are.
    ///
    /// # Errors
    /// If there are far more windows than rows, as after a clock that was set.
    fn windows(&self) -> Result<Vec<(i64, i64, i64)>> {
        let ends = |(topic, order): (&Table, &Vec<usize>)| {
            Some((topic.times[*order.first()?], topic.times[*order.last()?]))
        };
        let all: Vec<(i64, i64)> = self.gathered.topics.iter().zip(&self.order).filter_map(ends).collect();
        let (Some(start), Some(end)) = (all.iter().map(|e| e.0).min(), all.iter().map(|e| e.1).max()) else {
            return Ok(Vec::new());
        };
        Ok(match &self.mapping.episodes {
            Episodes::File | Episodes::Column { .. } | Episodes::Ends { .. } => vec![(start, end, i64::MAX)],
            Episodes::Gap { secs } => self.between_gaps(nanos(*secs)),
            Episodes::Event { column } => self.between_events(column, start, end),
            Episodes::Window { secs } => {
                let width = nanos(*secs).max(1);
                let (n, rows) = ((end - start) / width, self.order.iter().map(Vec::len).sum::<usize>());
                ensure!(
                    n <= rows as i64 + FEW_WINDOWS,
                    "episodes by window: expected no more windows of {secs} s than rows ({rows}), found {n}: the clock jumps, \
                     at most by {:.0} s; mend it, or cut there with `by = \"gap\"`",
                    self.longest_gap() as f64 * 1e-9
                );
                // The last window may be there in part only.
                let begins = (0..=n).map(|k| start + k * width).filter(|at| *at < end);
                begins.map(|at| (at, (at + width).min(end), i64::MAX)).collect()
            }
        })
    }

    /// Whether a window ends before its time is over.
    fn is_part(&self, (start, end, _): (i64, i64, i64)) -> bool {
        matches!(self.mapping.episodes, Episodes::Window { secs } if end - start < nanos(secs))
    }

    /// The longest time between two rows of one topic, in nanoseconds.
    fn longest_gap(&self) -> i64 {
        let of = |(topic, order): (&Table, &Vec<usize>)| {
            order.windows(2).map(|pair| topic.times[pair[1]] - topic.times[pair[0]]).max().unwrap_or(0)
        };
        self.gathered.topics.iter().zip(&self.order).map(of).max().unwrap_or(0)
    }

    /// Stretches within which something was recorded at least so often.
    fn between_gaps(&self, gap: i64) -> Vec<(i64, i64, i64)> {
        let of = |(topic, order): (&'a Table, &Vec<usize>)| -> Vec<i64> {
            order.iter().map(|&row| topic.times[row]).collect()
        };
        let mut times: Vec<i64> = self.gathered.topics.iter().zip(&self.order).flat_map(of).collect();
        times.sort_unstable();
        times
            .chunk_by(|a, b| b - a <= gap)
            .map(|chunk| (chunk[0], chunk[chunk.len() - 1], i64::MAX))
            .collect()
    }

    /// From each moment at which a column becomes something else than zero to before the next: no row is in two of them.
    fn between_events(&self, column: &str, start: i64, end: i64) -> Vec<(i64, i64, i64)> {
        let place = self.mapping.columns().iter().position(|name| *name == column);
        let Some((topic, number)) = place.and_then(|place| self.gathered.places[place]) else {
            return Vec::new();
        };
        let (rows, order) = (&self.gathered.topics[topic], &self.order[topic]);
        let numbers = &rows.columns[number];
        // A value that is missing does not switch anything off.
        let known: Vec<usize> = order.iter().copied().filter(|&row| numbers[row].is_finite()).collect();
        let is_on = |row: usize| numbers[row] != 0.0;
        let begins =
            known.windows(2).filter(|pair| !is_on(pair[0]) && is_on(pair[1])).map(|pair| rows.times[pair[1]]);
        let mut edges: Vec<i64> =
            std::iter::once(start).chain(begins).chain([end.saturating_add(1)]).collect();
        edges.dedup();
        let last = edges.len() - 2;
        // A tick at the moment of an event belongs to the episode that begins there.
        let before = |at: usize, edge: i64| if at == last { i64::MAX } else { edge };
        edges.windows(2).enumerate().map(|(at, pair)| (pair[0], pair[1] - 1, before(at, pair[1]))).collect()
    }

    /// The ticks of an episode.
    fn ticks(&self, (start, end, before): (i64, i64, i64)) -> Result<Vec<Tick>> {
        let Some(rate) = self.mapping.clock.rate_hz else {
            ensure!(
                self.gathered.topics.len() == 1,
                "clock.rate_hz: expected a rate, as the channels are in {} topics, found none",
                self.gathered.topics.len()
            );
            let (rows, order) = (&self.gathered.topics[0], &self.order[0]);
            let tick = |(at, &row): (usize, &usize)| Tick { time: rows.times[row], rows: at + 1 };
            let ticks = order.iter().enumerate().map(tick);
            return Ok(ticks
                .filter(|tick| (start..=end).contains(&tick.time) && tick.time < before)
                .collect());
        };
        let n = n_ticks(start, end, rate)?;
        let ticks = (0..n).map(|k| Tick { time: tick(start, k, rate), rows: usize::MAX });
        Ok(ticks.filter(|tick| tick.time < before).collect())
    }

    /// One episode; `None` if it has no step in which each channel has been seen.
    fn episode(
        &self,
        path: &Path,
        number: usize,
        window: (i64, i64, i64),
        left_out: &mut LeftOut,
    ) -> Result<Option<Recorded>> {
        let ticks = self.ticks(window)?;
        let n_channels = self.mapping.channels().count();
        let columns: Vec<Column> = (0..n_channels).filter_map(|place| self.column(place, &ticks)).collect();
        let (n_obs, n_command) = (self.mapping.observation.len(), self.mapping.command.len());
        // What comes before each channel was seen once is no data.
        let seen =
            |tick: usize| columns[..n_obs + n_command].iter().all(|column| column.values[tick].is_finite());
        let Some(first) = (0..ticks.len()).find(|&tick| seen(tick)).filter(|first| first + 1 < ticks.len())
        else {
            return Ok(None);
        };
        let table = |columns: &[Column], ticks: Range<usize>| -> Vec<f64> {
            ticks.flat_map(|t| columns.iter().map(move |c| c.values[t])).collect()
        };
        let (observed, commanded) = (&columns[..n_obs], &columns[n_obs..n_obs + n_command]);
        let extra = |name: Option<&str>| {
            let place = self.mapping.columns().iter().position(|column| Some(*column) == name)?;
            self.column(place, &ticks)
        };
        let labelled = |name: &String| self.labelled(name, &ticks);
        let mut labels: Vec<Labelled> = self.mapping.label.0.iter().filter_map(labelled).collect();
        if first > left_out.late.map_or(0, |late| late.0) {
            let is_unseen = |column: &Column| !column.values[first - 1].is_finite();
            let last = columns[..n_obs + n_command].iter().position(is_unseen).unwrap_or(0);
            let has_label = labels.iter().any(|label| label.steps[..first].contains(&true));
            left_out.late = Some((first, ticks.len(), last, has_label));
        }
        labels.iter_mut().for_each(|label| drop(label.steps.drain(..=first)));
        let task = extra(self.mapping.task.as_deref());
        let ages = (first..ticks.len()).flat_map(|t| observed.iter().map(move |c| c.ages[t])).collect();
        let mut found = Recorded {
            log: path.into(),
            number,
            is_alone: false,
            is_part: self.is_part(window),
            start_nanos: ticks[first].time,
            secs: ticks[first..].iter().map(|tick| (tick.time - ticks[first].time) as f64 / 1e9).collect(),
            observations: table(observed, first..ticks.len()),
            commands: table(commanded, first..ticks.len() - 1),
            ages_secs: ages,
            labels: None,
            kinds: vec![],
            success: self.succeeded(window.1)?,
            task: task.and_then(|column| self.text(&column, column.first(first)?)),
        };
        found.label(labels);
        Ok(Some(found))
    }

    /// A column at each tick, if the log has it.
    fn column(&self, place: usize, ticks: &[Tick]) -> Option<Column> {
        let (topic, number) = self.gathered.places[place]?;
        let (rows, order) = (&self.gathered.topics[topic], &self.order[topic]);
        let numbers = &rows.columns[number];
        let most = self.mapping.clock.max_age_secs.map_or(i64::MAX, nanos);
        let (mut values, mut ages) = (Vec::with_capacity(ticks.len()), Vec::with_capacity(ticks.len()));
        let (mut next, mut last): (usize, Option<(i64, f64)>) = (0, None);
        for tick in ticks {
            while let Some(&row) = order[..tick.rows.min(order.len())].get(next) {
                if rows.times[row] > tick.time {
                    break;
                }
                let value = numbers[row];
                if value.is_finite() {
                    last = Some((rows.times[row], value));
                }
                next += 1;
            }
            let age = last.map_or(i64::MAX, |(time, _)| tick.time - time);
            let is_fresh = last.filter(|_| age <= most);
            values.push(is_fresh.map_or(f64::NAN, |(_, value)| value));
            ages.push(if last.is_some() { age as f32 * 1e-9 } else { f32::INFINITY });
        }
        Some(Column { values, ages, is_text: self.gathered.is_text[place] })
    }

    /// A value as text.
    fn text(&self, column: &Column, value: f64) -> Option<String> {
        if column.is_text {
            self.gathered.texts.get(value as usize).cloned()
        } else {
            Some(value.to_string())
        }
    }
}

/// A moment at which each channel has a value.
struct Tick {
    /// When it is, in nanoseconds.
    time: i64,
    /// How many rows have come by then, where each row is a tick: several may have the same time.
    rows: usize,
}

/// A column at each tick of the clock.
struct Column {
    values: Vec<f64>,
    ages: Vec<f32>,
    is_text: bool,
}

impl Column {
    /// The first value from a tick on.
    fn first(&self, from: usize) -> Option<f64> {
        self.values[from..].iter().find(|value| value.is_finite()).copied()
    }
}

#[cfg(test)]
mod tests;
