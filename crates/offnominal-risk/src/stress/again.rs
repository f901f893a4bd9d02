//! A failure under disturbances once more, bit for bit, from the file of its run.

use super::hunt::Strategy;
use super::report::{FILE, Failure, PlayedIn};
use super::series::Shape;
use super::subject_of;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::limits;
use offnominal_core::prelude::*;
use offnominal_engine::subject::Subject;
use serde::Deserialize;
use std::path::Path;

/// What is read of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Kept {
    /// Where and by whom.
    #[serde(flatten)]
    pub played: PlayedIn,
    /// The failures.
    pub failures: Vec<Failure>,
}

/// An episode that failed again.
pub struct Again {
    /// Environment, with its noise chosen, and policy.
    pub subject: Subject,
    /// The episode.
    pub episode: Episode,
    /// What it is.
    pub failure: Failure,
}

impl Kept {
    /// Whether a folder is that of such a run.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Reads what a run found.
    ///
    /// # Errors
    /// If it cannot be read, or a number of it cannot be.
    pub fn read(folder: &Path) -> Result<Kept> {
        let path = folder.join(FILE);
        Kept::parse(&offnominal_files::read::bytes(&path)?).with_context(|| path.display().to_string())
    }

    /// Reads the content of the file.
    ///
    /// # Errors
    /// If it is none, or a number of it cannot be.
    pub fn parse(bytes: &[u8]) -> Result<Kept> {
        let kept: Kept = serde_json::from_slice(bytes)?;
        kept.failures
            .iter()
            .enumerate()
            .try_for_each(|(i, f)| check(f).with_context(|| format!("failure {i}")))?;
        Ok(kept)
    }

    /// Plays a failure again; the policy may have another name by now.
    ///
    /// # Errors
    /// If there is no such failure, environment or policy cannot be had or are others, or it does not fail again.
    pub fn play(self, number: usize, policy: Option<&str>) -> Result<Again> {
        let (n, played) = (self.failures.len(), &self.played);
        let failure = self.failures.into_iter().nth(number);
        let failure =
            failure.with_context(|| format!("failure {number}: the run has {n} failures, from 0"))?;
        let mut subject = played.subject(policy)?;
        let numbers = subject.env.noise_numbers().context("noise: expected some, found none")?;
        fits(&failure, Shape::of(numbers))?;
        subject.env.choose_noise(&failure.series().into());
        let episode = subject.trial().starting_at(failure.initial.clone(), failure.key, &mut |_| ());
        ensure!(
            episode.end == End::Failed && episode.len() == failure.steps,
            "expected the episode to fail in step {}, found {:?} in step {}: the environment has changed since",
            failure.steps,
            episode.end,
            episode.len()
        );
        Ok(Again { subject, episode, failure })
    }
}

impl PlayedIn {
    fn subject(&self, policy: Option<&str>) -> Result<Subject> {
        let policy = policy.unwrap_or(&self.policy.id);
        let subject = subject_of(&self.env, self.noise.as_deref(), policy, self.scenario.clone())?;
        let (expected, found) = (&self.policy.digest, &subject.name.digest);
        ensure!(
            found == expected,
            "policy {policy}: expected the one of the run with digest {expected}, found {found}"
        );
        Ok(subject)
    }
}

/// Refuses numbers that cannot be of an episode.
fn check(failure: &Failure) -> Result<()> {
    let n = failure.start.len() + failure.disturbances.iter().map(Vec::len).sum::<usize>();
    ensure!(n <= limits::DISTURBANCES, "expected at most {} numbers, found {n}", limits::DISTURBANCES);
    let odd = failure.series().into_iter().find(|z| !z.is_finite());
    ensure!(odd.is_none(), "disturbances: expected finite numbers, found {}", odd.unwrap_or_default());
    Ok(())
}

/// Refuses numbers of another noise.
fn fits(failure: &Failure, Shape { start, step }: Shape) -> Result<()> {
    let found = failure.start.len();
    ensure!(found == start, "start: expected {start} numbers, found {found}");
    let other = failure.disturbances.iter().find(|row| row.len() != step);
    let found = other.map_or(step, Vec::len);
    ensure!(found == step, "disturbances: expected {step} numbers in each step, found {found}");
    Ok(())
}

impl Failure {
    /// The strategy that found it, in words.
    pub fn found_by(&self) -> &'static str {
        Strategy::name(self.strategy)
    }
}
