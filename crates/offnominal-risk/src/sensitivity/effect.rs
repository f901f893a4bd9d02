//! Failures once more, with parts of where they began drawn anew, and the effects that they show.

use super::parts::Part;
use crate::estimate::document::Document;
use crate::experimenter::Experimenter;
use crate::perturb::moments;
use crate::record::in_chunks;
use anyhow::{Context as _, Result};
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::progress::Task;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use offnominal_stats::risk::sobol::Effects;
use serde::Serialize;

/// What is due to a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// The part.
    pub part: String,
    /// How many numbers it has; none for random numbers.
    pub numbers: usize,
    /// The share of the variance that is due to it, alone or together with others.
    pub total: Estimate,
    /// The share of the variance that is due to it alone.
    pub first: Estimate,
    /// The share of the failures that fail again if it alone is drawn anew.
    pub redrawn: Estimate,
    /// The share of the failures that fail again if all but it is drawn anew.
    pub kept: Estimate,
    /// For a part of one number, and two failures at least: its mean among failures, in standard deviations from its mean
    /// among draws.
    pub shift: Option<Estimate>,
}

/// The failures of a run.
pub struct Failures<'r> {
    by: Experimenter<'r>,
    failures: Vec<(Seed, &'r [f64])>,
    redraws: u64,
    level: Level,
    effects: Effects,
    /// Mean and standard deviation of each number among draws.
    moments: Vec<(f64, f64)>,
}

/// Draws among which one is sought from which the environment can begin.
const TRIES: u64 = 100;

impl<'r> Failures<'r> {
    /// Those of a finished run.
    ///
    /// # Errors
    /// If the run has no experiment.
    pub fn new(
        by: Experimenter<'r>,
        document: &'r Document,
        redraws: u64,
        level: Level,
    ) -> Result<Failures<'r>> {
        let failures: Vec<(Seed, &[f64])> = document.failures.iter().map(|f| (f.key, &f.x[..])).collect();
        let effects = Effects::new(failures.len(), document.experiments as usize, level)?;
        Ok(Failures { by, failures, redraws, level, effects, moments: moments(&by) })
    }

    /// What is due to a part.
    ///
    /// # Errors
    /// If the simulator breaks, or an initial condition cannot be varied.
    pub fn effect(&self, part: &Part, context: &Context, bar: &Task) -> Result<Effect> {
        let redrawn = self.again(part, true, context, bar)?;
        let kept = self.again(part, false, context, bar)?;
        let shift = match part.numbers[..] {
            [i] if self.failures.len() > 1 => Some(self.shift(i)?),
            _ => None,
        };
        Ok(Effect {
            part: part.name.clone(),
            numbers: part.numbers.len(),
            total: self.effects.total(&redrawn)?,
            first: self.effects.first(&kept)?,
            redrawn: self.effects.fails_again(&redrawn)?,
            kept: self.effects.fails_again(&kept)?,
            shift,
        })
    }

    /// How often each failure fails again, as a share.
    fn again(&self, part: &Part, redrawn: bool, context: &Context, bar: &Task) -> Result<Vec<f64>> {
        let shares = in_chunks(context, 0..self.failures.len() as u64, 4, |range| {
            range.map(|i| self.share_of_one(i as usize, part, redrawn)).collect()
        })?;
        bar.inc(1);
        Ok(shares)
    }

    /// How often a failure fails again.
    fn share_of_one(&self, i: usize, part: &Part, redrawn: bool) -> Result<f64> {
        let mut failed = 0;
        for k in 0..self.redraws {
            let (key, x) = self.varied(self.failures[i], k, part, redrawn)?;
            failed += u64::from(self.by.play(key, &x)?.failed);
        }
        Ok(failed as f64 / self.redraws as f64)
    }

    /// A failure with a part drawn anew, or all but that.
    fn varied(
        &self,
        (key, x): (Seed, &[f64]),
        k: u64,
        part: &Part,
        redrawn: bool,
    ) -> Result<(Seed, Vec<f64>)> {
        let other = key.child("sensitivity").child(part.name.as_str()).child(u64::from(redrawn)).child(k);
        let new_key = if part.is_randomness == redrawn { other } else { key };
        let search = self.by.subject.env.failure_search();
        let mix = |draw: &[f64]| -> Vec<f64> {
            let is_new = |i: usize| part.numbers.contains(&i) == redrawn;
            (0..x.len()).map(|i| if is_new(i) { draw[i] } else { x[i] }).collect()
        };
        // Parts that are drawn independently always fit one another; a few environments refuse what cannot be built.
        let mut mixed = (0..TRIES).map(|t| mix(&self.by.draw(other.child(t))));
        let found = mixed.find(|x| search.admits(x));
        let of =
            || format!("{}: expected an initial condition that can be begun from, found none", part.name);
        found.map(|x| (new_key, x)).with_context(of)
    }

    /// Where a number lies among failures.
    fn shift(&self, i: usize) -> Result<Estimate> {
        let (mean, deviation) = self.moments[i];
        let unit = if deviation > 0.0 { deviation } else { 1.0 };
        let values: Vec<f64> = self.failures.iter().map(|(_, x)| (x[i] - mean) / unit).collect();
        Ok(student_t(&values, self.level)?)
    }
}
