//! A selection in rounds on the same draws, in which those policies leave that are surely worse than another.

use super::heats::{Heats, SelectionSpec, Tried};
use crate::experimenter::Experimenter;
use crate::guide::Guide;
use crate::record::in_chunks;
use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;
use offnominal_stats::risk::{HorvitzThompson, SuccessiveElimination, Thinning, counting};
use serde::Serialize;
use std::path::Path;

/// How a selection is run.
pub struct Rules<'g> {
    /// What is compared, and how.
    pub spec: SelectionSpec,
    /// The predictor by which draws are thinned, opened for each policy; none if all draws are tried.
    pub guides: &'g [Guide],
    /// Experiments of each policy after which the selection ends.
    pub budget: u64,
    /// Probability with which the best is never thrown out.
    pub level: Level,
}

/// One policy at the end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contender {
    /// The policy.
    pub policy: String,
    /// Experiments that were made with it.
    pub experiments: u64,
    /// How many failed.
    pub failures: u64,
    /// How many of these have no outcome and only count as failures.
    pub diverged: u64,
    /// Its failure probability, at the level of the selection shared among all.
    pub risk: Option<Estimate>,
    /// Whether it may still be the best.
    pub may_be_best: bool,
}

/// Which policy one would choose at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Experiments that were made by then, with all policies.
    pub experiments: u64,
    /// Those with the lowest estimate; one of them by lot.
    pub policies: Vec<usize>,
}

/// How a selection ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// Who is left.
    pub standing: Standing,
    /// Where each policy ended.
    pub contenders: Vec<Contender>,
    /// What one would have chosen after each round.
    pub choices: Vec<Choice>,
}

/// What is known of a policy.
struct Runner<'c> {
    experimenter: Experimenter<'c>,
    rule: Option<(&'c Guide, Thinning)>,
    thinned: Option<HorvitzThompson>,
    rounds: u64,
    experiments: u64,
    failures: u64,
    diverged: u64,
}

/// Runs what the journal in the folder, if there is one, does not hold yet of a selection; draws are the same for all
/// policies.
///
/// # Errors
/// If there are no policies, a setting is out of range, the folder holds another selection, the simulator breaks, or a file
/// cannot be written.
pub fn eliminate(
    subjects: &[Subject],
    rules: &Rules<'_>,
    folder: Option<&Path>,
    context: &Context,
) -> Result<Finish> {
    ensure!(rules.spec.round > 0, "draws per round: expected at least 1, found 0");
    let mut selection = SuccessiveElimination::new(subjects.len(), rules.level)?;
    let runner = |(i, subject): (usize, _)| {
        let rule = rules.spec.methods[i].thinning()?;
        let experimenter = Experimenter::new(subject, context.seed)?.allowing(context.allow_diverged);
        Ok(Runner::new(experimenter, rules.guides.get(i).zip(rule)))
    };
    let mut runners: Vec<Runner<'_>> = subjects.iter().enumerate().map(runner).collect::<Result<_>>()?;
    let (mut heats, mut choices) = (Heats::open(folder, &rules.spec)?, Vec::new());
    let bar = context.task(rules.budget as usize, "experiments of each policy");
    while let Standing::Unresolved { left } = selection.standing() {
        let most = left.iter().map(|&i| runners[i].experiments).max().unwrap_or(0);
        bar.set_position(most);
        if most >= rules.budget {
            break;
        }
        for i in left {
            // A policy may be out by what was seen of others in the same round.
            if selection.is_in(i) {
                let (runner, draws) = (&mut runners[i], rules.spec.round);
                let tried = heats.get(i, runner.rounds, || runner.heat(draws, context))?;
                runner.record(&tried, draws);
                runner.experimenter.at_most(runner.diverged)?;
                selection.update(i, runner.risk(selection.level_of_each())?)?;
            }
        }
        let experiments = runners.iter().map(|r| r.experiments).sum();
        choices.push(Choice { experiments, policies: selection.lowest() });
    }
    let level = selection.level_of_each();
    let contender = |(i, r): (usize, &Runner<'_>)| Contender {
        policy: subjects[i].name.id.clone(),
        experiments: r.experiments,
        failures: r.failures,
        diverged: r.diverged,
        risk: r.risk(level).ok(),
        may_be_best: selection.is_in(i),
    };
    let contenders = runners.iter().enumerate().map(contender).collect();
    Ok(Finish { standing: selection.standing(), contenders, choices })
}

impl<'c> Runner<'c> {
    fn new(experimenter: Experimenter<'c>, rule: Option<(&'c Guide, Thinning)>) -> Runner<'c> {
        let thinned = rule.map(|(_, rule)| HorvitzThompson::new(rule.floor()));
        Runner { experimenter, rule, thinned, rounds: 0, experiments: 0, failures: 0, diverged: 0 }
    }

    /// What comes of the draws of the next round.
    fn heat(&self, draws: u64, context: &Context) -> Result<Vec<Tried>> {
        let one = |at| self.one(self.rounds * draws + at, at).transpose();
        in_chunks(context, 0..draws, 50, |range| range.filter_map(one).collect())
    }

    /// What comes of a draw; nothing if it is not tried.
    fn one(&self, index: u64, at: u64) -> Result<Option<Tried>> {
        let key = key(&self.experimenter, index);
        let x = self.experimenter.draw(key);
        let mut chance = 1.0;
        if let Some((guide, rule)) = self.rule {
            chance = rule.chance(guide.predict(&mut guide.reader(), &x)?);
            if key.child("thinning").rng().uniform() >= chance {
                return Ok(None);
            }
        }
        let came = self.experimenter.play(key, &x)?;
        Ok(Some(Tried { at, chance, failed: came.failed, diverged: came.divergence.is_some() }))
    }

    /// Adds what was tried of the draws of a round.
    fn record(&mut self, tried: &[Tried], draws: u64) {
        self.rounds += 1;
        self.experiments += tried.len() as u64;
        self.failures += tried.iter().filter(|t| t.failed).count() as u64;
        self.diverged += tried.iter().filter(|t| t.diverged).count() as u64;
        let Some(found) = &mut self.thinned else { return };
        let mut next = 0;
        for t in tried {
            found.skip_many((t.at - next) as usize);
            found.record(t.chance, t.failed);
            next = t.at + 1;
        }
        found.skip_many((draws - next) as usize);
    }

    fn risk(&self, level: Level) -> Result<Estimate> {
        Ok(match &self.thinned {
            Some(found) => found.estimate(level)?,
            None => counting::sequence(self.failures as usize, self.experiments as usize, level)?,
        })
    }
}

/// The key of a draw, the same for all policies.
pub(super) fn key(experimenter: &Experimenter<'_>, index: u64) -> Seed {
    experimenter.key("selection", index)
}
