//! Pairs of a high-fidelity and a low-fidelity episode, each with its fresh low-fidelity ones, in blocks that a journal keeps: a run that was
//! killed goes on where it was.

use crate::estimate::Request;
use crate::experimenter::{Experiment, Experimenter};
use crate::record::Blocks;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Seed;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::risk::Multifidelity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the journal in the folder of a run.
pub const JOURNAL: &str = "multifidelity.jsonl";

/// What came of some episodes in one simulator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// How many failed; those without an outcome are among them.
    pub failures: u64,
    /// Their steps.
    pub steps: u64,
    /// How many have no outcome.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub diverged: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A high-fidelity episode, the low-fidelity one that begins as it does, and fresh low-fidelity ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The high-fidelity episode.
    pub dear: Played,
    /// The low-fidelity one from the same initial condition with the same random numbers.
    pub cheap: Played,
    /// The low-fidelity ones from elsewhere.
    pub fresh: Played,
}

impl Played {
    /// Those of both.
    #[must_use]
    pub fn and(self, other: Played) -> Played {
        Played {
            failures: self.failures + other.failures,
            steps: self.steps + other.steps,
            diverged: self.diverged + other.diverged,
        }
    }

    fn of(experiment: &Experiment) -> Played {
        Played {
            failures: u64::from(experiment.failed),
            steps: experiment.steps as u64,
            diverged: u64::from(experiment.divergence.is_some()),
        }
    }
}

impl Pair {
    /// Tells the estimate of this pair, which has so many fresh low-fidelity episodes.
    pub fn push(&self, per_dear: u64, found: &mut Multifidelity) {
        let fresh: Vec<f64> = (0..per_dear).map(|i| f64::from(i < self.fresh.failures)).collect();
        found.push(self.dear.failures as f64, self.cheap.failures as f64, &fresh);
    }

    /// Whether it can have come of so many fresh low-fidelity episodes.
    fn fits(&self, per_dear: u64) -> bool {
        let within = |played: Played, n: u64| played.diverged <= played.failures && played.failures <= n;
        within(self.dear, 1) && within(self.cheap, 1) && within(self.fresh, per_dear)
    }
}

/// Who plays pairs.
#[derive(Clone, Copy)]
pub struct Players<'a> {
    /// In the environment in which the failure probability is wanted.
    pub dear: Experimenter<'a>,
    /// In the one that helps.
    pub cheap: Experimenter<'a>,
}

impl Players<'_> {
    /// Plays the pair with this number.
    ///
    /// # Errors
    /// If an episode has no outcome and none may be without one, or environment or policy cannot be used.
    pub fn pair(&self, index: u64, per_dear: u64) -> Result<Pair> {
        let key = self.dear.key("multifidelity", index);
        let played = || -> Result<Pair> {
            let x = self.dear.draw(key);
            let (dear, cheap) = (self.dear.play(key, &x)?, self.cheap.play(key, &x)?);
            let fresh =
                (0..per_dear).try_fold(Played::default(), |sum, k| self.fresh(key, k).map(|p| sum.and(p)));
            Ok(Pair { dear: Played::of(&dear), cheap: Played::of(&cheap), fresh: fresh? })
        };
        played().with_context(|| format!("pair {index}"))
    }

    /// Plays in the low-fidelity environment from elsewhere. Where, the high-fidelity one draws too, so that both low-fidelity outcomes have the
    /// same mean whatever the low-fidelity one draws.
    fn fresh(&self, pair: Seed, k: u64) -> Result<Played> {
        let key = pair.child("fresh").child(k);
        Ok(Played::of(&self.cheap.play(key, &self.dear.draw(key))?))
    }

    /// Insists on no more episodes without an outcome than are accepted.
    ///
    /// # Errors
    /// If there are more.
    pub fn at_most(&self, pairs: &[Pair]) -> Result<()> {
        let of = |pair: &Pair| pair.dear.diverged + pair.cheap.diverged + pair.fresh.diverged;
        self.dear.at_most(pairs.iter().map(of).sum())
    }
}

/// What is played; a journal belongs to one of these. When to stop, and how many pairs at most, may be asked anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    env: String,
    cheap: String,
    /// What simulates those of both that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    simulators: Vec<String>,
    policy: PolicyName,
    parameters: BTreeMap<String, f64>,
    cheap_parameters: BTreeMap<String, f64>,
    per_dear: u64,
    seed: u64,
    block: u64,
}

impl Spec {
    /// That of a request.
    pub fn of(request: &Request, players: &Players<'_>, seed: u64) -> Spec {
        let specs = [players.dear, players.cheap].map(|by| by.subject.env.spec());
        let [env, cheap] = specs.map(|spec| spec.id.clone());
        Spec {
            env,
            cheap,
            simulators: specs.into_iter().filter_map(provenance::hosted).collect(),
            policy: players.dear.subject.name.clone(),
            parameters: request.parameters.iter().cloned().collect(),
            cheap_parameters: request.cheap_parameters.iter().cloned().collect(),
            per_dear: request.per_dear,
            seed,
            block: request.block,
        }
    }

    /// Refuses pairs that cannot have come of this run.
    fn check(&self, pairs: &[Pair]) -> Result<()> {
        let wrong = pairs.iter().find(|pair| !pair.fits(self.per_dear));
        let k = self.per_dear;
        ensure!(wrong.is_none(), "expected one episode in each, and {k} fresh ones, found {wrong:?}");
        Ok(())
    }
}

/// All blocks, one after the other.
pub struct Pairs {
    blocks: Blocks<Pair>,
    per_dear: u64,
}

impl Pairs {
    /// Those that the journal in the folder of a request holds.
    ///
    /// # Errors
    /// If it is the journal of another run, or cannot be read or written.
    pub fn open(request: &Request, players: &Players<'_>, seed: u64) -> Result<Pairs> {
        let spec = Spec::of(request, players, seed);
        let place = (request.out.as_deref(), JOURNAL);
        let blocks = Blocks::open(place, &spec, spec.block, |pairs| spec.check(pairs))?;
        Ok(Pairs { blocks, per_dear: spec.per_dear })
    }

    /// The pairs of the next block.
    ///
    /// # Errors
    /// If a pair cannot be played, the block cannot be written, or the work was asked to stop.
    pub fn next(&mut self, players: &Players<'_>, context: &Context) -> Result<Vec<Pair>> {
        let per_dear = self.per_dear;
        self.blocks.next(context.jobs, context, |index| players.pair(index, per_dear))
    }
}
