//! What an adaptive run has learned from its experiments so far, and how it chooses the next draws.
//!
//! A [`Scorer`] says how dangerous draws look; from its scores and the outcomes follow the chances to be tried
//! ([`Allocation`]). When both are fitted anew depends on what the journal holds alone: a run that goes on from its journal
//! has the same rules.

use super::block::{Block, Known};
use super::scorer::{Features, Scorer, TriedDraw};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::record::in_chunks;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_stats::risk::Allocation;
use offnominal_stats::risk::allocation::Scored;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// Failures from which a first rule follows.
const FEWEST: usize = 4;
/// How many times the failures must grow before the next fit.
const GROWTH: f64 = 1.25;
/// How many times the experiments must grow, where failures are too few and margins are learned from.
const GROWTH_OF_MARGINS: usize = 2;
/// Draws whose scores set the mean chance.
const PILOT: usize = 2000;

/// What was read of draws before; a draw can cost as much as building a simulator.
#[derive(Default)]
pub(super) struct Read {
    pilot: Vec<Vec<f32>>,
    experiments: HashMap<u64, Vec<f32>>,
}

/// Who fits rules.
pub(super) struct Refit<'c> {
    /// Who makes the experiments.
    pub by: Experimenter<'c>,
    /// The predictor, if there is one.
    pub guide: Option<&'c Guide>,
    /// Experiments per draw.
    pub rate: f64,
    /// Share of them that is spread evenly.
    pub plain_share: f64,
    /// What was read for earlier rules.
    pub read: &'c Mutex<Read>,
}

/// How the draws of the next blocks are chosen.
pub(super) struct Rule<'c> {
    scorer: Scorer<'c>,
    allocation: Allocation,
}

/// A rule with the buffers of one thread.
pub(super) struct RuleReader<'r> {
    allocation: &'r Allocation,
    features: Features<'r>,
    scorer: &'r Scorer<'r>,
}

/// How many of the blocks the rule for the next one has learned from.
pub(super) fn learned_from(blocks: &[Block]) -> usize {
    let (mut now, mut known, mut learned_from) = ((0, 0), (0, 0), 0);
    for (i, block) in blocks.iter().enumerate() {
        now = (now.0 + block.failures.len(), now.1 + block.margins.len());
        let has_failed = now.0 >= FEWEST && now.0 as f64 >= GROWTH * known.0 as f64;
        let has_margins = now.0 < FEWEST && now.1 > 0 && now.1 >= GROWTH_OF_MARGINS * known.1;
        if has_failed || has_margins {
            (known, learned_from) = (now, i + 1);
        }
    }
    learned_from
}

impl<'c> Refit<'c> {
    /// The rule for the block after these.
    ///
    /// # Errors
    /// If the predictor says something that is no probability, or the work is asked to stop.
    pub fn after(&self, blocks: &[Block], context: &Context) -> Result<Rule<'c>> {
        let learned_from = learned_from(blocks);
        let seen = self.seen(&blocks[..learned_from], context)?;
        let scorer = Scorer::fit(self.by, self.guide, &seen);
        let allocation = self.allocation(&seen, &scorer, context)?;
        Ok(Rule { scorer, allocation })
    }

    /// The experiments of some blocks, with what is read of their draws.
    fn seen(&self, blocks: &[Block], context: &Context) -> Result<Vec<TriedDraw>> {
        let all: Vec<Known> = blocks.iter().flat_map(Block::experiments).collect();
        let read = &mut self.read_before().experiments;
        let new: Vec<u64> = all.iter().map(|e| e.index).filter(|index| !read.contains_key(index)).collect();
        let rows = self.read("experiment", new.len(), |i| new[i as usize], context)?;
        read.extend(new.into_iter().zip(rows));
        let seen = |&Known { index, chance, failed, margin }: &Known| {
            let row = read[&index].clone();
            TriedDraw { row, chance, failed, margin }
        };
        Ok(all.iter().map(seen).collect())
    }

    fn allocation(&self, seen: &[TriedDraw], scorer: &Scorer<'_>, context: &Context) -> Result<Allocation> {
        let has_failed = seen.iter().filter(|s| s.failed).count() >= FEWEST;
        if !has_failed && self.guide.is_none() && !scorer.is_of_margins() {
            return Ok(Allocation::even(self.rate, self.plain_share)?);
        }
        let pilot = &mut self.read_before().pilot;
        if pilot.is_empty() {
            *pilot = self.read("pilot", PILOT, |i| i, context)?;
        }
        let draws: Vec<f64> = pilot.iter().map(|row| scorer.score(row)).collect();
        let known = match has_failed {
            true => scorer.scored(seen),
            false if scorer.is_of_margins() => ranked(&draws),
            false => claimed(&draws),
        };
        Ok(Allocation::fit(self.rate, self.plain_share, &known, &draws)?)
    }

    /// What is read of so many draws of a stream.
    fn read(
        &self,
        stream: &str,
        n: usize,
        index: impl Fn(u64) -> u64 + Sync,
        context: &Context,
    ) -> Result<Vec<Vec<f32>>> {
        in_chunks(context, 0..n as u64, 100, |range| {
            let mut features = Features::new(self.by, self.guide);
            range.map(|i| features.of(&self.by.draw(self.by.key(stream, index(i))))).collect()
        })
    }

    fn read_before(&self) -> MutexGuard<'_, Read> {
        self.read.lock().expect("no thread panics while it reads")
    }
}

/// Before there are experiments the predictor is believed: a draw that it gives the chance q stands for q draws that fail
/// and 1 − q that do not.
fn claimed(draws: &[f64]) -> Vec<Scored> {
    let both = |&score: &f64| {
        let q = 1.0 / (1.0 + (-score).exp());
        [Scored { score, weight: q, failed: true }, Scored { score, weight: 1.0 - q, failed: false }]
    };
    draws.iter().flat_map(both).collect()
}

/// Before failures are known, margins tell the order of draws and no more. The draw at rank r, the nearest to failing first,
/// is taken to fail in proportion to 1 / r (Zipf's law): the chances of most draws fall by half at most.
fn ranked(draws: &[f64]) -> Vec<Scored> {
    let mut order = draws.to_vec();
    order.sort_by(|a, b| b.total_cmp(a));
    let both = |(rank, score): (usize, f64)| {
        let q = 1.0 / (rank as f64 + 1.0);
        [Scored { score, weight: q, failed: true }, Scored { score, weight: 1.0 - q, failed: false }]
    };
    order.into_iter().enumerate().flat_map(both).collect()
}

impl Rule<'_> {
    /// The rule with buffers for one thread.
    pub fn reader(&self) -> RuleReader<'_> {
        RuleReader { allocation: &self.allocation, features: self.scorer.features(), scorer: &self.scorer }
    }
}

impl RuleReader<'_> {
    /// The chance of a draw to be tried.
    ///
    /// # Errors
    /// If the predictor says something that is no probability.
    pub fn chance(&mut self, x: &[f64]) -> Result<f64> {
        Ok(self.allocation.chance(self.scorer.score(&self.features.of(x)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::ending::Ending;
    use crate::estimate::estimation::{Estimation, JOURNAL};
    use crate::testing::{Toy, context, subject};
    use offnominal_engine::judged::Criterion;
    use offnominal_engine::scenario::Scenario;
    use offnominal_engine::subject::Subject;
    use offnominal_stats::Level;
    use std::path::Path;

    fn adaptive(subject: &Subject, seed: u64) -> Estimation<'_> {
        Estimation::adaptive(Experimenter::new(subject, seed).unwrap(), None, 0.1, 0.1).unwrap()
    }

    fn run(of: &Estimation<'_>, folder: Option<&Path>, experiments: u64, jobs: usize) -> Vec<Block> {
        of.run(folder, experiments, &Ending::NONE, &context(jobs)).unwrap()
    }

    #[test]
    fn experiments_go_where_failures_were_and_the_truth_stays_inside() {
        let toy = Toy::new(0.5);
        let subject = subject(&toy);
        let estimation = adaptive(&subject, 1);
        let blocks = run(&estimation, None, 4000, 2);
        let verdict = estimation.judge(&blocks, Level::P95).unwrap();
        let risk = verdict.risk.unwrap();
        assert!(risk.covers(toy.p()) && risk.low > 0.3 * toy.p(), "{risk:.5} {}", toy.p());
        let share = |blocks: &[Block]| {
            let tried: usize = blocks.iter().map(|b| b.tried.len()).sum();
            blocks.iter().map(|b| b.failures.len()).sum::<usize>() as f64 / tried as f64
        };
        let (first, later) = (share(&blocks[..2]), share(&blocks[blocks.len() / 2..]));
        assert!(first < 3.0 * toy.p() && later > 5.0 * toy.p(), "{first} {later} {}", toy.p());
    }

    #[test]
    fn a_killed_run_learns_the_same_and_its_draws_can_be_checked() {
        let (toy, folder) = (Toy::new(0.5), tempfile::tempdir().unwrap());
        let subject = subject(&toy);
        let estimation = adaptive(&subject, 2);
        let (one, cut) = (folder.path().join("one"), folder.path().join("cut"));
        let whole = run(&estimation, Some(&one), 2000, 1);
        assert!(learned_from(&whole) > learned_from(&whole[..5]), "several rules");
        let text = std::fs::read(one.join(JOURNAL)).unwrap();
        std::fs::create_dir(&cut).unwrap();
        std::fs::write(cut.join(JOURNAL), &text[..2 * text.len() / 3]).unwrap();
        let resumed = run(&estimation, Some(&cut), 2000, 3);
        let told = |blocks: &[Block]| -> Vec<_> { blocks.iter().flat_map(Block::experiments).collect() };
        assert_eq!(told(&whole), told(&resumed));
        let failures: Vec<_> = whole.iter().flat_map(|b| &b.failures).collect();
        let chosen: Vec<u64> = failures.iter().step_by(5).map(|f| f.index).collect();
        let again = estimation.draws(&whole, &chosen, &context(2)).unwrap();
        assert!(again.iter().zip(failures.iter().step_by(5)).all(|(a, f)| a.as_ref() == Some(f)));
    }

    /// The toy fails where it begins below so small a number, and says how far above it was.
    fn nearness(least: f64) -> Subject {
        let formula = format!("always (x > {least})").parse().unwrap();
        let scenario = Scenario { draws: None, criterion: Some(Criterion::Stl(vec![formula])) };
        subject(&Toy::new(0.0)).under(Some(scenario)).unwrap()
    }

    #[test]
    fn margins_tell_where_to_look_before_anything_failed() {
        let p = 1e-3;
        let subject = nearness(p);
        let estimation = adaptive(&subject, 3);
        let blocks = run(&estimation, None, 1000, 2);
        assert!(blocks[0].failures.is_empty() && learned_from(&blocks[..1]) == 1, "{:?}", blocks[0]);
        let early: usize = blocks[..5].iter().map(|b| b.failures.len()).sum();
        let all: usize = blocks.iter().map(|b| b.failures.len()).sum();
        assert!(early >= 1 && all as f64 > 5.0 * 1000.0 * p, "{early} {all}");
        let risk = estimation.judge(&blocks, Level::P95).unwrap().risk.unwrap();
        assert!(risk.covers(p), "{risk:.5}");
    }

    #[test]
    fn chances_by_rank_fall_slowly() {
        let draws: Vec<f64> = (0..2000).map(f64::from).collect();
        let rule = Allocation::fit(0.1, 0.1, &ranked(&draws), &draws).unwrap();
        let [nearest, middle, last] = [1999.0, 1000.0, 0.0].map(|score| rule.chance(score));
        assert!(nearest > 5.0 * middle && last > 0.5 * 0.1 && last < middle, "{nearest} {middle} {last}");
    }

    #[test]
    fn a_predictor_is_believed_before_anything_failed() {
        let draws = [vec![-6.0; 900], vec![-1.0; 100]].concat();
        let rule = Allocation::fit(0.1, 0.1, &claimed(&draws), &draws).unwrap();
        let odds = |score: f64| (1.0 / (1.0 + (-score).exp())).sqrt();
        let ratio = (rule.chance(-1.0) - 0.01) / (rule.chance(-6.0) - 0.01);
        assert!((ratio / (odds(-1.0) / odds(-6.0)) - 1.0).abs() < 0.01, "{ratio}");
    }
}
