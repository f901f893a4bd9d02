//! From the history of a training run to a predictor.

use anyhow::{Context, Result, ensure};
use offnominal_agents::History;
use offnominal_core::prelude::*;
use offnominal_risk::learn::{Learned, learn};
use offnominal_risk::{About, Examples, Predictor, Recipe, Theta};
use offnominal_stats::Level;
use offnominal_stats::risk::exponent::{self, Choice};
use offnominal_stats::risk::{PLAIN_SHARE, Refusal};
use std::path::Path;

/// Reads a history and checks that it belongs to a world.
///
/// # Errors
/// If the file is none, or a history of another world.
pub fn read(path: &Path, spec: &EnvSpec) -> Result<History> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let history = History::from_bytes(&bytes).with_context(|| path.display().to_string())?;
    let (env, initial) = (&history.run.env, &history.run.initial);
    let whose = || path.display().to_string();
    ensure!(*env == spec.id, "{}: expected a history of {}, found one of {env}", whose(), spec.id);
    ensure!(
        *initial == spec.initial,
        "{}: expected initial conditions of {:?}, found {initial:?}",
        whose(),
        spec.initial
    );
    Ok(history)
}

/// A predictor, how it was chosen, and what each exponent would cost with it.
pub struct Foresight {
    /// The predictor.
    pub predictor: Predictor,
    /// What was tried, and how well the later episodes were foreseen.
    pub learned: Learned,
    /// The exponent, from the later episodes; a reason if there is no choice.
    pub choice: std::result::Result<Choice, Refusal>,
}

/// The exponent if the history cannot tell: right for a predictor that is.
const USUAL_EXPONENT: f64 = 0.5;

/// Learns a predictor.
///
/// # Errors
/// If the recipe is wrong, or the history holds too few failures.
pub fn foresee(history: &History, recipe: &Recipe, seed: Seed) -> Result<Foresight> {
    let largest_noise = history.episodes.iter().map(|e| e.noise).fold(0.0, f64::max);
    let share = |noise: f64| if largest_noise > 0.0 { noise / largest_noise } else { 0.0 };
    let mut examples = Examples::new(history.run.initial.len());
    for episode in &history.episodes {
        let iteration = episode.step as f64 / history.run.steps.max(1) as f64;
        examples.push(&episode.initial, Theta { iteration, noise: share(episode.noise) }, episode.failed);
    }
    let learned = learn(&examples, recipe, &mut seed.child("predictor").rng())?;
    let choice = exponent::choose(&learned.later, PLAIN_SHARE, Level::P95);
    let least_noise = history.episodes.iter().map(|e| e.noise).fold(largest_noise, f64::min);
    let about = About {
        env: history.run.env.clone(),
        initial: history.run.initial.clone(),
        form: recipe.form,
        exponent: choice.as_ref().map_or(USUAL_EXPONENT, |c| c.exponent),
        largest_noise,
        noise: (share(least_noise), share(largest_noise)),
        steps: history.run.steps,
        learned_from: learned.kept,
    };
    Ok(Foresight { predictor: Predictor::new(about, learned.clone()), learned, choice })
}
