//! How often a policy fails: experiments by the thousand, in blocks that a killed run need not make again.

use super::block::{Block, ExperimentSpec, Failure, Method, Sample, Top, checked};
use super::chooser::{Chooser, Rule};
use super::ending::Ending;
use super::guided::{self, Guided, Learned};
use super::refit::{self, Read, Refit};
use super::requirement::Requirements;
use super::verdict::Verdict;
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::record::{Record, in_chunks};
use anyhow::{Result, ensure};
use offnominal_engine::context::Context;
use offnominal_engine::progress::Task;
use offnominal_engine::provenance;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_stats::risk::{Allocation, PLAIN_SHARE, Thinning, importance};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// Draws per block, by the cost of one.
const BLOCK: u64 = 2000;
const THINNED_BLOCK: u64 = 20_000;
/// Experiments of a block of an adaptive run, after each of which it may learn.
const ADAPTIVE_BLOCK: f64 = 50.0;
/// Draws from which the mean of f^α is estimated where it only sets a rate.
const PILOT: usize = 4000;

/// A run that is ready.
pub struct Estimation<'c> {
    experimenter: Experimenter<'c>,
    guide: Option<&'c Guide>,
    /// What it estimates and how.
    pub spec: ExperimentSpec,
    /// Whether blocks hold every experiment, for a table.
    keeps_samples: bool,
    read: Mutex<Read>,
    learned: Mutex<Learned>,
}

/// How far a predictor chooses experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    /// Share of the experiments that is spread evenly over all draws.
    pub plain_share: f64,
    /// The power of a prediction that the chance of a draw to be tried grows with.
    pub exponent: f64,
}

impl Default for Proposal {
    fn default() -> Proposal {
        Proposal { plain_share: PLAIN_SHARE, exponent: 0.5 }
    }
}

/// One draw that was tried.
#[derive(Clone)]
struct Tried {
    index: u64,
    chance: f64,
    steps: u64,
    failed: bool,
    margin: Option<f64>,
    failure: Option<Failure>,
    sample: Option<Sample>,
}

impl<'c> Estimation<'c> {
    /// Experiments from plain draws.
    pub fn plain(experimenter: Experimenter<'c>) -> Estimation<'c> {
        Estimation::again(experimenter, None, spec(&experimenter, Method::Plain))
    }

    /// Thinned experiments; if no rate is given, as many draws per experiment as the predictor can use, up to a hundred. The
    /// failures of a share of the draws, those with the highest predictions, may be told apart.
    ///
    /// # Errors
    /// If a setting is out of its range, or the predictor says nothing.
    pub fn thinned(
        experimenter: Experimenter<'c>,
        guide: &'c Guide,
        proposal: Proposal,
        (rate, top_share): (Option<f64>, Option<f64>),
        context: &Context,
    ) -> Result<Estimation<'c>> {
        let mut predictions = guide.survey(&experimenter, "pilot", PILOT, context)?;
        predictions.sort_unstable_by(f64::total_cmp);
        let powers: Vec<f64> =
            predictions.iter().map(|f| f.powf(proposal.exponent).clamp(0.0, 1.0)).collect();
        let mean_power = powers.iter().sum::<f64>() / powers.len() as f64;
        ensure!(mean_power > 0.0, "the predictor is 0 in all of {PILOT} draws: there is nothing to follow");
        // Beyond this rate the most dangerous draws are always tried and more draws would serve better.
        let usable = mean_power / powers[PILOT - PILOT / 1000];
        let rate = rate.unwrap_or(usable.clamp(0.01, 1.0));
        let rule = Thinning::new(rate, proposal.plain_share, proposal.exponent, mean_power)?;
        let top = |share: f64| {
            let least = predictions[(PILOT as f64 * (1.0 - share)) as usize];
            let (outside, of) = guide.outside(share);
            Top { share, from: rule.chance(least), outside, of }
        };
        let method = Method::Thinned {
            predictor: guide.digest.clone(),
            exponent: proposal.exponent,
            plain_share: proposal.plain_share,
            rate,
            mean_power,
            top: top_share.map(top),
        };
        Ok(Estimation::again(experimenter, Some(guide), spec(&experimenter, method)))
    }

    /// Experiments that are chosen by what failed before, and by the predictor if there is one.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn adaptive(
        experimenter: Experimenter<'c>,
        guide: Option<&'c Guide>,
        rate: f64,
        plain_share: f64,
    ) -> Result<Estimation<'c>> {
        Allocation::even(rate, plain_share)?;
        let predictor = guide.map(|guide| guide.digest.clone());
        let method = Method::Adaptive { predictor, plain_share, rate };
        Ok(Estimation::again(experimenter, guide, spec(&experimenter, method)))
    }

    /// Experiments of which a few are drawn where failures were, so that the distribution must be stated.
    ///
    /// # Errors
    /// If it is not, the environment has no margin, or the share is out of its range.
    pub fn importance(experimenter: Experimenter<'c>, plain_share: f64) -> Result<Estimation<'c>> {
        ensure!(plain_share < 1.0, "plain share: expected a number below 1, found {plain_share}");
        let admitted = guided::admitted(&experimenter)?;
        let method = Method::Importance { plain_share, admitted };
        Ok(Estimation::again(experimenter, None, spec(&experimenter, method)))
    }

    /// A run that was made before, with what it was made of.
    pub(crate) fn again(
        experimenter: Experimenter<'c>,
        guide: Option<&'c Guide>,
        spec: ExperimentSpec,
    ) -> Estimation<'c> {
        let (read, learned) = (Mutex::default(), Mutex::default());
        Estimation { experimenter, guide, spec, keeps_samples: false, read, learned }
    }

    /// The same, with every experiment in the blocks.
    pub fn keeping_samples(self, keeps_samples: bool) -> Estimation<'c> {
        Estimation { keeps_samples, ..self }
    }

    /// What comes of some draws of a run with these blocks: how each failed, if it was tried and did.
    ///
    /// # Errors
    /// If the simulator breaks, or the work is asked to stop.
    pub(crate) fn draws(
        &self,
        blocks: &[Block],
        indices: &[u64],
        context: &Context,
    ) -> Result<Vec<Option<Failure>>> {
        let before = |index: &u64| blocks.partition_point(|block| block.first + block.n <= *index);
        let mut rules = BTreeMap::new();
        for index in indices {
            let (known, block) = (&blocks[..before(index)], blocks.get(before(index)));
            let block = block.map_or(0..0, |block| block.first..block.first + block.n);
            if let Entry::Vacant(open) = rules.entry(self.learned_from(known)) {
                open.insert(self.rule(known, block, context)?);
            }
        }
        in_chunks(context, 0..indices.len() as u64, 10, |range| {
            let one = |i: u64| {
                let index = indices[i as usize];
                let rule = rules[&self.learned_from(&blocks[..before(&index)])].as_ref();
                Ok(self.one(index, &mut self.chooser(rule)?)?.and_then(|tried| tried.failure))
            };
            range.map(one).collect()
        })
    }

    /// Draws that give about so many experiments.
    pub fn draws_for(&self, experiments: u64) -> u64 {
        match self.spec.method {
            Method::Thinned { rate, .. } | Method::Adaptive { rate, .. } => {
                (experiments as f64 / rate).ceil() as u64
            }
            Method::Plain | Method::Importance { .. } => experiments,
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
        ending: &Ending,
        context: &Context,
    ) -> Result<Vec<Block>> {
        let planned = self.draws_for(experiments);
        let (mut record, mut blocks) = Record::open::<_, Block>(folder, JOURNAL, &self.spec)?;
        let mut done = checked(&blocks)?;
        ensure!(
            !self.keeps_samples || blocks.iter().all(|block| block.has_samples(&self.spec.method)),
            "table: expected a run that was made with --table from its beginning, found experiments of which only the outcome is \
             known; choose another --out"
        );
        let bar = context.task(planned as usize, "draws");
        bar.set_position(done);
        let mut is_over =
            ending.is_early() && done > 0 && ending.is_due(&self.judge_all(&blocks, ending.level)?);
        let mut rule: Option<(usize, Option<Rule<'_>>)> = None;
        while done < planned && !is_over {
            let size = ending.next_look(done, self.size(done)).min(planned - done);
            let from = self.learned_from(&blocks);
            let known = rule.take().filter(|(learned_from, _)| *learned_from == from);
            let next = || anyhow::Ok((from, self.rule(&blocks, done..done + size, context)?));
            let (_, rule) = rule.insert(known.map_or_else(next, Ok)?);
            // Where a run may stop early no number of draws is planned.
            let of = if ending.is_early() { 0 } else { planned };
            let block = self.block(done, size, of, rule.as_ref(), (context, &bar))?;
            record.push(&block)?;
            done += block.n;
            blocks.push(block);
            self.experimenter.at_most(diverged(&blocks))?;
            is_over = ending.is_early() && ending.is_due(&self.judge_all(&blocks, ending.level)?);
        }
        self.experimenter.at_most(diverged(&blocks))?;
        Ok(blocks)
    }

    /// Draws of the block after so many.
    fn size(&self, done: u64) -> u64 {
        match self.spec.method {
            Method::Thinned { .. } => THINNED_BLOCK,
            Method::Adaptive { rate, .. } => (ADAPTIVE_BLOCK / rate).ceil() as u64,
            Method::Plain => BLOCK,
            Method::Importance { .. } => importance::block(done),
        }
    }

    /// How many of the blocks the rule for the next one has learned from.
    fn learned_from(&self, blocks: &[Block]) -> usize {
        match self.spec.method {
            Method::Importance { .. } => blocks.len(),
            _ => refit::learned_from(blocks),
        }
    }

    /// The rule for the block after these, with the given draws, where experiments are chosen by what failed before.
    fn rule(&self, blocks: &[Block], block: Range<u64>, context: &Context) -> Result<Option<Rule<'_>>> {
        Ok(match self.spec.method {
            Method::Plain | Method::Thinned { .. } => None,
            Method::Adaptive { rate, plain_share, .. } => {
                let (by, guide, read) = (self.experimenter, self.guide, &self.read);
                let refit = Refit { by, guide, rate, plain_share, read };
                Some(Rule::Adaptive(Box::new(refit.after(blocks, context)?)))
            }
            Method::Importance { plain_share, admitted } => {
                let guided = Guided { by: self.experimenter, plain_share, admitted };
                Some(Rule::Importance(Box::new(guided.rule(blocks, block, &self.learned)?)))
            }
        })
    }

    fn chooser<'r>(&'r self, rule: Option<&'r Rule<'_>>) -> Result<Chooser<'r>> {
        Chooser::new(&self.spec.method, self.guide, rule)
    }

    fn block(
        &self,
        first: u64,
        n: u64,
        planned: u64,
        rule: Option<&Rule<'_>>,
        (context, bar): (&Context, &Task),
    ) -> Result<Block> {
        let begun = Instant::now();
        let mut tried: Vec<Tried> = in_chunks(context, first..first + n, 50, |draws| {
            let mut chooser = self.chooser(rule)?;
            let found = draws.clone().filter_map(|i| self.one(i, &mut chooser).transpose()).collect();
            bar.inc(draws.end - draws.start);
            found
        })?;
        let failures = tried.iter_mut().filter_map(|t| t.failure.take()).collect();
        let samples = tried.iter_mut().filter_map(|t| t.sample.take()).collect();
        let steps = tried.iter().map(|t| t.steps).sum();
        let is_plain = self.spec.method == Method::Plain;
        let at = rule.iter().flat_map(|_| tried.iter().map(|t| t.index)).collect();
        // All have one, or the environment has none.
        let margins: Option<Vec<f64>> = rule.and_then(|_| tried.iter().map(|t| t.margin).collect());
        let margins = margins.unwrap_or_default();
        let tried = if is_plain { vec![] } else { tried.iter().map(|t| (t.chance, t.failed)).collect() };
        let secs = begun.elapsed().as_secs_f64();
        Ok(Block { planned, first, n, secs, steps, at, tried, margins, failures, samples })
    }

    /// What comes of one draw; nothing if it is not tried.
    fn one(&self, index: u64, chooser: &mut Chooser<'_>) -> Result<Option<Tried>> {
        let key = self.experimenter.key("experiment", index);
        let Some((x, chance)) = chooser.choose(&self.experimenter, key, index)? else { return Ok(None) };
        let found = self.experimenter.play(key, &x)?;
        let (steps, broken) = (found.steps as u64, found.broken());
        let (failed, margin) = (found.failed, found.margin.filter(|margin| margin.is_finite()));
        let sample = self.keeps_samples.then(|| Sample {
            index,
            x: x.clone(),
            chance,
            steps,
            failed,
            diverged: found.divergence.is_some(),
            margin,
            margins: found.margins.iter().map(|margin| margin.is_finite().then_some(*margin)).collect(),
            broken: broken.clone(),
        });
        let (last, divergence) = (found.last, found.divergence);
        let failure = failed.then_some(Failure { key, index, x, chance, steps, last, divergence, broken });
        Ok(Some(Tried { index, chance, steps, failed, margin, failure, sample }))
    }

    /// What the blocks say, of all failures and of each requirement.
    ///
    /// # Errors
    /// If there is nothing to judge.
    pub fn judge(&self, blocks: &[Block], level: Level) -> Result<Verdict> {
        let mut verdict = self.judge_all(blocks, level)?;
        let names = self.experimenter.subject.env.failure_search().requirements();
        let risk = |blocks: &[Block], level| Ok(self.judge_all(blocks, level)?.risk);
        verdict.requirements = Requirements::of(names, blocks, level, risk)?;
        Ok(verdict)
    }

    /// What the blocks say of all failures.
    fn judge_all(&self, blocks: &[Block], level: Level) -> Result<Verdict> {
        match &self.spec.method {
            Method::Plain => Verdict::plain(blocks, level),
            &Method::Importance { plain_share, admitted } => {
                let guided = Guided { by: self.experimenter, plain_share, admitted };
                let from = guided.ready_from(blocks, &self.learned)?;
                Verdict::importance(blocks, from, plain_share, level)
            }
            method => {
                let verdict = Verdict::thinned(blocks, method.floor()?, level)?;
                let Method::Thinned { top: Some(top), .. } = method else { return Ok(verdict) };
                Ok(verdict.with_parts(blocks, method.floor()?, top, level))
            }
        }
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
    let (simulator, env) = (provenance::hosted(env.spec()), env.spec().id.clone());
    let (policy, scenario) = (name.clone(), scenario.clone());
    ExperimentSpec {
        env,
        simulator,
        policy,
        seed: by.run,
        method,
        scenario,
        anomaly_spec: by.anomaly_spec.cloned(),
    }
}
