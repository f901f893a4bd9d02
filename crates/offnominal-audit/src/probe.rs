//! A first look at a policy in its environment: what an episode costs, how it ends, and whether it can be repeated.

use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::subject::Subject;
use offnominal_worlds::anomaly::Deviations;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Episodes of a look, unless they take longer than [`LONGEST_SECS`].
const EPISODES: usize = 24;
const LONGEST_SECS: f64 = 10.0;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Episodes that were played.
    pub episodes: usize,
    /// Mean number of steps.
    pub steps: f64,
    /// Seconds for one episode, as many at a time as there are threads.
    pub episode_secs: f64,
    /// Mean and standard deviation of the return.
    pub returns: [f64; 2],
    /// How far each number of an observation and an action strays.
    pub deviations: Deviations,
    /// Episodes that ended in failure.
    pub failed: usize,
    /// Episodes that ended at the horizon.
    pub timed_out: usize,
    /// Numbers per observation.
    pub obs_width: usize,
    /// Numbers per action.
    pub act_width: usize,
}

/// Plays nominal episodes, the first one twice.
///
/// # Errors
/// If an episode diverges or cannot be repeated from its seed, or all episodes end in their first step.
pub fn probe(subject: &Subject, context: &Context) -> Result<Probe> {
    let id = &subject.env.spec().id;
    ensure!(
        subject.env.fork().is_some(),
        "environment {id}: expected one that can be copied, as the audit plays thousands of episodes; found the only one of \
         its kind, such as a robot"
    );
    let seed = Seed(context.seed).child("probe");
    let play = |i| subject.trusted(subject.trial().nominal(seed.child(i)));
    let first = play(0)?;
    repeats(&first, &play(0)?, subject.env.spec())?;
    let jobs = parallel::jobs_for(subject.env.as_ref(), context.jobs);
    let (begun, task) = (Instant::now(), context.task(EPISODES, "first look, episodes"));
    let mut episodes: Vec<Episode> = Vec::new();
    while episodes.len() < EPISODES && begun.elapsed().as_secs_f64() < LONGEST_SECS {
        let (from, n) = (episodes.len(), (2 * jobs).min(EPISODES - episodes.len()));
        episodes.extend(parallel::map(jobs, n, &task, |i| play(from + i))?);
    }
    let secs = begun.elapsed().as_secs_f64();
    Probe::of(&episodes, secs, subject.env.spec())
}

impl Probe {
    fn of(episodes: &[Episode], secs: f64, spec: &EnvSpec) -> Result<Probe> {
        let n = episodes.len();
        let steps = episodes.iter().map(Episode::len).sum::<usize>() as f64 / n as f64;
        let ended = |end: End| episodes.iter().filter(|e| e.end == end).count();
        ensure!(
            steps >= 2.0,
            "environment {}: expected episodes of at least two steps, found {steps:.1} on average: a monitor has nothing \
             to watch",
            spec.id
        );
        let diverged = ended(End::Diverged);
        ensure!(
            diverged == 0,
            "environment {}: {diverged} of {n} undisturbed episodes diverged: the simulation broke, or a number was not \
             finite",
            spec.id
        );
        Ok(Probe {
            episodes: n,
            steps,
            episode_secs: secs / n as f64,
            returns: mean_and_deviation(episodes.iter().map(Episode::total_reward)),
            deviations: Deviations::of(episodes),
            failed: ended(End::Failed),
            timed_out: ended(End::TimedOut),
            obs_width: spec.obs_width(),
            act_width: spec.act_width(),
        })
    }

    /// Transitions of so many episodes.
    pub fn transitions(&self, episodes: usize) -> f64 {
        episodes as f64 * self.steps
    }
}

fn mean_and_deviation(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let spread = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    [mean, spread.sqrt()]
}

/// Insists that two episodes of one seed are the same: an anomalous episode is compared with its nominal twin.
fn repeats(first: &Episode, again: &Episode, spec: &EnvSpec) -> Result<()> {
    let same =
        first.observations.iter().zip(&again.observations).position(|(a, b)| a.to_bits() != b.to_bits());
    let step = same.map(|i| i / spec.obs_width().max(1));
    let step = step.or((first.len() != again.len()).then(|| first.len().min(again.len())));
    ensure!(
        step.is_none(),
        "environment {}: expected the same episode twice from the same seed and policy, found a difference at step {}: the \
         environment or the policy draws from something that `reset(seed)` does not set, so an anomalous episode has no \
         nominal twin to be compared with",
        spec.id,
        step.unwrap_or_default()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shipped_policy_repeats_and_costs_little() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let found = probe(&subject, &Context::silent(1, 2)).unwrap();
        assert!(found.steps > 5.0 && found.episode_secs < 1.0 && found.episodes >= 2, "{found:?}");
        assert_eq!(
            (found.obs_width, found.act_width),
            (subject.env.spec().obs_width(), subject.env.spec().act_width())
        );
    }

    #[test]
    fn an_episode_that_does_not_repeat_is_refused_with_the_step() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let spec = subject.env.spec();
        let first = subject.trial().nominal(Seed(1));
        let mut again = first.clone();
        again.observations[3 * spec.obs_width()] += 1.0;
        assert!(repeats(&first, &first.clone(), spec).is_ok());
        let error = repeats(&first, &again, spec).unwrap_err().to_string();
        assert!(error.contains("found a difference at step 3"), "{error}");
    }
}
