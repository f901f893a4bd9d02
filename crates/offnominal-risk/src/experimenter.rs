//! Who makes experiments: episodes from chosen initial conditions, each with randomness of its own.
//!
//! Randomness is keyed by run, stream and index, so that an experiment is the same bits whichever thread plays it, in
//! whatever order, and whatever was played before.

use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_engine::subject::Subject;

/// An environment, a policy, and the run whose experiments are made.
#[derive(Clone, Copy)]
pub struct Experimenter<'c> {
    /// Who plays where.
    pub subject: &'c Subject,
    /// The seed of the run, as it was given.
    pub run: u64,
    seed: Seed,
}

/// What came of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Whether it ended in failure.
    pub failed: bool,
    /// Smallest distance from failing, where the environment tells it.
    pub margin: Option<f64>,
    /// How many steps it took.
    pub steps: usize,
    /// The last observation.
    pub last: Vec<f32>,
}

impl<'c> Experimenter<'c> {
    /// Prepares for the experiments of a run.
    ///
    /// # Errors
    /// If the environment cannot be copied: experiments run beside one another.
    pub fn new(subject: &'c Subject, run: u64) -> Result<Experimenter<'c>> {
        let id = &subject.env.spec().id;
        ensure!(subject.env.fork().is_some(), "environment {id} cannot be copied; experiments need copies");
        Ok(Experimenter { subject, run, seed: Seed(run).child("risk") })
    }

    /// The key of an experiment.
    pub fn key(&self, stream: &str, index: u64) -> Seed {
        self.seed.child(stream).child(index)
    }

    /// The initial condition that belongs to a key.
    pub fn draw(&self, key: Seed) -> Vec<f64> {
        self.subject.env.draw(&mut key.child("initial").rng())
    }

    /// Plays from an initial condition.
    ///
    /// # Errors
    /// If the simulator broke: that is neither a failure of the policy nor none.
    pub fn play(&self, key: Seed, x: &[f64]) -> Result<Experiment> {
        let mut margin = None;
        let episode = self.subject.trial().starting_at(x.to_vec(), key, &mut |env| {
            let now = env.failure_search().margin();
            margin = now.map(|now| margin.unwrap_or(f64::INFINITY).min(now));
        });
        ensure!(
            episode.end != End::Diverged,
            "the simulator broke in step {} of the episode from {x:?}; its outcome is unknown",
            episode.len()
        );
        let width = episode.obs_width;
        let last = episode.observations[episode.observations.len() - width..].to_vec();
        Ok(Experiment { failed: episode.end == End::Failed, margin, steps: episode.len(), last })
    }
}
