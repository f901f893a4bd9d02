//! A history made by playing: episodes of weaker policies, of the same training or of others, in place of one that nobody
//! wrote down or that is too short.

use super::Lab;
use super::noisy::Noisy;
use crate::cast::Cast;
use crate::{common::Common, parallel, progress};
use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use offnominal_agents::history::Run;
use offnominal_agents::{Card, History, TrainingEpisode};
use offnominal_core::prelude::*;
use serde::Serialize;
use std::path::Path;

/// How many steps of training are behind a policy: what its card says or, as `train --checkpoints` names files, its name.
pub fn steps_of(name: &str, card: Option<&Card>) -> Option<u64> {
    let number = || Path::new(name).file_stem()?.to_str()?.parse().ok();
    number().or_else(|| card.map(|card| card.best_step))
}

/// Plays so many episodes with each policy at each level of noise; those of earlier policies stand first.
///
/// # Errors
/// If nobody knows how long a policy was trained, a level of noise is out of range, or the simulator breaks.
pub fn play(casts: Vec<Cast>, noises: &[f64], episodes: usize, common: &Common) -> Result<History> {
    let env = casts.first().context("expected a policy, found none")?.env.spec().clone();
    for &noise in noises {
        ensure!((0.0..=1.0).contains(&noise), "--noise: expected 0 to 1, found {noise}");
    }
    let bar = progress::bar(common.quiet, casts.len() * noises.len() * episodes, "episodes");
    let mut all = Vec::new();
    for cast in casts {
        let step = steps_of(&cast.name.id, cast.card.as_ref()).with_context(|| unknown(&cast.name.id))?;
        for &noise in noises {
            all.extend(of_one(&cast, step, noise, episodes, common, &bar)?);
        }
    }
    bar.finish_and_clear();
    all.sort_by_key(|e: &TrainingEpisode| e.step);
    let run = Run {
        env: env.id,
        initial: env.initial,
        algorithm: "played".into(),
        seed: Seed(common.seed),
        steps: all.last().map_or(0, |e| e.step),
    };
    Ok(History { run, episodes: all })
}

fn unknown(name: &str) -> String {
    format!(
        "policy {name}: expected a card or a file that is named by the steps of its training, found neither"
    )
}

fn of_one(
    cast: &Cast,
    step: u64,
    noise: f64,
    episodes: usize,
    common: &Common,
    bar: &ProgressBar,
) -> Result<Vec<TrainingEpisode>> {
    const CHUNK: usize = 64;
    let noisy = Noisy::new(cast.policy.fork(), &cast.env.spec().action, noise);
    let env = cast.env.fork().context("experiments need copies of the world")?;
    let noisy = Cast { shifted: cast.shifted.clone(), ..Cast::of(env, Box::new(noisy), cast.name.clone()) };
    let lab = Lab::new(&noisy, common.seed)?;
    // Other draws for each policy and each level of noise.
    let stream = format!("past-{}-{noise}", cast.name.digest);
    let one = |i: usize| {
        let key = lab.key(&stream, i as u64);
        // As the file will hold it.
        let initial: Vec<f64> = lab.draw(key).iter().map(|&v| f64::from(v as f32)).collect();
        let failed = lab.play(key, &initial)?.failed;
        anyhow::Ok(TrainingEpisode { initial, step, noise, failed })
    };
    let chunks = parallel::map(common.jobs, episodes.div_ceil(CHUNK), &ProgressBar::hidden(), |c| {
        let range = c * CHUNK..((c + 1) * CHUNK).min(episodes);
        bar.inc(range.len() as u64);
        range.map(one).collect::<Result<Vec<_>>>()
    })?;
    Ok(chunks.concat())
}

/// What became of the episodes of one policy at one level of noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Steps of training behind the policy.
    pub step: u64,
    /// The noise on its commands.
    pub noise: f64,
    /// How many episodes.
    pub episodes: usize,
    /// How many of them failed.
    pub failures: usize,
}

/// The episodes of a history that was made by playing, counted.
pub fn rows(history: &History) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for &TrainingEpisode { step, noise, failed, .. } in &history.episodes {
        let same = rows.iter().position(|r| r.step == step && r.noise == noise);
        let at = same.unwrap_or_else(|| {
            rows.push(Row { step, noise, episodes: 0, failures: 0 });
            rows.len() - 1
        });
        rows[at].episodes += 1;
        rows[at].failures += usize::from(failed);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, cast};
    use super::*;

    fn common(jobs: usize) -> Common {
        Common { seed: 1, jobs, out: None, json: false, quiet: true }
    }

    fn checkpoint(height: f64, name: &str) -> Cast {
        let mut cast = cast(&Toy::new(height));
        cast.name.id = name.into();
        cast
    }

    #[test]
    fn weaker_policies_stand_first_and_fail_more_often() {
        let casts = || vec![checkpoint(0.2, "a/000200.safetensors"), checkpoint(1.0, "000100.safetensors")];
        let history = play(casts(), &[0.0, 0.5], 500, &common(1)).unwrap();
        assert_eq!(play(casts(), &[0.0, 0.5], 500, &common(3)).unwrap(), history);
        let read = History::from_bytes(&history.to_bytes()).unwrap();
        assert_eq!(read, history);
        assert_eq!((history.episodes.len(), history.run.steps), (2000, 200));
        let failures = |of: &[TrainingEpisode]| of.iter().filter(|e| e.failed).count();
        let (weak, strong) = history.episodes.split_at(1000);
        let counted: Vec<_> = rows(&history).iter().map(|r| (r.step, r.noise, r.episodes)).collect();
        assert_eq!(counted, [(100, 0.0, 500), (100, 0.5, 500), (200, 0.0, 500), (200, 0.5, 500)]);
        assert!(weak.iter().all(|e| e.step == 100) && failures(weak) > failures(strong), "{:?}", history.run);
    }

    #[test]
    fn a_policy_of_unknown_training_is_refused() {
        let error = play(vec![checkpoint(0.2, "policy.safetensors")], &[0.0], 1, &common(1)).unwrap_err();
        assert!(error.to_string().contains("named by the steps"), "{error}");
        let error = play(vec![checkpoint(0.2, "7.safetensors")], &[2.0], 1, &common(1)).unwrap_err();
        assert!(error.to_string().contains("0 to 1, found 2"), "{error}");
    }
}
