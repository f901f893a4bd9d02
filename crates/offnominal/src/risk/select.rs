//! Which of many policies fails least: a race in rounds on the same draws, in which those leave that are surely worse.

use super::{Guide, Lab};
use crate::cast::Cast;
use crate::{common::Common, parallel, progress};
use anyhow::{Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::selection::Standing;
use offnominal_stats::risk::{HorvitzThompson, Race, Thinning, counting};

/// How a race is run.
pub struct Rules<'g> {
    /// With a predictor, draws are thinned; without one all are tried.
    pub thinned: Option<(&'g Guide, Thinning)>,
    /// Draws per round.
    pub round: u64,
    /// Experiments of each policy after which the race ends.
    pub budget: u64,
    /// Probability with which the best is never thrown out.
    pub level: Level,
}

/// One policy at the end.
#[derive(Debug, Clone)]
pub struct Contender {
    /// Experiments that were made with it.
    pub experiments: u64,
    /// How many failed.
    pub failures: u64,
    /// Its failure probability, at the level of the race shared among all.
    pub risk: Option<Estimate>,
    /// Whether it may still be the best.
    pub is_in: bool,
}

/// What is known of a policy.
struct Runner<'c> {
    lab: Lab<'c>,
    thinned: Option<HorvitzThompson>,
    draws: u64,
    experiments: u64,
    failures: u64,
}

/// Runs the race; draws, and what is tried of them, are the same for all policies.
///
/// # Errors
/// If there are no policies, a setting is out of range, or the simulator breaks.
pub fn race(casts: &[Cast], rules: &Rules<'_>, common: &Common) -> Result<(Standing, Vec<Contender>)> {
    let mut race = Race::new(casts.len(), rules.level)?;
    let floor = rules.thinned.as_ref().map(|(_, rule)| rule.floor());
    let begin = |cast| {
        let (lab, thinned) = (Lab::new(cast, common.seed)?, floor.map(HorvitzThompson::new));
        Ok(Runner { lab, thinned, draws: 0, experiments: 0, failures: 0 })
    };
    let mut runners: Vec<Runner<'_>> = casts.iter().map(begin).collect::<Result<_>>()?;
    let bar = progress::bar(common.quiet, rules.budget as usize, "experiments of each policy");
    while matches!(race.standing(), Standing::Unresolved { .. }) {
        let done =
            runners.iter().enumerate().filter(|(i, _)| race.is_in(*i)).map(|(_, r)| r.experiments).max();
        if done.unwrap_or(0) >= rules.budget {
            break;
        }
        bar.set_position(done.unwrap_or(0));
        for (i, runner) in runners.iter_mut().enumerate() {
            if race.is_in(i) {
                runner.advance(rules, common.jobs)?;
                race.update(i, runner.risk(race.level_of_each())?)?;
            }
        }
    }
    bar.finish_and_clear();
    let level = race.level_of_each();
    let contender = |(i, r): (usize, &Runner<'_>)| Contender {
        experiments: r.experiments,
        failures: r.failures,
        risk: r.risk(level).ok(),
        is_in: race.is_in(i),
    };
    Ok((race.standing(), runners.iter().enumerate().map(contender).collect()))
}

impl Runner<'_> {
    /// One round.
    fn advance(&mut self, rules: &Rules<'_>, jobs: usize) -> Result<()> {
        ensure!(rules.round > 0, "draws per round: expected at least 1, found 0");
        const CHUNK: u64 = 50;
        let (first, last) = (self.draws, self.draws + rules.round);
        let hidden = indicatif::ProgressBar::hidden();
        let lab = self.lab;
        let chunks = parallel::map(jobs, rules.round.div_ceil(CHUNK) as usize, &hidden, |c| {
            let from = first + CHUNK * c as u64;
            (from..(from + CHUNK).min(last)).map(|i| one(&lab, rules, i)).collect::<Result<Vec<_>>>()
        })?;
        for tried in chunks.into_iter().flatten() {
            self.record(tried);
        }
        self.draws = last;
        Ok(())
    }

    fn record(&mut self, tried: Option<(f64, bool)>) {
        if let Some((_, failed)) = tried {
            self.experiments += 1;
            self.failures += u64::from(failed);
        }
        match (&mut self.thinned, tried) {
            (Some(found), Some((chance, failed))) => found.record(chance, failed),
            (Some(found), None) => found.skip(),
            (None, _) => {}
        }
    }

    fn risk(&self, level: Level) -> Result<Estimate> {
        Ok(match &self.thinned {
            Some(found) => found.estimate(level)?,
            None => counting::sequence(self.failures as usize, self.experiments as usize, level)?,
        })
    }
}

/// Chance and outcome of a draw; nothing if it is not tried.
fn one(lab: &Lab<'_>, rules: &Rules<'_>, index: u64) -> Result<Option<(f64, bool)>> {
    let key = lab.key("selection", index);
    let x = lab.draw(key);
    let mut chance = 1.0;
    if let Some((guide, rule)) = &rules.thinned {
        chance = rule.chance(guide.predict(&mut guide.reader(), &x)?);
        if key.child("thinning").rng().uniform() >= chance {
            return Ok(None);
        }
    }
    Ok(Some((chance, lab.play(key, &x)?.failed)))
}
