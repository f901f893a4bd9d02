//! The blocks of pairs that were played, in a journal, so that a comparison that was killed goes on where it was.

use super::Request;
use super::pair::{Pair, Players};
use crate::record::Record;
use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::progress::{Silent, Task};
use offnominal_files::dataset::PolicyName;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Name of the journal in the folder of a comparison.
pub const JOURNAL: &str = "pairs.jsonl";

/// What is played; a journal belongs to one of these. What decides, and how many pairs at most, may be asked anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    env: String,
    old: PolicyName,
    new: PolicyName,
    seed: u64,
    block: u64,
    /// The options of what is drawn of the environment, in words.
    drawn: String,
    anomaly: Option<AnomalySpec>,
    twin: bool,
    /// The digest of the monitor's file.
    monitor: Option<String>,
}

/// A block, as the journal keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    number: u64,
    pairs: Vec<Pair>,
}

/// All blocks, one after the other: those of the journal first.
pub struct Pairs {
    record: Record,
    known: VecDeque<Block>,
    /// Pairs of a block.
    size: u64,
    next: u64,
}

impl Pairs {
    /// Those that the journal in a folder holds.
    ///
    /// # Errors
    /// If it is the journal of another comparison, or cannot be read or written.
    pub fn open(folder: Option<&Path>, players: &Players<'_>, request: &Request, seed: u64) -> Result<Pairs> {
        let spec = Spec::new(players, request, seed);
        let (record, known) = Record::open::<_, Block>(folder, JOURNAL, &spec)?;
        for (i, block) in known.iter().enumerate() {
            spec.check(block, i as u64)?;
        }
        Ok(Pairs { record, known: known.into(), size: request.block, next: 0 })
    }

    /// The pairs of the next block: what the journal holds, or what is played now, which is then recorded.
    ///
    /// # Errors
    /// If a pair cannot be played, the block cannot be written, or the work was asked to stop.
    pub fn next(&mut self, players: &Players<'_>, context: &Context) -> Result<Vec<Pair>> {
        let number = self.next;
        self.next += 1;
        if let Some(block) = self.known.pop_front() {
            return Ok(block.pairs);
        }
        let jobs = players.subjects.iter().map(|s| parallel::jobs_for(s.env.as_ref(), context.jobs));
        let hidden = Task::begin(&Silent, Arc::clone(&context.stop), 0..0, "");
        let (jobs, first) = (jobs.min().unwrap_or(1), number * self.size);
        let pairs = parallel::map(jobs, self.size as usize, &hidden, |i| players.pair(first + i as u64))?;
        let block = Block { number, pairs };
        self.record.push(&block)?;
        Ok(block.pairs)
    }
}

impl Spec {
    /// What a request plays.
    pub fn new(players: &Players<'_>, request: &Request, seed: u64) -> Spec {
        let [old, new] = players.subjects;
        Spec {
            env: request.env.clone(),
            old: old.name.clone(),
            new: new.name.clone(),
            seed,
            block: request.block,
            drawn: request.scenario.words(),
            anomaly: players.anomaly.cloned(),
            twin: request.twin,
            monitor: players.monitors.map(|monitors| monitors.digest.clone()),
        }
    }

    /// Refuses a block that cannot have come of this comparison.
    fn check(&self, block: &Block, number: u64) -> Result<()> {
        let (place, found) = (|| format!("{JOURNAL}, block {number}"), block.pairs.len());
        ensure!(block.number == number, "{}: expected block {number}, found {}", place(), block.number);
        ensure!(found as u64 == self.block, "{}: expected {} pairs, found {found}", place(), self.block);
        let (nominal, anomalous) = (self.anomaly.is_none() || self.twin, self.anomaly.is_some());
        let sides = block.pairs.iter().flat_map(|pair| [pair.old, pair.new]);
        let fits = sides.fold(true, |fits, side| {
            fits && side.nominal.is_some() == nominal && side.anomalous.is_some() == anomalous
        });
        let watched = |pair: &Pair| pair.episodes().all(|p| p.alarm.is_some() == self.monitor.is_some());
        let fits = fits && block.pairs.iter().all(watched);
        ensure!(fits, "{}: expected the episodes of this comparison, found others", place());
        Ok(())
    }
}
