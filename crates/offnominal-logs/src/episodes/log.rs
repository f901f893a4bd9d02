//! A log, or a part of it, as episodes at one clock: where each begins and ends, its ticks, and its columns there.

use super::{Labelled, LeftOut, Recorded, order};
use crate::gather::{Gathered, Table};
use crate::mapping::{Episodes, Mapping};
use anyhow::{Result, ensure};
use offnominal_topics::clock::{n_ticks, nanos, tick};
use std::ops::Range;
use std::path::Path;

/// So many windows may be empty of rows, however few there are.
const FEW_WINDOWS: i64 = 1000;

/// A log, or the part of it that is one episode, in the order of time.
pub(super) struct Log<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) mapping: &'a Mapping,
    /// For each topic the rows in the order of time.
    pub(super) order: Vec<Vec<usize>>,
    /// The usual time between two rows.
    usual_secs: f64,
}

impl<'a> Log<'a> {
    pub(super) fn new(
        gathered: &'a Gathered,
        mapping: &'a Mapping,
        part: Option<Range<usize>>,
    ) -> Result<Log<'a>> {
        let order = |rows: &Table| order::rows(rows, part.clone(), &mapping.clock);
        let order = gathered.topics.iter().map(order).collect::<Result<_>>()?;
        let log = Log { gathered, mapping, order, usual_secs: 0.0 };
        Ok(Log { usual_secs: log.usual_secs(), ..log })
    }

    /// First and last time of each episode, in nanoseconds, and the time before which all its ticks are.
    ///
    /// # Errors
    /// If there are far more windows than rows, as after a clock that was set.
    pub(super) fn windows(&self) -> Result<Vec<(i64, i64, i64)>> {
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

    /// The times of the rows of all topics, in order.
    fn times(&self) -> Vec<i64> {
        let topics = self.gathered.topics.iter().zip(&self.order);
        let mut times: Vec<i64> =
            topics.flat_map(|(topic, order)| order.iter().map(|&row| topic.times[row])).collect();
        times.sort_unstable();
        times
    }

    /// The usual time between two rows, of whatever topic: the median, in seconds.
    fn usual_secs(&self) -> f64 {
        let apart = |pair: &[i64]| (pair[1] > pair[0]).then(|| pair[1] - pair[0]);
        let mut apart: Vec<i64> = self.times().windows(2).filter_map(apart).collect();
        let middle = apart.len() / 2;
        if apart.is_empty() { 0.0 } else { *apart.select_nth_unstable(middle).1 as f64 * 1e-9 }
    }

    /// Stretches within which something was recorded at least so often.
    fn between_gaps(&self, gap: i64) -> Vec<(i64, i64, i64)> {
        let stretches = self.times();
        let stretches = stretches.chunk_by(|a, b| b - a <= gap);
        stretches.map(|chunk| (chunk[0], chunk[chunk.len() - 1], i64::MAX)).collect()
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
    pub(super) fn episode(
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
        left_out.late += first;
        left_out.of += ticks.len();
        left_out.has_label |= labels.iter().any(|label| label.steps[..first].contains(&true));
        if first > left_out.latest.0 {
            let is_unseen = |column: &Column| !column.values[first - 1].is_finite();
            let last = columns[..n_obs + n_command].iter().position(is_unseen).unwrap_or(0);
            left_out.latest = (first, last);
        }
        labels.iter_mut().for_each(|label| drop(label.steps.drain(..=first)));
        let task = extra(self.mapping.task.as_deref());
        if self.mapping.clock.max_age_secs.is_none() {
            let most = 10.0 * self.usual_secs as f32;
            let is_held = |t: &usize| observed.iter().all(|column| column.ages[*t] > most);
            left_out.steps += ticks.len() - first;
            left_out.held += (first..ticks.len()).filter(is_held).count();
        }
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
pub(super) struct Tick {
    /// When it is, in nanoseconds.
    pub(super) time: i64,
    /// How many rows have come by then, where each row is a tick: several may have the same time.
    pub(super) rows: usize,
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
