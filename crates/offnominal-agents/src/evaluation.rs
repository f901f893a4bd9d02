//! How good an actor is while it is being trained.

use crate::actor::Actor;
use offnominal_core::Seed;
use offnominal_core::env::Env;
use offnominal_core::run::Trial;
use serde::{Deserialize, Serialize};

/// The outcome of a few undisturbed episodes with fixed seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Step of the training.
    pub step: u64,
    /// Mean undiscounted return.
    pub mean_return: f64,
    /// Share of successes; `None` where the environment defines no success.
    pub success: Option<f64>,
}

impl Evaluation {
    /// Plays `n` episodes; the same seed gives every actor the same initial conditions. None, if `go_on` says no before one.
    pub(crate) fn of(
        actor: &Actor,
        env: &dyn Env,
        n: usize,
        step: u64,
        seed: Seed,
        go_on: &dyn Fn() -> bool,
    ) -> Option<Evaluation> {
        let trial = Trial::new(env, actor);
        let (mut total, mut successes) = (0.0, Some(0.0));
        for i in 0..n {
            if !go_on() {
                return None;
            }
            let outcome = trial.outcome(seed.child(i));
            total += outcome.total_reward;
            successes = successes.zip(outcome.success).map(|(sum, s)| sum + f64::from(u8::from(s)));
        }
        let n = n as f64;
        Some(Evaluation { step, mean_return: total / n, success: successes.map(|s| s / n) })
    }

    /// Whether this one is better: more successes, or as many and a larger return.
    pub(crate) fn beats(&self, other: &Evaluation) -> bool {
        let key = |e: &Evaluation| (e.success.unwrap_or(0.0), e.mean_return);
        key(self) > key(other)
    }
}
