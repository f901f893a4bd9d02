//! One episode after another in one environment, step by step.

use anyhow::{Result, ensure};
use offnominal_core::prelude::*;
use offnominal_core::run::{Disturbance, Rollout};
use offnominal_engine::catalogues;
use offnominal_worlds::anomaly::{Class, kind};
use std::sync::Arc;

/// What is played, the same for all lanes of a pool.
pub(crate) struct Game {
    /// The pristine environment, copied for every episode.
    pub(crate) env: Box<dyn Env>,
    /// What is done to the episodes.
    pub(crate) anomaly_spec: Option<AnomalySpec>,
    /// Steps after which an episode is truncated.
    pub(crate) horizon: u32,
}

impl Game {
    /// A copy of the pristine environment.
    fn stage(&self) -> Result<Box<dyn Env>> {
        let copy = self.env.fork();
        let spec = self.env.spec();
        copy.ok_or_else(|| {
            anyhow::anyhow!(
                "environment {}: expected a simulation, found a single robot that cannot be copied",
                spec.id
            )
        })
    }
}

/// The seeds of episodes that follow one another.
pub(crate) struct Seeds {
    /// Root of the seeds of episodes that are started without one.
    root: Seed,
    /// How many of these there were.
    started: u64,
}

impl Seeds {
    pub(crate) fn of(root: u64) -> Seeds {
        Seeds::after((root, 0))
    }

    /// Those that follow what [`Seeds::so_far`] said.
    pub(crate) fn after((root, started): (u64, u64)) -> Seeds {
        Seeds { root: Seed(root), started }
    }

    /// The root, and how many were started without a seed.
    pub(crate) fn so_far(&self) -> (u64, u64) {
        (self.root.0, self.started)
    }

    /// The given seed, which is the root from now on; without one, the next of the root.
    pub(crate) fn next(&mut self, given: Option<u64>) -> Seed {
        if let Some(seed) = given {
            *self = Seeds::of(seed);
            return self.root;
        }
        self.started += 1;
        self.root.child("episode").child(self.started)
    }
}

/// An anomaly with its onset. How long the episode would be without it cannot be known here, so a random onset is drawn
/// from the longest there can be.
pub(crate) fn disturbance<'a>(
    anomaly_spec: &'a AnomalySpec,
    env: &dyn Env,
    horizon: u32,
    seed: Seed,
) -> Result<Disturbance<'a>> {
    let anomaly = anomaly_spec.build(&catalogues::anomalies(), env)?;
    let onset = anomaly_spec.schedule.draw_onset(horizon as usize, &mut seed.child("onset").rng());
    Ok(Disturbance { anomaly_spec, onset, anomaly })
}

/// Whether a fault changes observations, which can then be outside the environment's bounds.
pub(crate) fn is_seen(anomaly_spec: &AnomalySpec) -> Result<bool> {
    let classes = anomaly_spec.ids().map(|id| Ok(kind(id)?.class)).collect::<Result<Vec<_>>>()?;
    Ok(classes.contains(&Class::Observation))
}

/// A place where one episode is played after another.
pub(crate) struct Lane {
    game: Arc<Game>,
    env: Box<dyn Env>,
    rollout: Option<Rollout>,
    seeds: Seeds,
    /// The current observation.
    pub(crate) obs: Vec<f32>,
    /// First anomalous step of this episode.
    pub(crate) onset: Option<u32>,
}

/// What a step brought, in Gymnasium's words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) reward: f64,
    pub(crate) terminated: bool,
    pub(crate) truncated: bool,
    /// Whether the anomaly was active.
    pub(crate) label: bool,
    pub(crate) status: Status,
    /// Whether the episode, which is over, counts as a success.
    pub(crate) success: Option<bool>,
}

impl Lane {
    /// A lane in which nothing was started yet.
    pub(crate) fn new(game: Arc<Game>, root: u64) -> Result<Lane> {
        let (env, obs) = (game.stage()?, vec![0.0; game.env.spec().obs_width()]);
        Ok(Lane { game, env, rollout: None, seeds: Seeds::of(root), obs, onset: None })
    }

    /// Begins the episode of a seed, which is also the root of the seeds of those that follow it; without one, the next
    /// of the root.
    pub(crate) fn start(&mut self, seed: Option<u64>, initial: Option<&[f64]>) -> Result<()> {
        let (seed, game) = (self.seeds.next(seed), Arc::clone(&self.game));
        self.env = game.stage()?;
        let drawn = initial.map_or_else(|| Rollout::initial(self.env.as_ref(), seed), <[f64]>::to_vec);
        let wanted = self.env.spec().initial.len();
        ensure!(drawn.len() == wanted, "initial condition: expected {wanted} numbers, found {}", drawn.len());
        let disturb = |spec| disturbance(spec, self.env.as_ref(), game.horizon, seed);
        let disturbance = game.anomaly_spec.as_ref().map(disturb).transpose()?;
        self.onset = disturbance.as_ref().map(|d| d.onset);
        self.rollout = Some(Rollout::start(self.env.as_mut(), &drawn, seed, disturbance, &mut self.obs));
        Ok(())
    }

    /// Whether there is an episode to take a step in.
    pub(crate) fn is_running(&self) -> bool {
        self.rollout.is_some()
    }

    /// Takes a step.
    ///
    /// # Panics
    /// If no episode is running.
    pub(crate) fn step(&mut self, action: &[f32]) -> Outcome {
        let rollout = self.rollout.as_mut().expect("an episode is running");
        let (step, label) = rollout.step(self.env.as_mut(), action, &mut self.obs);
        let late = rollout.steps() >= self.game.horizon;
        let terminated = matches!(step.status, Status::Succeeded | Status::Failed | Status::Ended);
        // A simulator that broke says nothing of the state it was in: the episode is cut, not ended.
        let cut = matches!(step.status, Status::Diverged | Status::TimedOut);
        let truncated = !terminated && (late || cut);
        let mut outcome =
            Outcome { reward: step.reward, terminated, truncated, label, status: step.status, success: None };
        if terminated || truncated {
            outcome.success = self.success(step.status);
            self.rollout = None;
        }
        outcome
    }

    fn success(&self, status: Status) -> Option<bool> {
        match status {
            Status::Succeeded => Some(true),
            Status::Failed => Some(false),
            Status::Running | Status::Ended | Status::TimedOut => self.env.goal_met(),
            Status::Diverged => self.env.goal_met().map(|_| false),
        }
    }

    /// The environment as it is now.
    pub(crate) fn env(&mut self) -> &mut dyn Env {
        self.env.as_mut()
    }
}

impl Outcome {
    /// What comes instead of a step where an episode begins anew.
    pub(crate) const RESET: Outcome = Outcome {
        reward: 0.0,
        terminated: false,
        truncated: false,
        label: false,
        status: Status::Running,
        success: None,
    };

    /// Whether the episode is over.
    pub(crate) fn is_last(&self) -> bool {
        self.terminated || self.truncated
    }

    /// The word for how it goes on.
    pub(crate) fn status_name(&self) -> &'static str {
        match self.status {
            Status::Running if self.truncated => "timed_out",
            Status::TimedOut => "timed_out",
            Status::Running => "running",
            Status::Ended => "ended",
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
            Status::Diverged => "diverged",
        }
    }
}
