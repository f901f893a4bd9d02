//! The last training episodes.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Episodes over which is averaged.
const WINDOW: usize = 100;

/// Returns and successes of the last episodes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recent {
    episodes: u64,
    last: VecDeque<(f64, Option<bool>)>,
}

impl Recent {
    /// Takes an episode into account.
    pub(super) fn push(&mut self, total_reward: f64, success: Option<bool>) {
        self.episodes += 1;
        if self.last.len() == WINDOW {
            self.last.pop_front();
        }
        self.last.push_back((total_reward, success));
    }

    /// Number of all episodes.
    pub(super) fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Mean return, if there was an episode.
    pub(super) fn mean_return(&self) -> Option<f64> {
        self.mean(|&(total, _)| Some(total))
    }

    /// Share of successes, if there was an episode and the environment defines success.
    pub(super) fn success(&self) -> Option<f64> {
        self.mean(|&(_, success)| success.map(|s| f64::from(u8::from(s))))
    }

    fn mean(&self, of: impl Fn(&(f64, Option<bool>)) -> Option<f64>) -> Option<f64> {
        let sum: Option<f64> = self.last.iter().map(of).sum();
        sum.filter(|_| !self.last.is_empty()).map(|s| s / self.last.len() as f64)
    }
}
