//! Ticks of the clock out of rows as they come, for a stream that is watched while it is recorded.
//!
//! The ticks are those of the log that is made of the stream, if the rows come in the order of their time, no two at once, or at
//! most as late as the mapping waits for them. A tick is told when a row comes that is later, or, where each row is a tick, with
//! its row. What depends on the future is told as far as it has come: the last window of a stream is told although it is not
//! whole.

mod jumps;
mod waiting;

use crate::chosen::Rows;
use crate::clock::{n_ticks, nanos, tick};
use crate::mapping::{Episodes, Mapping, Order};
use anyhow::{Result, ensure};
use jumps::{Jumps, Turn};
use std::collections::BTreeMap;
use waiting::Waiting;

/// What there is at a tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick<'a> {
    /// Whether it is the first of an episode.
    pub is_first: bool,
    /// When it is, in nanoseconds of the clock of the log.
    pub time_nanos: i64,
    /// Observations in the order of the mapping; NaN where a value is missing.
    pub observation: &'a [f64],
    /// Commands, as observations.
    pub command: &'a [f64],
    /// At the first tick of an episode its task, if the mapping names one and it is known by then.
    pub task: Option<&'a str>,
    /// Rows that came too late or twice, or whose time jumped, so far.
    pub dropped: u64,
}

/// Whoever is told the ticks.
pub trait Ticks {
    /// A tick, in the order of time.
    ///
    /// # Errors
    /// If it cannot be taken.
    fn tick(&mut self, tick: Tick<'_>) -> Result<()>;
}

/// A stream as far as it has come.
pub struct Live<T> {
    mapping: Mapping,
    /// The places of the columns that tell episodes apart.
    keys: Vec<usize>,
    /// What the first of them last held.
    key_bits: u64,
    /// Whether the last row was the last of an episode.
    has_ended: bool,
    /// Rows that were left out, as their time was not after that of a row before them.
    dropped: u64,
    /// Each column's last value with its time.
    last: Vec<Option<(i64, f64)>>,
    /// The topics that have a column of the mapping.
    topics: Vec<usize>,
    /// The time of the latest row.
    latest: i64,
    episode: Option<Episode>,
    values: Vec<f64>,
    waiting: Option<Waiting>,
    jumps: Jumps,
    /// The place of the column of the task, its texts by their numbers, and what it holds in this episode.
    task_at: Option<usize>,
    tasks: BTreeMap<usize, String>,
    task: Option<String>,
    /// Whoever is told.
    pub to: T,
}

/// The episode that is on.
struct Episode {
    start: i64,
    /// Ticks that are over.
    n_ticks: usize,
    /// Whether each channel has been seen, so that ticks are told.
    has_begun: bool,
    /// When the next one begins, if that is known.
    next: Option<i64>,
}

impl<T: Ticks> Live<T> {
    /// Nothing has come yet.
    pub fn new(mapping: &Mapping, to: T) -> Live<T> {
        let columns = mapping.columns();
        let place = |name: &str| columns.iter().position(|column| *column == name);
        let keys = mapping.episodes.columns().filter_map(place).collect();
        let task_at = mapping.task.as_deref().and_then(place);
        let values = vec![f64::NAN; mapping.channels().count()];
        let last = vec![None; columns.len()];
        Live {
            mapping: mapping.clone(),
            keys,
            key_bits: 0,
            has_ended: false,
            dropped: 0,
            last,
            topics: Vec::new(),
            latest: i64::MIN,
            episode: None,
            values,
            waiting: mapping.clock.wait_secs.map(|secs| Waiting::new(nanos(secs))),
            jumps: Jumps::default(),
            task_at,
            tasks: BTreeMap::new(),
            task: None,
            to,
        }
    }

    /// The stream has ended.
    ///
    /// # Errors
    /// If a tick cannot be taken.
    pub fn finish(&mut self) -> Result<()> {
        while let Some((_, time, row)) = self.waiting.as_mut().and_then(Waiting::next) {
            self.take(time, &row)?;
        }
        // Nothing has come that would say that the time of the last row was right.
        self.jumps.forget();
        self.turn(self.latest.saturating_add(1))?;
        self.end(self.latest)
    }

    /// Rows so far that came too late or twice, or whose time jumped.
    pub fn dropped(&self) -> u64 {
        self.dropped + self.jumps.dropped + self.waiting.as_ref().map_or(0, |waiting| waiting.dropped)
    }

    /// Time has come so far, and no row has: ticks before it are told. Where silence may end an episode nothing is, as it is
    /// not known yet whether the next row belongs to it.
    ///
    /// # Errors
    /// If a tick cannot be taken.
    pub fn advance(&mut self, time: i64) -> Result<()> {
        let by_row = |episodes: &Episodes| {
            matches!(episodes, Episodes::Gap { .. } | Episodes::Column { .. } | Episodes::Ends { .. })
        };
        if by_row(&self.mapping.episodes) {
            return Ok(());
        }
        let time = self.waiting.as_mut().map_or(time, |waiting| waiting.pass(time));
        while let Some((_, time, row)) = self.waiting.as_mut().and_then(Waiting::due) {
            self.take(time, &row)?;
        }
        self.turn(time)?;
        self.until(time)
    }

    /// The next row begins an episode, whatever it holds, and whenever it is. Values from before it stay the last ones.
    pub fn end_episode(&mut self) {
        self.episode = None;
        self.latest = i64::MIN;
        self.waiting.iter_mut().for_each(Waiting::forget);
        self.jumps.forget();
    }

    /// How long ago, in nanoseconds, the last value of a column came; `None` if none has.
    pub fn age(&self, place: usize, time: i64) -> Option<i64> {
        self.last.get(place).copied().flatten().map(|(then, _)| time.saturating_sub(then))
    }

    /// Ends the episodes that end before a time, and begins those that follow them.
    fn turn(&mut self, time: i64) -> Result<()> {
        let due = |episode: &Episode| episode.next.filter(|&next| next < time);
        while let Some(next) = self.episode.as_ref().and_then(due) {
            self.end(next)?;
            self.begin(next);
        }
        Ok(())
    }

    fn begin(&mut self, start: i64) {
        let next = match self.mapping.episodes {
            Episodes::Window { secs } => Some(start.saturating_add(nanos(secs).max(1))),
            _ => None,
        };
        self.episode = Some(Episode { start, n_ticks: 0, has_begun: false, next });
    }

    /// Tells the ticks up to the end of the episode.
    fn end(&mut self, end: i64) -> Result<()> {
        let Some((episode, rate)) = self.episode.as_ref().zip(self.mapping.clock.rate_hz) else {
            return Ok(());
        };
        let (start, from) = (episode.start, episode.n_ticks);
        (from..n_ticks(start, end, rate)?).try_for_each(|k| self.tell(tick(start, k, rate)))
    }

    /// Tells the ticks before a time.
    fn until(&mut self, time: i64) -> Result<()> {
        let Some(rate) = self.mapping.clock.rate_hz else { return Ok(()) };
        n_ticks(self.latest.max(self.episode.as_ref().map_or(time, |episode| episode.start)), time, rate)?;
        while let Some(episode) = &self.episode {
            let at = tick(episode.start, episode.n_ticks, rate);
            if at >= time {
                break;
            }
            self.tell(at)?;
        }
        Ok(())
    }

    fn tell(&mut self, time: i64) -> Result<()> {
        let Some(episode) = &mut self.episode else { return Ok(()) };
        episode.n_ticks += 1;
        let most = self.mapping.clock.max_age_secs.map_or(i64::MAX, nanos);
        let n_channels = self.values.len();
        let fresh = |last: &Option<(i64, f64)>| last.filter(|(then, _)| time - then <= most).map(|(_, x)| x);
        let is_whole = self.last[..n_channels].iter().all(|last| fresh(last).is_some());
        let is_first = !episode.has_begun;
        if is_first && !is_whole {
            return Ok(());
        }
        episode.has_begun = true;
        for (value, last) in self.values.iter_mut().zip(&self.last) {
            *value = fresh(last).unwrap_or(f64::NAN);
        }
        if is_first {
            let task = self.task_at.and_then(|at| self.last[at].filter(|(then, _)| time - then <= most));
            self.task = task.map(|(_, x)| self.tasks.get(&(x as usize)).cloned().unwrap_or(x.to_string()));
        }
        let dropped = self.dropped();
        let (observation, command) = self.values.split_at(self.mapping.observation.len());
        let task = self.task.as_deref().filter(|_| is_first);
        self.to.tick(Tick { is_first, time_nanos: time, observation, command, task, dropped })
    }

    /// Whether an episode begins with a row, whatever comes later.
    fn is_first(&self, time: i64, key: Option<f64>) -> bool {
        let Some(_) = self.episode else { return true };
        match &self.mapping.episodes {
            Episodes::Gap { secs } => time.saturating_sub(self.latest) > nanos(*secs) || self.restarts(time),
            Episodes::Column { .. } => key.is_some_and(|key| key.to_bits() != self.key_bits),
            Episodes::Ends { .. } => self.has_ended,
            Episodes::File | Episodes::Event { .. } | Episodes::Window { .. } => false,
        }
    }

    /// Whether the clock of a table has begun anew.
    fn restarts(&self, time: i64) -> bool {
        let Episodes::Gap { secs } = self.mapping.episodes else { return false };
        self.mapping.clock.column.is_some() && self.latest.saturating_sub(time) > nanos(secs)
    }

    /// An episode begins with a row of this time.
    fn restart(&mut self, time: i64) -> Result<()> {
        self.end(self.latest)?;
        let by_row = matches!(self.mapping.episodes, Episodes::Column { .. } | Episodes::Ends { .. });
        if by_row || self.restarts(time) {
            // Episodes of one table have nothing to do with each other, not even their clocks.
            self.last.fill(None);
            self.latest = i64::MIN;
        }
        // The clock may have begun anew.
        self.last.iter_mut().for_each(|last| *last = last.filter(|(then, _)| *then <= time));
        self.begin(time);
        Ok(())
    }

    /// Whether an episode begins at a row because its column becomes something else than zero there.
    fn is_event(&self, key: Option<f64>) -> bool {
        let before = self.keys.first().and_then(|&key| self.last[key]).map(|(_, x)| x);
        let is_on = key.is_some_and(|x| x.is_finite() && x != 0.0);
        matches!(self.mapping.episodes, Episodes::Event { .. }) && before == Some(0.0) && is_on
    }

    /// Whether a row of a table may not be taken because of its time.
    fn is_too_late(&mut self, time: i64) -> Result<bool> {
        let order = self.mapping.clock.order;
        let is_late = time < self.latest || (order == Order::Drop && time == self.latest);
        if self.mapping.clock.column.is_none() || !is_late {
            return Ok(false);
        }
        ensure!(
            order != Order::Refuse,
            "expected a time that does not fall, found {time} ns after {} ns; `order` in `[clock]` of the mapping says what \
             becomes of such rows",
            self.latest
        );
        self.dropped += 1;
        Ok(true)
    }
}

impl<T: Ticks> Rows for Live<T> {
    fn column(&mut self, topic: usize, _: usize) {
        if !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
    }

    fn text(&mut self, place: usize, number: usize, text: &str) {
        if self.task_at == Some(place) {
            self.tasks.entry(number).or_insert_with(|| text.into());
        }
    }

    fn row(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) -> Result<()> {
        // The rows of a table stand in the order of their times, or the table is wrong.
        if self.mapping.clock.column.is_some() {
            return self.wait(topic, time, row);
        }
        match self.jumps.turn(topic, time, row) {
            Turn::Nothing => return Ok(()),
            Turn::Rows(None) => {}
            Turn::Rows(Some((topic, time, row))) => self.wait(topic, time, &row)?,
            Turn::Anew => {
                self.end(self.latest)?;
                (self.episode, self.latest) = (None, i64::MIN);
                self.waiting.iter_mut().for_each(Waiting::forget);
            }
        }
        self.wait(topic, time, row)
    }
}

impl<T: Ticks> Live<T> {
    /// A row waits for others that may come late, if the mapping says so.
    fn wait(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) -> Result<()> {
        let Some(waiting) = &mut self.waiting else { return self.take(time, row) };
        waiting.add(topic, time, row);
        while let Some((_, time, row)) = self.waiting.as_mut().and_then(Waiting::due) {
            self.take(time, &row)?;
        }
        Ok(())
    }

    /// Takes a row whose turn it is.
    fn take(&mut self, time: i64, row: &[(usize, f64)]) -> Result<()> {
        let of = |key: &usize| row.iter().find(|(at, _)| at == key).map(|(_, x)| *x);
        let key = self.keys.first().and_then(of);
        if self.is_first(time, key) {
            self.restart(time)?;
        }
        if self.is_too_late(time)? {
            return Ok(());
        }
        self.turn(time)?;
        self.until(time)?;
        if self.is_event(key) {
            self.begin(time);
        }
        self.has_ended = matches!(self.mapping.episodes, Episodes::Ends { .. })
            && self.keys.iter().filter_map(of).any(|x| x.is_finite() && x != 0.0);
        self.key_bits = key.map_or(self.key_bits, f64::to_bits);
        for &(place, x) in row {
            let last = &mut self.last[place];
            if x.is_finite() && last.is_none_or(|(then, _)| then <= time) {
                *last = Some((time, x));
            }
        }
        self.latest = self.latest.max(time);
        if self.mapping.clock.rate_hz.is_some() {
            return Ok(());
        }
        let n = self.topics.len();
        ensure!(n == 1, "clock.rate_hz: expected a rate, as the channels are in {n} topics, found none");
        self.tell(time)?;
        // A row at the moment in which the next episode begins is its first one too.
        self.turn(time + 1)?;
        let is_due =
            self.episode.as_ref().is_some_and(|episode| episode.n_ticks == 0 && episode.start == time);
        if is_due { self.tell(time) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
