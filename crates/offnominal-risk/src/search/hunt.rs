//! Many searches for failures beside one another, each with randomness of its own.

use super::order::rank;
use crate::estimate::block::{Failure, one_after_another};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::record::{Numbered, Piece};
use anyhow::{Context as _, Result, ensure};
use offnominal_agents::History;
use offnominal_engine::context::Context;
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use offnominal_stats::risk::sampler::cross_entropy::CrossEntropy;
use offnominal_stats::risk::sampler::elites::Elites;
use offnominal_stats::risk::sampler::{ArgmaxOf, Outcome, Past, Plain, Replay, Sampler};
use offnominal_stats::risk::search::Search;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// Where to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum Strategy {
    /// Plain sampling
    Random,
    /// Failures of training, least noisy and latest first; then random
    Replay,
    /// The candidate with the highest predicted risk
    Argmax,
    /// A normal distribution that follows high predictions
    CrossEntropy,
    /// Mutations of the best candidate of each archive cell
    Elites,
}

/// What is searched, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSpec {
    /// The environment.
    pub env: String,
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
    /// The policy.
    pub policy: PolicyName,
    /// The seed.
    pub seed: u64,
    /// Where to look.
    pub strategy: Strategy,
    /// Draws that are compared.
    pub of: usize,
    /// Experiments after which a search gives up.
    pub budget: usize,
    /// Whether a search goes on after its first failure, to the end of its budget.
    pub all: bool,
    /// Digest of the predictor.
    pub predictor: Option<String>,
    /// Number of failures of the history.
    pub past_failures: Option<usize>,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchRun {
    /// Experiments that were made.
    pub experiments: usize,
    /// What failed.
    pub failures: Vec<Failure>,
    /// Steps of all episodes.
    pub steps: u64,
}

impl SearchRun {
    /// The search up to the first failure that was sought.
    pub(super) fn first(&self) -> Search {
        let failure = self.failures.iter().find(|failure| is_sought(failure));
        let experiments = failure.map_or(self.experiments, |first| first.index as usize + 1);
        Search { experiments, has_failed: failure.is_some() }
    }
}

/// Whether a search ends with a failure: of several requirements with that of the most important one.
fn is_sought(failure: &Failure) -> bool {
    failure.broken.first().is_none_or(|number| *number == 1)
}

/// What a search may use.
#[derive(Clone, Copy, Default)]
pub struct Aids<'a> {
    /// A predictor.
    pub guide: Option<&'a Guide>,
    /// The training.
    pub history: Option<&'a History>,
}

/// Searches that are ready.
pub struct Hunt<'c> {
    experimenter: Experimenter<'c>,
    aids: Aids<'c>,
    bounds: Vec<(f64, f64)>,
    spec: SearchSpec,
}

/// Draws from which the range of each number of an initial condition is known.
const RANGE_DRAWS: u64 = 1000;
/// Experiments per step of the cross-entropy method, and the most dangerous ones that are followed.
pub(crate) const CROSS_ENTROPY: (usize, usize) = (50, 10);
/// Cells of an archive per axis; its axes are the first two numbers.
const CELLS: usize = 10;

impl<'c> Hunt<'c> {
    /// Searches as the specification says.
    ///
    /// # Errors
    /// If the strategy needs something that is not given.
    pub fn new(experimenter: Experimenter<'c>, aids: Aids<'c>, spec: SearchSpec) -> Result<Hunt<'c>> {
        let needs = |holds: bool, what: &str| {
            ensure!(holds, "strategy {}: expected {what}, found none", spec.strategy.name());
            Ok(())
        };
        match spec.strategy {
            Strategy::Argmax => needs(aids.guide.is_some(), "a predictor (make one with `risk learn`)")?,
            Strategy::Replay => needs(aids.history.is_some(), "a history (`train --history` writes it)")?,
            Strategy::CrossEntropy | Strategy::Elites => {
                let has_margin = experimenter.subject.env.failure_search().margin().is_some();
                needs(has_margin || aids.guide.is_some(), "a predictor, as the environment has no margin")?;
            }
            Strategy::Random => {}
        }
        let follows = matches!(spec.strategy, Strategy::CrossEntropy | Strategy::Elites);
        let bounds = if follows { bounds(&experimenter) } else { vec![] };
        Ok(Hunt { experimenter, aids, bounds, spec })
    }

    /// Makes the searches that the journal in the folder, if there is one, does not hold yet, and returns all.
    ///
    /// # Errors
    /// If the folder holds other searches, the simulator breaks, or a file cannot be written.
    pub fn run(&self, folder: Option<&Path>, searches: u64, context: &Context) -> Result<Vec<SearchRun>> {
        let work = Numbered { folder, journal: JOURNAL, what: "searches", run: &self.spec };
        let found = work.all(searches, context, |number| Ok((number, self.one(number)?)))?;
        let failures = found.iter().flat_map(|f| &f.1.failures);
        self.experimenter.at_most(failures.filter(|f| f.divergence.is_some()).count() as u64)?;
        Ok(found.into_iter().map(|f| f.1).collect())
    }

    /// One search from its beginning to its end.
    fn one(&self, number: u64) -> Result<SearchRun> {
        let key = self.experimenter.key(JOURNAL, number);
        let reader = Mutex::new(self.aids.guide.map(|guide| (guide, guide.reader())));
        let error = Mutex::new(None);
        let predict = |x: &[f64]| {
            let mut open = reader.lock().expect("predictions do not panic");
            let Some((guide, reader)) = open.as_mut() else { return 0.0 };
            guide.predict(reader, x).unwrap_or_else(|why| {
                *error.lock().expect("predictions do not panic") = Some(why);
                0.0
            })
        };
        let mut sampler = self.sampler(&predict)?;
        let (mut rng, mut found) =
            (key.child("proposal").rng(), SearchRun { experiments: 0, failures: vec![], steps: 0 });
        let is_over = |found: &SearchRun| !self.spec.all && found.failures.last().is_some_and(is_sought);
        while found.experiments < self.spec.budget && !is_over(&found) {
            let x = self.propose(sampler.as_mut(), &mut rng);
            let key = key.child(found.experiments);
            let came = self.experimenter.play(key, &x)?;
            let margin = if came.margins.is_empty() { came.margin } else { Some(rank(&came.margins)) };
            sampler.learn(&x, Outcome { failed: came.failed, margin, nearest: None });
            found.experiments += 1;
            found.steps += came.steps as u64;
            if came.failed {
                let (index, steps) = (found.experiments as u64 - 1, came.steps as u64);
                let broken = came.broken();
                let (last, divergence) = (came.last, came.divergence);
                found.failures.push(Failure { key, index, x, chance: 1.0, steps, last, divergence, broken });
            }
        }
        drop(sampler);
        error.into_inner().expect("predictions do not panic").map_or(Ok(found), Err)
    }

    /// The next initial condition that the environment can begin from; a draw if the strategy finds none.
    fn propose(&self, sampler: &mut dyn Sampler, rng: &mut offnominal_core::Rng) -> Vec<f64> {
        const TRIES: usize = 100;
        let env = &self.experimenter.subject.env;
        for _ in 0..TRIES {
            let x = sampler.propose(&mut |rng| env.draw(rng), rng);
            if env.failure_search().admits(&x) {
                return x;
            }
        }
        env.draw(rng)
    }

    fn sampler<'p>(&'p self, predict: &'p dyn Fn(&[f64]) -> f64) -> Result<Box<dyn Sampler + 'p>> {
        let (batch, elites) = CROSS_ENTROPY;
        Ok(match self.spec.strategy {
            Strategy::Random => Box::new(Plain),
            Strategy::Replay => Box::new(Replay::new(self.past()?)),
            Strategy::Argmax => {
                let n = NonZeroUsize::new(self.spec.of).context("of: expected at least 1, found 0")?;
                Box::new(ArgmaxOf { n, predict })
            }
            Strategy::CrossEntropy => Box::new(CrossEntropy::new(&self.bounds, batch, elites, predict)),
            Strategy::Elites => {
                let axes: Vec<usize> = (0..self.bounds.len().min(2)).collect();
                Box::new(Elites::new(&self.bounds, &axes, CELLS, predict))
            }
        })
    }

    fn past(&self) -> Result<Vec<Past>> {
        let history = self.aids.history.context("expected a history, found none")?;
        let failed = history.episodes.iter().filter(|e| e.failed);
        Ok(failed.map(|e| Past { x: e.initial.clone(), noise: e.noise, time: e.step }).collect())
    }
}

/// The smallest and the largest of each number in draws.
fn bounds(experimenter: &Experimenter<'_>) -> Vec<(f64, f64)> {
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); experimenter.subject.env.spec().initial.len()];
    for i in 0..RANGE_DRAWS {
        for (bound, v) in bounds.iter_mut().zip(experimenter.draw(experimenter.key("range", i))) {
            *bound = (bound.0.min(v), bound.1.max(v));
        }
    }
    // A number that is always the same still needs a range.
    bounds.iter().map(|&(l, h)| if h > l { (l, h) } else { (l, l + 1e-9) }).collect()
}

/// Name of the journal in a run's folder, and of the stream.
const JOURNAL: &str = "searches.jsonl";

impl Piece for (u64, SearchRun) {
    fn number(&self) -> u64 {
        self.0
    }

    fn check(&self) -> Result<()> {
        let SearchRun { experiments, failures, .. } = &self.1;
        one_after_another(failures.iter().map(|f| f.index), 0..*experiments as u64, "failures")
    }
}

impl Strategy {
    /// The strategy as requests write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
