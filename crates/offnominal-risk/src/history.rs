//! A history made by playing episodes of weaker policies, of the same training or of others, in place of one that was not
//! recorded or that is too short.

mod book;
mod noisy;
mod series;

use anyhow::{Context as _, Result, ensure};
use book::{Book, HistorySpec};
use offnominal_agents::history::Run;
use offnominal_agents::{Card, History, TrainingEpisode};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::provenance;
use offnominal_engine::subject::Subject;
use offnominal_files::write;
use serde::Serialize;
use series::Series;
use std::fmt;
use std::path::{Path, PathBuf};

/// Name of the file in the folder of a run.
pub const FILE: &str = "history.safetensors";

/// What was played.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The history, if it was written.
    pub file: Option<PathBuf>,
    /// How often each policy failed at each level of noise.
    pub policies: Vec<Row>,
    /// The history itself.
    #[serde(skip)]
    pub history: History,
}

/// Plays so many episodes with each policy at each level of noise, and writes their history into the folder, if there is
/// one.
///
/// # Errors
/// As [`play`], or if a file cannot be written.
pub fn written(
    subjects: &[Subject],
    noises: &[f64],
    episodes: usize,
    folder: Option<&Path>,
    context: &Context,
) -> Result<Report> {
    let bytes = play(subjects, noises, episodes, folder, context)?.to_bytes();
    // As the file says it, in single precision in part, so that whoever reads that learns the same.
    let history = History::from_bytes(&bytes).context("a history that was just played")?;
    let file = folder.map(|folder| folder.join(FILE));
    file.iter().try_for_each(|path| write::atomically(path, &bytes))?;
    Ok(Report { file, policies: rows(&history), history })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Row { step, noise, episodes, failures } in &self.policies {
            writeln!(f, "after {step} steps, noise {noise}: {failures} of {episodes} episodes failed")?;
        }
        self.file.iter().try_for_each(|path| writeln!(f, "written to {}", path.display()))
    }
}

/// How many steps of training are behind a policy: what its name says or, where that says nothing, its card.
pub fn steps_of(name: &str, card: Option<&Card>) -> Option<u64> {
    steps_in(name).or_else(|| card.map(|card| card.best_step))
}

/// The steps in the name of a policy: `10000`, as `train --checkpoints` names files, or `PREFIX_10000_steps`, as the callback
/// of Stable-Baselines3 does. What stands behind the colon of `module:name` is a name too.
pub fn steps_in(name: &str) -> Option<u64> {
    let name = name.split('?').next()?.rsplit(['/', '\\', ':']).next()?;
    let stem =
        [".safetensors", ".zip", ".onnx"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let number = stem.strip_suffix("_steps").map_or(Some(stem), |rest| rest.rsplit('_').next());
    number?.parse().ok()
}

/// Plays so many episodes with each policy at each level of noise, as far as the journal in the folder, if there is
/// one, does not hold them;
/// those of earlier policies stand first.
///
/// # Errors
/// If nobody knows how long a policy was trained, a level of noise is out of range, the folder holds other episodes, the
/// simulator breaks, or a file cannot be written.
pub fn play(
    subjects: &[Subject],
    noises: &[f64],
    episodes: usize,
    folder: Option<&Path>,
    context: &Context,
) -> Result<History> {
    let first = subjects.first().context("expected a policy, found none")?;
    let env = first.env.spec().clone();
    ensure!(first.env.fork().is_some(), "environment {} cannot be copied; experiments need copies", env.id);
    for &noise in noises {
        ensure!((0.0..=1.0).contains(&noise), "noise: expected 0 to 1, found {noise}");
    }
    subjects.iter().try_for_each(Subject::knows_failure)?;
    let steps = subjects.iter().map(step_of).collect::<Result<Vec<u64>>>()?;
    let policies = subjects.iter().map(|subject| subject.name.clone()).collect();
    let (noises_of, scenario) = (noises.to_vec(), first.scenario.clone());
    let (simulator, seed) = (provenance::hosted(&env), context.seed);
    let spec = HistorySpec { env: env.id.clone(), simulator, policies, noises: noises_of, seed, scenario };
    let mut book = Book::open(folder, &spec)?;
    let bar = context.task(subjects.len() * noises.len() * episodes, "episodes");
    let mut all = Vec::new();
    for (policy, subject) in subjects.iter().enumerate() {
        for (level, &noise) in noises.iter().enumerate() {
            let series = Series::new(subject, noise, context.seed)?;
            let play = |range| series.played(range, context, &bar);
            let played = book.played((policy, level), episodes, play)?;
            bar.set_position(((policy * noises.len() + level + 1) * episodes) as u64);
            all.extend(series.episodes(&played, steps[policy])?);
        }
    }
    Ok(training(&env, context.seed, all))
}

/// The history of a training whose policies played these episodes.
pub fn training(env: &EnvSpec, seed: u64, mut episodes: Vec<TrainingEpisode>) -> History {
    episodes.sort_by_key(|e| e.step);
    let run = Run {
        env: env.id.clone(),
        initial: env.initial.clone(),
        algorithm: "played".into(),
        seed: Seed(seed),
        steps: episodes.last().map_or(0, |e| e.step),
    };
    History { run, episodes, is_rounded: false }
}

/// How many steps of training are behind a policy.
///
/// # Errors
/// If nobody knows.
pub fn step_of(subject: &Subject) -> Result<u64> {
    let name = &subject.name.id;
    steps_of(name, subject.card.as_ref()).with_context(|| {
        format!(
            "policy {name}: expected a card, or a name that says the steps of its training, such as 10000.safetensors, \
             rl_model_10000_steps.zip or module:policy_10000_steps, found neither"
        )
    })
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
    use super::*;
    use crate::testing::{Toy, context, rewrite, subject};
    use serde_json::json;

    fn checkpoint(height: f64, name: &str) -> Subject {
        let mut subject = subject(&Toy::new(height));
        subject.name.id = name.into();
        subject
    }

    /// Plays the casts with and without noise, in the folder of that name.
    fn played(subjects: &[Subject], episodes: usize, folder: &Path, jobs: usize) -> History {
        play(subjects, &[0.0, 0.5], episodes, Some(folder), &context(jobs)).unwrap()
    }

    #[test]
    fn weaker_policies_stand_first_and_fail_more_often() {
        let folder = tempfile::tempdir().unwrap();
        let subjects = [checkpoint(0.2, "a/000200.safetensors"), checkpoint(1.0, "000100.safetensors")];
        let history = played(&subjects, 500, &folder.path().join("one"), 1);
        assert_eq!(played(&subjects, 500, &folder.path().join("many"), 3), history);
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
    fn a_killed_run_goes_on_and_more_episodes_may_be_asked_for_later() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
        let subjects = [checkpoint(0.9, "1.safetensors"), checkpoint(0.4, "2.safetensors")];
        let history = played(&subjects, 1300, &whole, 2);
        let journal = std::fs::read(whole.join(book::JOURNAL)).unwrap();
        std::fs::create_dir(&cut).unwrap();
        std::fs::write(cut.join(book::JOURNAL), &journal[..journal.len() / 2]).unwrap();
        assert_eq!(played(&subjects, 1300, &cut, 1), history);
        assert_eq!(std::fs::read(cut.join(book::JOURNAL)).unwrap(), journal);
        // What is known is not played again: the journal is believed, if it was made so.
        rewrite(&cut.join(book::JOURNAL), |block| block["failed"] = json!([]));
        assert_ne!(played(&subjects, 1300, &cut, 1), history);
        // Of fewer and of more episodes, the first are the same.
        let few = played(&subjects, 100, &whole, 1);
        assert_eq!(few.episodes[..100], history.episodes[..100]);
        let more = played(&subjects, 1500, &whole, 1);
        assert_eq!(more.episodes[..1300], history.episodes[..1300]);
        assert_eq!(more, played(&subjects, 1500, &folder.path().join("more"), 1));
    }

    #[test]
    fn the_episodes_of_other_policies_and_damaged_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let subjects = [checkpoint(0.9, "1.safetensors")];
        played(&subjects, 400, folder.path(), 1);
        let refusal = |noises: &[f64]| {
            let error = play(&subjects, noises, 400, Some(folder.path()), &context(1)).unwrap_err();
            format!("{error:#}")
        };
        assert!(refusal(&[0.1]).contains("choose another --out"), "{}", refusal(&[0.1]));
        let file = folder.path().join(book::JOURNAL);
        rewrite(&file, |block| block["failed"] = json!([3, 400]));
        let error = refusal(&[0.0, 0.5]);
        assert!(
            error.contains("block 0: expected failures from 0 to below 400") && error.contains("found 400")
        );
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen("[3,400]", "[]", 1)).unwrap();
        assert!(refusal(&[0.0, 0.5]).contains("block 0: expected the digest"));
    }

    #[test]
    fn a_policy_of_unknown_training_is_refused() {
        let refusal = |name: &str, noise: f64| {
            let subjects = [checkpoint(0.2, name)];
            play(&subjects, &[noise], 1, None, &context(1)).unwrap_err().to_string()
        };
        assert!(refusal("policy.safetensors", 0.0).contains("a name that says the steps of its training"));
        assert!(refusal("7.safetensors", 2.0).contains("0 to 1, found 2"));
    }

    #[test]
    fn names_of_checkpoints_say_their_steps() {
        let known = [
            ("a/000200.safetensors", 200),
            ("logs/rl_model_10000_steps.zip", 10_000),
            ("logs/v1.2_ppo_500_steps.zip?stack=4&normalize=logs/rl_model_vecnormalize_500_steps.pkl", 500),
            ("my.agents:policy_10000_steps?modules=.", 10_000),
            ("logs\\7_steps.zip", 7),
        ];
        known.iter().for_each(|(name, steps)| assert_eq!(steps_in(name), Some(*steps), "{name}"));
        for name in ["random", "best_model.zip", "my.agents:Policy", "rl_model_steps.zip", "td3"] {
            assert_eq!(steps_in(name), None, "{name}");
        }
    }
}
