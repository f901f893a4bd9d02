//! The blocks of pairs that were played, in a journal, so that a comparison that was killed goes on where it was.

use super::Request;
use super::pair::{Pair, Players};
use crate::record::Blocks;
use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::provenance;
use offnominal_files::dataset::PolicyName;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the journal in the folder of a comparison.
pub const JOURNAL: &str = "pairs.jsonl";

/// What is played; a journal belongs to one of these. What decides, and how many pairs at most, may be asked anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    simulator: Option<String>,
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

/// All blocks, one after the other.
pub struct Pairs(Blocks<Pair>);

impl Pairs {
    /// Those that the journal in a folder holds.
    ///
    /// # Errors
    /// If it is the journal of another comparison, or cannot be read or written.
    pub fn open(folder: Option<&Path>, players: &Players<'_>, request: &Request, seed: u64) -> Result<Pairs> {
        let spec = Spec::new(players, request, seed);
        Ok(Pairs(Blocks::open((folder, JOURNAL), &spec, spec.block, |pairs| spec.check(pairs))?))
    }

    /// The pairs of the next block.
    ///
    /// # Errors
    /// If a pair cannot be played, the block cannot be written, or the work was asked to stop.
    pub fn next(&mut self, players: &Players<'_>, context: &Context) -> Result<Vec<Pair>> {
        let jobs = players.subjects.iter().map(|s| parallel::jobs_for(s.env.as_ref(), context.jobs));
        self.0.next(jobs.min().unwrap_or(1), context, |index| players.pair(index))
    }
}

impl Spec {
    /// What a request plays.
    pub fn new(players: &Players<'_>, request: &Request, seed: u64) -> Spec {
        let [old, new] = players.subjects;
        Spec {
            env: request.place(),
            simulator: provenance::hosted(players.subjects[0].env.spec()),
            old: old.name.clone(),
            new: new.name.clone(),
            seed,
            block: request.pairs_of_block(),
            drawn: request.scenario.words(),
            anomaly: players.anomaly.cloned(),
            twin: request.twin,
            monitor: players.monitors.map(|monitors| monitors.digest.clone()),
        }
    }

    /// Refuses pairs that cannot have come of this comparison.
    fn check(&self, pairs: &[Pair]) -> Result<()> {
        let (nominal, anomalous) = (self.anomaly.is_none() || self.twin, self.anomaly.is_some());
        let sides = pairs.iter().flat_map(|pair| [pair.old, pair.new]);
        let fits = sides.fold(true, |fits, side| {
            fits && side.nominal.is_some() == nominal && side.anomalous.is_some() == anomalous
        });
        let watched = |pair: &Pair| pair.episodes().all(|p| p.alarm.is_some() == self.monitor.is_some());
        let fits = fits && pairs.iter().all(watched);
        ensure!(fits, "expected the episodes of this comparison, found others");
        Ok(())
    }
}
