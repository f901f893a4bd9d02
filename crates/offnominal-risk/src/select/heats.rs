//! The rounds of a selection that were run, so that one that was killed goes on where it was.

use crate::estimate::block::Method;
use crate::record::Record;
use anyhow::{Result, ensure};
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What is compared, and how; a journal belongs to one of these. Who leaves when, and when the selection ends, may be asked anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The policies.
    pub policies: Vec<PolicyName>,
    /// The seed.
    pub seed: u64,
    /// Which draws are tried, for each policy.
    pub methods: Vec<Method>,
    /// Draws per round.
    pub round: u64,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// A draw that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its number in the round.
    pub at: u64,
    /// Its chance to be tried.
    pub chance: f64,
    /// Whether the policy failed.
    pub failed: bool,
    /// Whether it has no outcome and only counts as a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
}

/// A round of one policy, as the journal keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Heat {
    policy: usize,
    round: u64,
    tried: Vec<Tried>,
}

/// All rounds so far.
pub struct Heats {
    record: Record,
    known: BTreeMap<(usize, u64), Vec<Tried>>,
}

impl Heats {
    /// Those that the journal in a folder holds.
    ///
    /// # Errors
    /// If it is the journal of another selection, or cannot be read or written.
    pub fn open(folder: Option<&Path>, spec: &SelectionSpec) -> Result<Heats> {
        let (record, heats) = Record::open::<_, Heat>(folder, JOURNAL, spec)?;
        for (i, heat) in heats.iter().enumerate() {
            let chances = heat.tried.iter().all(|t| t.chance > 0.0 && t.chance <= 1.0);
            ensure!(chances, "{JOURNAL}, round {i}: expected chances above 0, at most 1");
            let follow = heat.tried.is_sorted_by(|a, b| a.at < b.at);
            let fits = heat.tried.last().is_none_or(|t| t.at < spec.round);
            ensure!(
                follow && fits,
                "{JOURNAL}, round {i}: expected draws below {}, one after another",
                spec.round
            );
        }
        let mut known = BTreeMap::new();
        for (i, Heat { policy, round, tried }) in heats.into_iter().enumerate() {
            let (n, place) = (spec.policies.len(), || format!("{JOURNAL}, round {i}"));
            ensure!(policy < n, "{}: expected one of {n} policies, found number {policy}", place());
            let is_new = known.insert((policy, round), tried).is_none();
            ensure!(
                is_new,
                "{}: expected another round than {round} of policy {policy}, found it again",
                place()
            );
        }
        Ok(Heats { record, known })
    }

    /// A round of a policy: what the journal holds, or what `run` finds, which is then recorded.
    ///
    /// # Errors
    /// If it cannot be run or written.
    pub fn get(
        &mut self,
        policy: usize,
        round: u64,
        run: impl FnOnce() -> Result<Vec<Tried>>,
    ) -> Result<Vec<Tried>> {
        if let Some(tried) = self.known.remove(&(policy, round)) {
            return Ok(tried);
        }
        let heat = Heat { policy, round, tried: run()? };
        self.record.push(&heat)?;
        Ok(heat.tried)
    }

    /// What was tried with a policy: numbers of draws, in order, and whether it failed.
    pub fn of(&self, policy: usize, draws: u64) -> impl Iterator<Item = (u64, bool)> {
        let rounds = self.known.range((policy, 0)..(policy + 1, 0));
        rounds
            .flat_map(move |(&(_, round), tried)| tried.iter().map(move |t| (round * draws + t.at, t.failed)))
    }
}

/// Name of the journal in a selection's folder.
pub const JOURNAL: &str = "race.jsonl";
