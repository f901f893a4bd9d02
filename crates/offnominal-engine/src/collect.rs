//! Playing the episodes of a dataset, nominal or disturbed with their twins.

use crate::progress::Task;
use crate::subject::Subject;
use crate::{catalogues, parallel};
use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_files::dataset::{Dataset, cut_at_divergence};
use std::ops::Range;

/// Most episodes of one kind that may be asked for at once.
pub const MAX_EPISODES: u32 = 1_000_000;

/// Checks that an anomaly can begin before the episodes of an environment end.
///
/// # Errors
/// If it cannot.
pub fn check_onset(onset: Onset, spec: &EnvSpec) -> Result<()> {
    let Onset::At(step) = onset else { return Ok(()) };
    ensure!(
        step < spec.horizon,
        "expected a step before {}, where episodes of {} end, found {step}",
        spec.horizon,
        spec.id
    );
    Ok(())
}

/// Which episodes, from which seed, on how many threads.
#[derive(Clone)]
pub struct Plan<'a> {
    /// The seed that the user gave; stored with the dataset.
    pub seed: u64,
    /// Root of the episodes' seeds.
    pub root: Seed,
    /// Which episodes (which pairs, if disturbed); number i has the i-th seed of the root.
    pub episodes: Range<usize>,
    /// Worker threads.
    pub jobs: usize,
    /// Counts the episodes.
    pub bar: &'a Task,
}

impl Plan<'_> {
    /// The seed of the i-th episode of the range.
    fn seed_of(&self, i: usize) -> Seed {
        self.root.child(self.episodes.start + i)
    }
}

/// Plays undisturbed episodes.
///
/// # Errors
/// If no episode is asked for.
pub fn nominal(subject: &Subject, plan: &Plan<'_>) -> Result<Dataset> {
    ensure!(!plan.episodes.is_empty(), "expected at least 1 episode, found 0");
    let trial = subject.trial();
    let jobs = parallel::jobs_for(subject.env.as_ref(), plan.jobs);
    let mut episodes = parallel::map(jobs, plan.episodes.len(), plan.bar, |i| {
        Ok::<_, anyhow::Error>(sound(trial.nominal(plan.seed_of(i))))
    })?;
    keep_until_trouble(subject, &mut episodes, |e| e.end == End::Diverged)?;
    let twins = vec![None; episodes.len()];
    Ok(Dataset { recipe: subject.recipe(None, plan.seed), episodes, twins })
}

/// Plays disturbed episodes, each followed by its nominal twin.
///
/// # Errors
/// If no episode is asked for, or the fault does not fit the environment.
pub fn with_twins(subject: &Subject, anomaly_spec: &AnomalySpec, plan: &Plan<'_>) -> Result<Dataset> {
    ensure!(!plan.episodes.is_empty(), "expected at least 1 episode, found 0");
    let (trial, anomalies) = (subject.trial(), catalogues::anomalies());
    anomaly_spec.build(&anomalies, subject.env.as_ref())?;
    let jobs = parallel::jobs_for(subject.env.as_ref(), plan.jobs);
    let mut pairs = parallel::map(jobs, plan.episodes.len(), plan.bar, |i| {
        Ok(trial.with_twin(plan.seed_of(i), anomaly_spec, &anomalies)?)
    })?;
    keep_until_trouble(subject, &mut pairs, |(e, twin)| [e, twin].iter().any(|e| e.end == End::Diverged))?;
    let episodes: Vec<Episode> = pairs.into_iter().flat_map(|(e, twin)| [sound(e), sound(twin)]).collect();
    let twins = (0..episodes.len()).map(|i| (i % 2 == 0).then_some(i + 1)).collect();
    Ok(Dataset { recipe: subject.recipe(Some(anomaly_spec), plan.seed), episodes, twins })
}

/// Where a robot stopped, only what was whole before is kept: the rest is of a robot that stands, and is played anew
/// when the dataset is completed.
fn keep_until_trouble<T>(
    subject: &Subject,
    played: &mut Vec<T>,
    diverged: impl Fn(&T) -> bool,
) -> Result<()> {
    let Err(why) = subject.env.health() else { return Ok(()) };
    played.truncate(played.iter().position(diverged).unwrap_or(played.len()));
    ensure!(!played.is_empty(), "{why}; no episode was played to its end");
    Ok(())
}

/// An episode without numbers that are not finite.
pub fn sound(mut episode: Episode) -> Episode {
    cut_at_divergence(&mut episode);
    episode
}
