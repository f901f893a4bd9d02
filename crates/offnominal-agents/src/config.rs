//! The recipe of a training run.

mod check;
mod error;
mod options;
mod presets;

pub use error::ConfigError;
pub use options::{Alpha, Keep, Normalise, OutputActivation, Schedule};
pub use presets::PRESETS;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

offnominal_core::with_defaults! {
    /// Everything that decides how a policy is trained, except the environment and the seed.
    ///
    /// The defaults are the preset `sap`. Options from `critics` on belong to some algorithms only (see
    /// [`crate::Algorithm`]); of the others they keep their default, or the recipe is refused.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct TrainConfig {
        /// Name of the algorithm.
        pub algorithm: String = "tqc".into(),
        /// Steps in the environment.
        pub steps: u64 = 200_000,
        /// Learning rate at the beginning.
        pub lr: f64 = 3e-4,
        /// How the learning rate goes on.
        pub schedule: Schedule = Schedule::Constant,
        /// Transitions that the replay buffer holds.
        pub buffer: usize = 1_000_000,
        /// Steps with random actions before the first gradient step.
        pub learning_starts: u64 = 100,
        /// Steps at the beginning in which a demonstrator acts; 0 without one.
        pub demonstrations: u64 = 0,
        /// Weight of the pull of the actor towards the demonstrated actions, or of the large-margin loss of demonstrated
        /// choices; 0 without a demonstrator.
        pub imitation: f64 = 0.0,
        /// Whether the demonstrator is also asked what it would do where the policy has been, and the pull is towards
        /// that everywhere (DAgger, Ross et al. 2011).
        pub advice: bool = false,
        /// Anomalies of the observation, each with its largest magnitude: every other observation of a batch is learned from as
        /// one of them would show it, at a magnitude drawn up to that (data augmentation, Laskin et al. 2020). The
        /// demonstrator's advice is on what was observed.
        pub augment: BTreeMap<String, f64> = BTreeMap::new(),
        /// Transitions per gradient step.
        pub batch: usize = 256,
        /// Share of the critic that enters the target critic at each gradient step.
        pub tau: f64 = 0.005,
        /// Discount per step.
        pub gamma: f64 = 0.99,
        /// Factor on rewards as the learner sees them; where they are large, quantiles take long to reach their targets.
        pub reward_scale: f64 = 1.0,
        /// Steps in the environment between gradient steps.
        pub train_every: u64 = 1,
        /// Gradient steps then taken.
        pub gradient_steps: u64 = 1,
        /// Environments that are stepped in turn.
        pub n_envs: usize = 1,
        /// Mean number of steps after which a training episode is left at random for a new one, with its future still valued,
        /// where most is to be learned at the beginning; 0 if none is. Evaluations are played to the end.
        pub restart_after: u32 = 0,
        /// Steps in the environment over which the policy that is evaluated and kept is averaged, exponentially (Polyak &
        /// Juditsky 1992); the policy as it is if 0.
        pub average: u64 = 0,
        /// Widths of the hidden layers of actor and critics.
        pub hidden: Vec<usize> = vec![256, 256],
        /// Whether and how observations are normalised.
        pub normalise: Normalise = Normalise::None,
        /// Steps between evaluations.
        pub eval_every: u64 = 5_000,
        /// Episodes per evaluation.
        pub eval_episodes: usize = 20,
        /// Which actor becomes the policy.
        pub keep: Keep = Keep::Best,
        /// Number of critics.
        pub critics: usize = 2,
        /// Quantiles per critic.
        pub quantiles: usize = 25,
        /// Largest quantiles per critic that are left out of the target.
        pub top_quantiles_to_drop: usize = 2,
        /// Weight of the entropy.
        pub alpha: Alpha = Alpha::Auto,
        /// Entropy that a tuned weight aims at; the negative number of action channels if not given.
        pub target_entropy: Option<f64> = None,
        /// Deviation of the noise that explores, where actions reach from −1 to 1.
        pub exploration_noise: f64 = 0.1,
        /// What takes outputs of the actor to actions: tanh, or linear, which the bounds of the environment cut.
        pub output_activation: OutputActivation = OutputActivation::Tanh,
        /// Deviation of the noise that blurs the next actions of the target.
        pub policy_noise: f64 = 0.2,
        /// Magnitude at which that noise is cut.
        pub noise_clip: f64 = 0.5,
        /// Gradient steps of the critics per step of the actor.
        pub policy_delay: u64 = 2,
        /// Share of random choices at the end of exploration; it begins with 1.
        pub epsilon_end: f64 = 0.04,
        /// Steps in the environment over which it falls.
        pub epsilon_steps: u64 = 8_000,
        /// Gradient steps between those of the target network.
        pub target_every: u64 = 1,
        /// Whether the network, not its target, picks the choice whose value is the target's.
        pub double: bool = false,
        /// Probability that a hidden unit of the policy is dropped; it then acts on the mean of several passes.
        pub dropout: f64 = 0.0,
        /// The same for a weight of a hidden layer.
        pub dropconnect: f64 = 0.0,
        /// Weight of a fixed random network that is added to the policy's, for ensembles whose members shall go on to differ
        /// where they have learned nothing; 0 without one. The hidden layers are then twice as wide.
        pub prior: f64 = 0.0,
        /// Convolutions before the hidden layers, for environments that show an image: pixels a filter covers on a side,
        /// pixels between its places, and number of filters. Only the hidden layers drop anything.
        pub filters: Vec<[usize; 3]> = vec![],
    }
}

impl TrainConfig {
    /// The learning rate after so many steps.
    pub fn lr_at(&self, step: u64) -> f64 {
        match self.schedule {
            Schedule::Constant => self.lr,
            Schedule::Linear => self.lr * (1.0 - step as f64 / self.steps as f64).max(0.0),
        }
    }
}

/// The options by name.
pub(crate) fn fields(config: &TrainConfig) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a recipe is an object, not {other:?}"),
    }
}

#[cfg(test)]
mod tests;
