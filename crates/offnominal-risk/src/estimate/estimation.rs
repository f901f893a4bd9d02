//! How often a policy fails: experiments by the thousand, in blocks that a killed run need not make again.

use super::block::{Block, ExperimentSpec, Failure, Method, checked};
use super::goal::Goal;
use super::verdict::Verdict;
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::predictors::predictor::Reader;
use crate::record::{Record, in_chunks};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_stats::risk::{Pool, Proposal, Thinning};
use std::path::Path;
use std::time::Instant;

/// Draws per block, by the cost of one.
const BLOCK: u64 = 2000;
const THINNED_BLOCK: u64 = 20_000;
/// Draws from which the mean of f^α is estimated where it only sets a rate.
const PILOT: usize = 4000;

/// A run that is ready.
pub struct Estimation<'c> {
    experimenter: Experimenter<'c>,
    guide: Option<&'c Guide>,
    /// What it estimates and how.
    pub spec: ExperimentSpec,
}

/// One draw that was tried.
#[derive(Clone)]
struct Tried {
    chance: f64,
    steps: u64,
    failed: bool,
    failure: Option<Failure>,
}

impl<'c> Estimation<'c> {
    /// Experiments from plain draws.
    pub fn plain(experimenter: Experimenter<'c>) -> Estimation<'c> {
        Estimation { experimenter, guide: None, spec: spec(&experimenter, Method::Plain) }
    }

    /// Thinned experiments; if no rate is given, as many draws per experiment as the predictor can use, up to a hundred.
    ///
    /// # Errors
    /// If a setting is out of its range, or the predictor says nothing.
    pub fn thinned(
        experimenter: Experimenter<'c>,
        guide: &'c Guide,
        proposal: Proposal,
        rate: Option<f64>,
        context: &Context,
    ) -> Result<Estimation<'c>> {
        let mut powers = guide.survey(&experimenter, "pilot", PILOT, context)?;
        powers.iter_mut().for_each(|f| *f = proposal.chance(*f));
        let mean_power = powers.iter().sum::<f64>() / powers.len() as f64;
        ensure!(mean_power > 0.0, "the predictor is 0 in all of {PILOT} draws: there is nothing to follow");
        powers.sort_unstable_by(f64::total_cmp);
        // Beyond this rate the most dangerous draws are always tried and more draws would serve better.
        let usable = mean_power / powers[PILOT - PILOT / 1000];
        let rate = rate.unwrap_or(usable.clamp(0.01, 1.0));
        Thinning::new(rate, proposal.plain_share, proposal.exponent, mean_power)?;
        let method = Method::Thinned {
            predictor: guide.digest.clone(),
            exponent: proposal.exponent,
            plain_share: proposal.plain_share,
            rate,
            mean_power,
        };
        Ok(Estimation { experimenter, guide: Some(guide), spec: spec(&experimenter, method) })
    }

    /// Experiments from accepted draws.
    pub fn accepted(by: Experimenter<'c>, guide: &'c Guide, proposal: Proposal, draws: usize) -> Self {
        let Proposal { exponent, plain_share } = proposal;
        let method = Method::Accepted { predictor: guide.digest.clone(), exponent, plain_share, draws };
        Estimation { experimenter: by, guide: Some(guide), spec: spec(&by, method) }
    }

    /// A run that was made before, with what it was made of.
    pub(crate) fn again(
        experimenter: Experimenter<'c>,
        guide: Option<&'c Guide>,
        spec: ExperimentSpec,
    ) -> Estimation<'c> {
        Estimation { experimenter, guide, spec }
    }

    /// What comes of some draws: how each failed, if it was tried and did.
    ///
    /// # Errors
    /// If the simulator breaks, or the work is asked to stop.
    pub(crate) fn draws(&self, indices: &[u64], context: &Context) -> Result<Vec<Option<Failure>>> {
        in_chunks(context, 0..indices.len() as u64, 10, |range| {
            let mut reader = self.guide.map(Guide::reader);
            let one =
                |i: u64| Ok(self.one(indices[i as usize], reader.as_mut())?.and_then(|tried| tried.failure));
            range.map(one).collect()
        })
    }

    /// Draws that give about so many experiments.
    pub fn draws_for(&self, experiments: u64) -> u64 {
        match self.spec.method {
            Method::Thinned { rate, .. } => (experiments as f64 / rate).ceil() as u64,
            Method::Plain | Method::Accepted { .. } => experiments,
        }
    }

    /// Makes what the journal in the folder, if there is one, does not hold yet, and returns all blocks. The run ends
    /// early where the intervals say so.
    ///
    /// # Errors
    /// If the folder holds another run, the simulator breaks, or a file cannot be written.
    pub fn run(
        &self,
        folder: Option<&Path>,
        experiments: u64,
        goal: &Goal,
        context: &Context,
    ) -> Result<Vec<Block>> {
        let planned = self.draws_for(experiments);
        let (mut record, mut blocks) = Record::open::<_, Block>(folder, JOURNAL, &self.spec)?;
        let mut done = checked(&blocks)?;
        let bar = context.task(planned as usize, "draws");
        bar.set_position(done);
        let mut is_over =
            goal.is_early() && done > 0 && goal.is_due(&self.judge(&blocks, goal.level, context)?);
        while done < planned && !is_over {
            let size = goal.next_look(done, self.size()).min(planned - done);
            // Where a run may stop early no number of draws is planned.
            let of = if goal.is_early() { 0 } else { planned };
            let block = self.block(done, size, of, context, &bar)?;
            record.push(&block)?;
            done += block.n;
            blocks.push(block);
            self.experimenter.at_most(diverged(&blocks))?;
            is_over = goal.is_early() && goal.is_due(&self.judge(&blocks, goal.level, context)?);
        }
        self.experimenter.at_most(diverged(&blocks))?;
        Ok(blocks)
    }

    fn size(&self) -> u64 {
        if matches!(self.spec.method, Method::Thinned { .. }) { THINNED_BLOCK } else { BLOCK }
    }

    fn block(&self, first: u64, n: u64, planned: u64, context: &Context, bar: &Task) -> Result<Block> {
        let begun = Instant::now();
        let mut tried: Vec<Tried> = in_chunks(context, first..first + n, 50, |draws| {
            let mut reader = self.guide.map(Guide::reader);
            let found = draws.clone().filter_map(|i| self.one(i, reader.as_mut()).transpose()).collect();
            bar.inc(draws.end - draws.start);
            found
        })?;
        let failures = tried.iter_mut().filter_map(|t| t.failure.take()).collect();
        let steps = tried.iter().map(|t| t.steps).sum();
        let is_plain = self.spec.method == Method::Plain;
        let tried = if is_plain { vec![] } else { tried.iter().map(|t| (t.chance, t.failed)).collect() };
        Ok(Block { planned, first, n, secs: begun.elapsed().as_secs_f64(), steps, tried, failures })
    }

    /// What comes of one draw; nothing if it is not tried.
    fn one(&self, index: u64, reader: Option<&mut Reader<'_>>) -> Result<Option<Tried>> {
        let key = self.experimenter.key("experiment", index);
        let guided = self.guide.zip(reader);
        let (x, chance) = match (&self.spec.method, guided) {
            (Method::Thinned { .. }, Some((guide, reader))) => {
                let x = self.experimenter.draw(key);
                let chance = self.thinning()?.chance(guide.predict(reader, &x)?);
                if key.child("thinning").rng().uniform() >= chance {
                    return Ok(None);
                }
                (x, chance)
            }
            (Method::Accepted { .. }, Some((guide, reader))) => self.accept(key, guide, reader)?,
            _ => (self.experimenter.draw(key), 1.0),
        };
        let found = self.experimenter.play(key, &x)?;
        let steps = found.steps as u64;
        let (last, divergence) = (found.last, found.divergence);
        let failure = || Failure { key, index, x, chance, steps, last, divergence };
        Ok(Some(Tried { chance, steps, failed: found.failed, failure: found.failed.then(failure) }))
    }

    /// Draws until the predictor accepts.
    fn accept(&self, key: Seed, guide: &Guide, reader: &mut Reader<'_>) -> Result<(Vec<f64>, f64)> {
        let draw = |rng: &mut Rng| {
            let x = self.experimenter.subject.env.draw(rng);
            let predicted = guide.predict(reader, &x);
            (x, predicted)
        };
        // A draw without a prediction is accepted, so that its error comes back.
        let chance = |(_, predicted): &(Vec<f64>, Result<f64>)| *predicted.as_ref().unwrap_or(&1.0);
        let ((x, predicted), chance) = self.proposal().next(draw, chance, &mut key.child("proposal").rng());
        predicted.map(|_| (x, chance))
    }

    fn thinning(&self) -> Result<Thinning> {
        self.spec.method.thinning()?.context("only thinned experiments have a rule")
    }

    fn proposal(&self) -> Proposal {
        match self.spec.method {
            Method::Thinned { exponent, plain_share, .. }
            | Method::Accepted { exponent, plain_share, .. } => Proposal { plain_share, exponent },
            Method::Plain => Proposal { plain_share: 1.0, exponent: 1.0 },
        }
    }

    /// What the blocks say.
    ///
    /// # Errors
    /// If there is nothing to judge.
    pub fn judge(&self, blocks: &[Block], level: Level, context: &Context) -> Result<Verdict> {
        match &self.spec.method {
            Method::Plain => Verdict::plain(blocks, level),
            Method::Thinned { .. } => Verdict::thinned(blocks, self.thinning()?, level),
            Method::Accepted { draws, .. } => {
                Verdict::accepted(blocks, self.pool(*draws, level, context)?, level)
            }
        }
    }

    /// The pool that weighs accepted experiments; its constant comes from draws of a stream of their own.
    fn pool(&self, draws: usize, level: Level, context: &Context) -> Result<Pool> {
        let guide = self.guide.expect("accepted draws have a guide");
        let predictions = guide.survey(&self.experimenter, "constant", draws, context)?;
        let (mut at, mut unused) = (predictions.iter(), Rng::new(0));
        let next = |_: &mut Rng| *at.next().expect("as many predictions as draws");
        Ok(self.proposal().pool(draws, level, next, |f: &f64| *f, &mut unused)?)
    }
}

/// Experiments of the blocks that have no outcome.
pub(super) fn diverged(blocks: &[Block]) -> u64 {
    blocks.iter().flat_map(|b| &b.failures).filter(|f| f.divergence.is_some()).count() as u64
}

/// Name of the journal in a run's folder.
pub const JOURNAL: &str = "journal.jsonl";

fn spec(by: &Experimenter<'_>, method: Method) -> ExperimentSpec {
    let Subject { env, name, scenario, .. } = by.subject;
    let (env, policy, scenario) = (env.spec().id.clone(), name.clone(), scenario.clone());
    ExperimentSpec { env, policy, seed: by.run, method, scenario, anomaly_spec: by.anomaly_spec.cloned() }
}
