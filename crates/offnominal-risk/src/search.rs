//! What finding one failure costs: many searches beside one another, each with randomness of its own.

use crate::block::Failure;
use crate::{Guide, Lab};
use anyhow::{Context as _, Result, ensure};
use offnominal_agents::History;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::randomisation::Change;
use offnominal_files::dataset::PolicyName;
use offnominal_files::journal::Journal;
use offnominal_stats::risk::sampler::cross_entropy::CrossEntropy;
use offnominal_stats::risk::sampler::elites::Elites;
use offnominal_stats::risk::sampler::{ArgmaxOf, Past, Plain, Replay, Sampler};
use offnominal_stats::risk::search::Outcome;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// Where to look.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    EnumString,
    VariantArray,
    IntoStaticStr,
    EnumMessage,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Draws of the world itself
    Random,
    /// Failures of the training, the least noisy and most recent first; then random draws
    Replay,
    /// The draw of many that the predictor finds most dangerous
    Argmax,
    /// A normal distribution that follows the most dangerous conditions
    CrossEntropy,
    /// Variations of the most dangerous condition of each cell of an archive
    Elites,
}

/// What is searched, and how; a journal belongs to one of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The world.
    pub env: String,
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
    /// What is drawn of the world, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shifted: Option<Change>,
}

/// One search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// Experiments that were made.
    pub experiments: usize,
    /// What failed.
    pub failures: Vec<Failure>,
    /// Steps of all episodes.
    pub steps: u64,
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
    lab: Lab<'c>,
    aids: Aids<'c>,
    bounds: Vec<(f64, f64)>,
    spec: Spec,
}

/// Draws from which the range of each number of an initial condition is known.
const RANGE_DRAWS: u64 = 1000;
/// Experiments per step of the cross-entropy method, and the most dangerous ones that are followed.
const CROSS_ENTROPY: (usize, usize) = (50, 10);
/// Cells of an archive per axis; its axes are the first two numbers.
const CELLS: usize = 10;

impl<'c> Hunt<'c> {
    /// Searches as the specification says.
    ///
    /// # Errors
    /// If the strategy needs something that is not given.
    pub fn new(lab: Lab<'c>, aids: Aids<'c>, spec: Spec) -> Result<Hunt<'c>> {
        let needs = |holds: bool, what: &str| {
            ensure!(holds, "strategy {}: expected {what}, found none", name(spec.strategy));
            Ok(())
        };
        match spec.strategy {
            Strategy::Argmax => needs(aids.guide.is_some(), "a --predictor (make one with `risk learn`)")?,
            Strategy::Replay => needs(aids.history.is_some(), "a --history (`train --history` writes it)")?,
            Strategy::CrossEntropy | Strategy::Elites => {
                let has_margin = lab.cast.env.failure_search().margin().is_some();
                needs(has_margin || aids.guide.is_some(), "a --predictor, as the world has no margin")?;
            }
            Strategy::Random => {}
        }
        let follows = matches!(spec.strategy, Strategy::CrossEntropy | Strategy::Elites);
        let bounds = if follows { bounds(&lab) } else { vec![] };
        Ok(Hunt { lab, aids, bounds, spec })
    }

    /// Makes the searches that the journal in a folder does not hold yet, and returns all.
    ///
    /// # Errors
    /// If the folder holds other searches, the simulator breaks, or a file cannot be written.
    pub fn run(&self, folder: &Path, searches: usize, context: &Context) -> Result<Vec<Found>> {
        let (journal, mut found) = Journal::open::<Spec, (usize, Found)>(&folder.join(JOURNAL), &self.spec)?;
        let journal = Mutex::new(journal);
        let known: std::collections::HashSet<usize> = found.iter().map(|f| f.0).collect();
        let open: Vec<usize> = (0..searches).filter(|i| !known.contains(i)).collect();
        let bar = context.task(open.len(), "searches");
        found.extend(parallel::map(context.jobs, open.len(), &bar, |k| {
            let entry = (open[k], self.one(open[k])?);
            journal.lock().expect("no search panics").push(&entry)?;
            anyhow::Ok(entry)
        })?);
        found.sort_by_key(|f| f.0);
        Ok(found.into_iter().filter(|f| f.0 < searches).map(|f| f.1).collect())
    }

    /// One search from its beginning to its end.
    fn one(&self, number: usize) -> Result<Found> {
        let key = self.lab.key(JOURNAL, number as u64);
        let reader = Mutex::new(self.aids.guide.map(|guide| (guide, guide.reader())));
        let trouble = Mutex::new(None);
        let predict = |x: &[f64]| {
            let mut open = reader.lock().expect("predictions do not panic");
            let Some((guide, reader)) = open.as_mut() else { return 0.0 };
            guide.predict(reader, x).unwrap_or_else(|why| {
                *trouble.lock().expect("predictions do not panic") = Some(why);
                0.0
            })
        };
        let mut sampler = self.sampler(&predict)?;
        let (mut rng, mut found) =
            (key.child("proposal").rng(), Found { experiments: 0, failures: vec![], steps: 0 });
        while found.experiments < self.spec.budget && (self.spec.all || found.failures.is_empty()) {
            let x = self.propose(sampler.as_mut(), &mut rng);
            let key = key.child(found.experiments);
            let came = self.lab.play(key, &x)?;
            sampler.learn(&x, Outcome { failed: came.failed, margin: came.margin });
            found.experiments += 1;
            found.steps += came.steps as u64;
            if came.failed {
                let (index, steps) = (found.experiments as u64 - 1, came.steps as u64);
                found.failures.push(Failure { key, index, x, chance: 1.0, steps, last: came.last });
            }
        }
        drop(sampler);
        trouble.into_inner().expect("predictions do not panic").map_or(Ok(found), Err)
    }

    /// The next initial condition that the world can begin from; a draw if the strategy finds none.
    fn propose(&self, sampler: &mut dyn Sampler, rng: &mut offnominal_core::Rng) -> Vec<f64> {
        const TRIES: usize = 100;
        let env = &self.lab.cast.env;
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
                let n = NonZeroUsize::new(self.spec.of).context("--of: expected at least 1, found 0")?;
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
fn bounds(lab: &Lab<'_>) -> Vec<(f64, f64)> {
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); lab.cast.env.spec().initial.len()];
    for i in 0..RANGE_DRAWS {
        for (bound, v) in bounds.iter_mut().zip(lab.draw(lab.key("range", i))) {
            *bound = (bound.0.min(v), bound.1.max(v));
        }
    }
    // A number that is always the same still needs a range.
    bounds.iter().map(|&(l, h)| if h > l { (l, h) } else { (l, l + 1e-9) }).collect()
}

/// Name of the journal in a run's folder, and of the stream.
const JOURNAL: &str = "searches.jsonl";

/// The strategy as it is written on the command line.
pub fn name(strategy: Strategy) -> String {
    <&str>::from(strategy).to_string()
}
