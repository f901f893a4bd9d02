//! From the history of a training run to a predictor.

use crate::learn::{Learned, learn};
use crate::{About, Examples, Predictor, Recipe, Theta, guide};
use anyhow::{Context as _, Result, ensure};
use offnominal_agents::{History, TrainingEpisode};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
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

/// Learns a predictor from the runs of one world, side by side: what was done of each training counts, not the steps. The
/// exponent is that which suits the later episodes best, or those of `near`, from which nothing else is learned.
///
/// # Errors
/// If the recipe is wrong or does not suit the world, or the histories hold too few failures.
///
/// # Panics
/// If there is no history.
pub fn foresee(
    histories: &[History],
    near: Option<&History>,
    env: &dyn Env,
    recipe: &Recipe,
    seed: Seed,
    context: &Context,
) -> Result<Foresight> {
    let run = &histories.first().expect("at least one history").run;
    let noises = || histories.iter().flat_map(|h| &h.episodes).map(|e| e.noise);
    let largest_noise = noises().fold(0.0, f64::max);
    let share = |noise: f64| if largest_noise > 0.0 { noise / largest_noise } else { 0.0 };
    let read = |x: &[f64]| guide::reading(env, recipe.form, x);
    let example = histories.iter().flat_map(|h| &h.episodes).next();
    let features = example.map_or(Ok(run.initial.len()), |e| anyhow::Ok(read(&e.initial)?.width))?;
    let mut examples = Examples::new(features);
    for (theta, episode) in in_order(histories) {
        let theta = Theta { noise: share(theta.noise), ..theta };
        examples.push(&read(&episode.initial)?.numbers, theta, episode.failed);
    }
    let bar = context.task(0, "fits of the predictor");
    let learned = learn(&examples, recipe, &mut seed.child("predictor").rng(), &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    let least_noise = noises().fold(largest_noise, f64::min);
    let about = About {
        env: run.env.clone(),
        initial: run.initial.clone(),
        features,
        form: recipe.form,
        exponent: USUAL_EXPONENT,
        largest_noise,
        noise: (share(least_noise), share(largest_noise)),
        steps: histories.iter().map(|h| h.run.steps).max().unwrap_or_default(),
        learned_from: learned.kept,
    };
    let mut predictor = Predictor::new(about, learned.clone());
    let foreseen = near.map(|near| foreseen(&predictor, near, env)).transpose()?;
    let choice = exponent::choose(foreseen.as_ref().unwrap_or(&learned.later), PLAIN_SHARE, Level::P95);
    predictor.about.exponent = choice.as_ref().map_or(USUAL_EXPONENT, |c| c.exponent);
    Ok(Foresight { predictor, learned, choice })
}

/// The chance that was foreseen for each episode, and whether it failed.
fn foreseen(predictor: &Predictor, history: &History, env: &dyn Env) -> Result<Vec<(f64, bool)>> {
    let one = |episode: &TrainingEpisode| {
        let numbers = guide::reading(env, predictor.about.form, &episode.initial)?.numbers;
        Ok((predictor.reader(episode.step).predict(&numbers), episode.failed))
    };
    history.episodes.iter().map(one).collect()
}

/// The episodes of all runs with the share of its training that each came after, in that order.
fn in_order(histories: &[History]) -> Vec<(Theta, &TrainingEpisode)> {
    fn of_one(history: &History) -> Vec<(Theta, &TrainingEpisode)> {
        let steps = history.run.steps.max(1) as f64;
        let theta = move |e: &TrainingEpisode| Theta { iteration: e.step as f64 / steps, noise: e.noise };
        history.episodes.iter().map(move |e| (theta(e), e)).collect()
    }
    let mut all: Vec<(Theta, &TrainingEpisode)> = histories.iter().flat_map(of_one).collect();
    all.sort_by(|a, b| a.0.iteration.total_cmp(&b.0.iteration));
    all
}
