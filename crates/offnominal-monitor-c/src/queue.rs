//! Ticks that were made of messages, until they are judged.

use anyhow::{Result, ensure};
use offnominal_topics::live::{Tick, Ticks};
use std::collections::VecDeque;

/// More ticks than this do not wait: a clock that jumps by days would ask for millions.
const MOST: usize = 100_000;

/// When a tick is, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub is_first: bool,
    pub time_nanos: i64,
    pub dropped: u64,
    /// The task of the episode that begins, if the messages tell of it.
    pub task: Option<String>,
}

/// Ticks in the order of time, each a head and a row of numbers; their memory is used again.
#[derive(Default)]
pub(crate) struct Queue {
    heads: VecDeque<Head>,
    numbers: VecDeque<f64>,
}

impl Ticks for Queue {
    fn tick(&mut self, tick: Tick<'_>) -> Result<()> {
        let Tick { is_first, time_nanos, dropped, observation, command, task } = tick;
        ensure!(
            self.heads.len() < MOST,
            "expected at most {MOST} steps since the message before, found more at {time_nanos} ns"
        );
        self.heads.push_back(Head { is_first, time_nanos, dropped, task: task.map(String::from) });
        self.numbers.extend(observation.iter().chain(command));
        Ok(())
    }
}

impl Queue {
    /// Takes the next tick, whose numbers become the row.
    pub fn pop(&mut self, width: usize, row: &mut Vec<f64>) -> Option<Head> {
        let head = self.heads.pop_front()?;
        row.clear();
        row.extend(self.numbers.drain(..width));
        Some(head)
    }

    pub fn clear(&mut self) {
        self.heads.clear();
        self.numbers.clear();
    }
}
