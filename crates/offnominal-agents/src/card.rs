//! What is known of a shipped policy: how it was made and how good it is.

use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// The card beside a policy's tensors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Name by which commands refer to this policy: `<environment>-<algorithm>`.
    pub id: String,
    /// The environment it was trained in.
    pub env: String,
    /// The algorithm.
    pub algorithm: String,
    /// Mean return in undisturbed episodes.
    pub mean_return: Estimate,
    /// Mean return of random actions, the floor of the normalised score.
    pub random_return: Estimate,
    /// Share of episodes that succeed; `None` where the environment defines no success.
    pub success_rate: Option<Estimate>,
    /// The exact action that trained it.
    pub command: String,
    /// The seed of that command.
    pub seed: Seed,
    /// Steps in the environment.
    pub steps: u64,
    /// Step at which this actor was the best so far.
    pub best_step: u64,
    /// Time that the training took.
    pub seconds: f64,
    /// Version of this program.
    pub engine_version: String,
    /// SHA-256 of the file of tensors.
    pub sha256: String,
}

impl Card {
    /// The seed of the episodes behind the numbers of a card, given that of the training.
    pub fn evaluation_seed(training: Seed) -> u64 {
        training.child("card").0
    }
}
