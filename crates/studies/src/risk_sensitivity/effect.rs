//! Failures once more, with parts of where they began drawn anew, and the effects that they show.

use super::sobol::Effects;
use crate::played::{context, failures, moments};
use anyhow::{Context as _, Result};
use offnominal_core::estimate::Estimate;
use offnominal_core::prelude::*;
use offnominal_risk::estimate::document::Document;
use offnominal_risk::experimenter::Experimenter;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use serde::Serialize;

/// How often each failure is played again for each effect of each part.
pub const REDRAWS: u64 = 4;

/// Draws among which one is sought from which the environment can begin.
const TRIES: u64 = 100;

/// Some numbers of an initial condition, or the random numbers of an episode.
pub struct Part {
    pub name: String,
    pub numbers: Vec<usize>,
    /// Whether it is the random numbers of environment and policy.
    pub is_randomness: bool,
}

/// What is due to a part.
#[derive(Serialize)]
pub struct Effect {
    pub part: String,
    /// How many numbers it has; none for random numbers.
    numbers: usize,
    /// The share of the variance that is due to it, alone or together with others.
    pub total: Estimate,
    /// The share of the variance that is due to it alone.
    first: Estimate,
    /// The share of the failures that fail again if it alone is drawn anew.
    redrawn: Estimate,
    /// The share of the failures that fail again if all but it is drawn anew.
    kept: Estimate,
    /// For a part of one number, and two failures at least: its mean among failures, in standard deviations from its mean
    /// among draws.
    shift: Option<Estimate>,
}

/// The failures of a run.
pub struct Failures<'r> {
    by: Experimenter<'r>,
    failures: Vec<(Seed, &'r [f64])>,
    effects: Effects,
    /// Mean and standard deviation of each number among draws.
    moments: Vec<(f64, f64)>,
}

impl<'r> Failures<'r> {
    /// Those of a finished run.
    ///
    /// # Errors
    /// If the run has no experiment.
    pub fn new(by: Experimenter<'r>, document: &'r Document) -> Result<Failures<'r>> {
        let failures = failures(document);
        let effects = Effects::new(failures.len(), document.experiments as usize, Level::P95)?;
        Ok(Failures { by, failures, effects, moments: moments(&by) })
    }

    /// What is due to a part.
    ///
    /// # Errors
    /// If the simulator breaks, or an initial condition cannot be varied.
    pub fn effect(&self, part: &Part) -> Result<Effect> {
        let (redrawn, kept) = (self.again(part, true)?, self.again(part, false)?);
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

    /// How often each failure fails again, as a share, with a part drawn anew, or all but that.
    fn again(&self, part: &Part, redrawn: bool) -> Result<Vec<f64>> {
        context(0).map(self.failures.len(), "failures", |i| {
            let fails = |k: u64| {
                let (key, x) = self.varied(self.failures[i], k, part, redrawn)?;
                Ok(u64::from(self.by.play(key, &x)?.failed))
            };
            let failed = (0..REDRAWS).map(fails).sum::<Result<u64>>()?;
            Ok(failed as f64 / REDRAWS as f64)
        })
    }

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
        Ok(student_t(&values, Level::P95)?)
    }
}
