//! What recorded outcomes show: for all tasks together, for each task, and for what each perturbation costs.
//!
//! Comparisons of one kind have one error: the chance that any of them is decided wrongly is at most 1 − level. Better and
//! worse are decided by closed testing of their e-values ([`offnominal_stats::paired::family`]), half of the error for each
//! side; intervals and margins hold for all of them at once by Bonferroni.

use super::document::Row;
use super::matching::{By, Units};
use super::trials::{Outcomes, Recording};
use crate::compare::quantity::Condition;
use crate::compare::verdict::{Gate, Verdict};
use anyhow::{Result, ensure};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::paired::betting::{Side, Terms};
use offnominal_stats::paired::counts::Counts;
use offnominal_stats::paired::needed::Plan;
use offnominal_stats::paired::planned::{MOST, Planned};
use offnominal_stats::paired::{Mean, family};
use offnominal_stats::risk::counting;

/// The power that the number of pairs is stated for.
pub const POWER: f64 = 0.8;

/// A comparison that is not judged yet.
pub struct Draft {
    /// The new policy.
    pub policy: String,
    /// What is compared.
    pub condition: Condition,
    /// What was perturbed.
    pub perturbation: Option<String>,
    /// One task, or all of them.
    pub task: Option<String>,
    /// The outcomes.
    pub data: Data,
}

/// The outcomes of a comparison.
pub enum Data {
    /// Of pairs.
    Pairs(Units),
    /// Successes and trials of OLD and NEW.
    Counts((u64, u64), (u64, u64)),
}

/// How comparisons are judged.
pub struct Judge<'a> {
    /// Margin, requirement and level.
    pub gate: Gate,
    /// Trials of each policy that were planned, where a plan can decide: in one task, without perturbations.
    pub most: Option<u64>,
    /// Whether every outcome is a success or none.
    pub binary: bool,
    /// The root of draws.
    pub seed: &'a Seed,
}

impl Judge<'_> {
    /// Judges comparisons that have one error together.
    ///
    /// # Errors
    /// If a comparison has no pairs, or more than were planned.
    pub fn family(&self, drafts: Vec<Draft>) -> Result<Vec<Row>> {
        let level = Level::try_from(1.0 - (1.0 - self.gate.level.get()) / drafts.len().max(1) as f64)?;
        let means: Vec<Mean> = drafts.iter().map(Draft::mean).collect();
        let evidence = |side| {
            let logs = means.iter().map(|mean| mean.evidence(0.0, side).unwrap_or_default());
            family::adjusted(&logs.collect::<Vec<f64>>())
        };
        let evidence: Vec<[f64; 2]> =
            evidence(Side::Above).into_iter().zip(evidence(Side::Below)).map(<[f64; 2]>::from).collect();
        let all = drafts.iter().zip(means).zip(evidence);
        all.map(|((draft, mean), evidence)| self.row(draft, &mean, evidence, (level, drafts.len() == 1)))
            .collect()
    }

    fn row(
        &self,
        draft: &Draft,
        mean: &Mean,
        [above, below]: [f64; 2],
        (level, alone): (Level, bool),
    ) -> Result<Row> {
        let found = mean.estimate(level)?;
        let plan = self.plan(draft, level, alone);
        let (verdict, decided_after) = match &plan {
            Some(plan) => self.by_plan(plan, draft)?,
            None => (self.verdict(mean, [above, below], level), None),
        };
        let undecided = verdict == Verdict::Undecided;
        let [old, new] = draft.each(level)?;
        Ok(Row {
            policy: draft.policy.clone(),
            condition: draft.condition,
            perturbation: draft.perturbation.clone(),
            task: draft.task.clone(),
            pairs: found.n as u64,
            matched: draft.by(),
            old,
            new,
            e_value: above.max(below).exp().min(f64::MAX),
            needed: undecided.then(|| self.needed(draft, level)).flatten(),
            planned: plan.map(|plan| plan.most() as u64),
            decided_after,
            difference: found,
            verdict,
        })
    }

    /// What the interval shows, and what closed testing shows beyond it.
    fn verdict(&self, mean: &Mean, [above, below]: [f64; 2], level: Level) -> Verdict {
        let limit = -self.gate.level.tail().ln();
        match (Gate { level, ..self.gate }).at_the_end(mean) {
            _ if above >= limit => Verdict::Better,
            Verdict::Undecided if below >= limit => Verdict::Worse,
            verdict => verdict,
        }
    }

    /// The plan by which one comparison of independent successes is decided, if there is one and it can be.
    fn plan(&self, draft: &Draft, level: Level, alone: bool) -> Option<Planned> {
        let most = self.most.filter(|n| *n <= MOST as u64 && self.gate.margin.is_none() && self.binary)?;
        (alone && draft.by() == By::Order).then(|| Planned::new(most as usize, level.tail()))
    }

    fn by_plan(&self, plan: &Planned, draft: &Draft) -> Result<(Verdict, Option<u64>)> {
        let Data::Pairs(units) = &draft.data else { return Ok((Verdict::Undecided, None)) };
        let (found, most) = (units.outcomes.len(), plan.most());
        ensure!(
            found <= most,
            "episodes: expected at least the {found} trials that were recorded, found {most}"
        );
        let pairs = || units.values().into_iter().map(|[old, new]| (old > 0.5, new > 0.5));
        let better = plan.first(pairs()).map(|n| (n, Verdict::Better));
        let worse = plan.first(pairs().map(|(old, new)| (new, old))).map(|n| (n, Verdict::Worse));
        let first = [better, worse].into_iter().flatten().min_by_key(|(n, _)| *n);
        Ok(first.map_or((Verdict::Undecided, None), |(n, verdict)| (verdict, Some(n as u64))))
    }

    /// Pairs that would decide if the differences went on as they were.
    fn needed(&self, draft: &Draft, level: Level) -> Option<u64> {
        let plan = match &draft.data {
            Data::Pairs(_) => Plan::of(&draft.terms(), level, POWER),
            &Data::Counts(old, new) => Plan::of_rates(rate(old), rate(new), level, POWER),
        };
        plan.pairs(*self.seed)
    }
}

fn rate((k, n): (u64, u64)) -> f64 {
    k as f64 / n as f64
}

impl Draft {
    fn by(&self) -> By {
        match &self.data {
            Data::Pairs(units) => units.by,
            Data::Counts(..) => By::Counts,
        }
    }

    fn bound(&self) -> f64 {
        if self.condition == Condition::Cost { 2.0 } else { 1.0 }
    }

    fn terms(&self) -> Terms {
        let mut terms = Terms::new(self.bound());
        self.values().into_iter().for_each(|[old, new]| terms.push(new - old));
        terms
    }

    fn values(&self) -> Vec<[f64; 2]> {
        match &self.data {
            Data::Pairs(units) => units.values(),
            Data::Counts(..) => vec![],
        }
    }

    fn mean(&self) -> Mean {
        match &self.data {
            Data::Pairs(_) => Mean::Bounded(self.terms()),
            &Data::Counts(old, new) => Mean::Counted(Counts::new(old, new)),
        }
    }

    /// The mean of each policy.
    fn each(&self, level: Level) -> Result<[Estimate; 2]> {
        if let &Data::Counts(old, new) = &self.data {
            let of = |(k, n): (u64, u64)| counting::sequence(k as usize, n as usize, level);
            return Ok([of(old)?, of(new)?]);
        }
        let (old, new): (Vec<f64>, Vec<f64>) = self.values().into_iter().map(<(f64, f64)>::from).unzip();
        Ok([self.one(&old, level)?, self.one(&new, level)?])
    }

    fn one(&self, values: &[f64], level: Level) -> Result<Estimate> {
        let is_cost = self.condition == Condition::Cost;
        if !is_cost && values.iter().all(|x| *x == 0.0 || *x == 1.0) {
            let successes = values.iter().filter(|x| **x == 1.0).count();
            return Ok(counting::sequence(successes, values.len(), level)?);
        }
        // Half of the range of differences is that of values about their middle.
        let (bound, middle) = if is_cost { (1.0, 0.0) } else { (0.5, 0.5) };
        let mut mean = Mean::bounded(bound);
        values.iter().for_each(|value| mean.push(value - middle));
        let e = mean.estimate(level)?;
        Ok(Estimate { value: e.value + middle, low: e.low + middle, high: e.high + middle, ..e })
    }
}

/// Successes and trials of a policy without tasks or conditions of which the other has none.
///
/// # Errors
/// If its outcomes are no counts.
pub fn counted(of: &Recording) -> Result<(u64, u64)> {
    if let Outcomes::Counts(k, n) = of.outcomes {
        return Ok((k, n));
    }
    let plain = of.trials().iter().all(|t| t.condition.is_none() && (t.outcome == 0.0 || t.outcome == 1.0));
    ensure!(plain, "{}: expected successes without conditions, to compare them with counts", of.policy);
    let successes = of.trials().iter().filter(|trial| trial.outcome == 1.0).count();
    Ok((successes as u64, of.count()))
}
