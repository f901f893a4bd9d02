//! What happened in one run of a policy in an environment.

use crate::Seed;
use crate::anomaly_spec::AnomalySpec;
use crate::detector::Signals;
use crate::divergence::Divergence;
use serde::{Deserialize, Serialize};

/// A recorded episode of T steps. Observations have T + 1 rows (the first one is the reset's); everything else has T.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// Environment that produced it.
    pub env: String,
    /// The seed from which it can be played again.
    pub seed: Seed,
    /// Initial condition.
    pub initial: Vec<f64>,
    /// What was done to it; `None` for a nominal episode.
    pub anomaly_spec: Option<AnomalySpec>,
    /// First anomalous step, if there is one.
    pub onset: Option<u32>,
    /// Observations as the policy read them, `[T + 1, obs_width]`.
    pub observations: Vec<f32>,
    /// The policy's own actions, `[T, act_width]`.
    pub actions: Vec<f32>,
    /// Rewards of the true state, `[T]`.
    pub rewards: Vec<f64>,
    /// Whether the anomaly was active in each step, `[T]`.
    pub labels: Vec<bool>,
    /// How it ended.
    pub end: End,
    /// What broke it off, if it diverged and that is known.
    pub divergence: Option<Divergence>,
    /// Whether the goal was met at the last step; `None` where the environment defines no success.
    pub goal_met: Option<bool>,
    /// Numbers per observation.
    pub obs_width: usize,
    /// Numbers per action.
    pub act_width: usize,
}

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The environment's own success.
    Succeeded,
    /// The environment's own failure.
    Failed,
    /// The environment ended it, and nobody has said what that means.
    Ended,
    /// The horizon was reached.
    TimedOut,
    /// The simulator broke, or a number stopped being finite: the episode has no outcome.
    Diverged,
}

/// What an episode comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Number of steps.
    pub steps: usize,
    /// How it ended.
    pub end: End,
    /// The undiscounted sum of rewards.
    pub total_reward: f64,
    /// Whether it counts as a success; `None` where the environment defines no success.
    pub success: Option<bool>,
    /// What broke it off, if it has no outcome.
    pub divergence: Option<Divergence>,
}

impl Outcome {
    /// That of an episode.
    pub fn of(episode: &Episode) -> Outcome {
        let (total_reward, success) = (episode.total_reward(), episode.success());
        Outcome {
            steps: episode.len(),
            end: episode.end,
            total_reward,
            success,
            divergence: episode.diverged(),
        }
    }
}

impl Episode {
    /// Why nobody may learn from it what is nominal, if something says so.
    pub fn not_nominal(&self) -> Option<&'static str> {
        match self.end {
            End::Diverged => Some("it diverged"),
            _ => self.labels.contains(&true).then_some("its label says so"),
        }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether no step was taken.
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// The undiscounted sum of rewards.
    pub fn total_reward(&self) -> f64 {
        self.rewards.iter().sum()
    }

    /// Whether the episode counts as a success, which one without an outcome never does; `None` where the environment
    /// defines no success.
    pub fn success(&self) -> Option<bool> {
        match self.end {
            End::Succeeded => Some(true),
            End::Failed => Some(false),
            End::Ended | End::TimedOut => self.goal_met,
            End::Diverged => self.goal_met.map(|_| false),
        }
    }

    /// What broke it off, if it has no outcome.
    pub fn diverged(&self) -> Option<Divergence> {
        (self.end == End::Diverged).then(|| self.divergence.unwrap_or(Divergence::Environment))
    }

    /// What a detector may see of it: no reward, no label, no seed.
    pub fn signals(&self) -> Signals<'_> {
        Signals::new(&self.observations, &self.actions, self.obs_width, self.act_width)
    }
}
