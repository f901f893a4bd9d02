//! What a learning algorithm must offer to the training loop.

use crate::config::{ConfigError, TrainConfig};
use crate::replay::Batch;
use offnominal_core::Rng;
use offnominal_core::catalogue::BuildError;
use offnominal_core::suggest::nearest;
use offnominal_nets::{Mlp, TensorError, Tensors};

/// An off-policy actor-critic algorithm: the networks, their optimisers, and one gradient step.
///
/// Observations arrive normalised and commands are in [−1, 1]; worlds, buffers and files are somebody else's.
pub trait Learner: Send {
    /// Writes a command that explores.
    fn explore(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng);

    /// Improves by one gradient step with the given learning rate; allocates nothing.
    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses;

    /// The network whose output, through tanh, is the command without exploration, and its parameters.
    fn actor(&self) -> (Mlp, Vec<f32>);

    /// Everything that an exact continuation needs.
    fn save(&self, into: &mut Tensors);

    /// Continues from what was saved.
    ///
    /// # Errors
    /// If a tensor is missing or has the wrong shape. The learner is then in an unspecified, but valid, state.
    fn load(&mut self, from: &Tensors) -> Result<(), TensorError>;
}

/// What one gradient step reports.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Losses {
    /// Mean loss of the critics.
    pub critic: f64,
    /// Loss of the actor.
    pub actor: f64,
    /// Weight of the entropy; 0 where the algorithm has none.
    pub temperature: f64,
    /// Mean entropy of the policy, estimated from its samples.
    pub entropy: f64,
    /// Mean value that the critics give to the policy's own commands.
    pub value: f64,
}

/// An algorithm that can be asked for by name.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// The name.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// The options that not every algorithm has and this one does.
    pub options: &'static [&'static str],
    build: fn(&TrainConfig, usize, usize, &mut Rng) -> Box<dyn Learner>,
}

/// All algorithms.
pub const ALL: &[Algorithm] = &[
    Algorithm {
        id: "tqc",
        summary: "truncated quantile critics (Kuznetsov et al. 2020)",
        options: &["critics", "quantiles", "drop", "alpha", "target_entropy"],
        build: |config, obs, act, rng| Box::new(crate::Tqc::new(config, obs, act, rng)),
    },
    Algorithm {
        id: "sac",
        summary: "soft actor-critic (Haarnoja et al. 2018)",
        options: &["critics", "alpha", "target_entropy"],
        build: |config, obs, act, rng| Box::new(crate::Sac::new(config, obs, act, rng)),
    },
    Algorithm {
        id: "td3",
        summary: "twin delayed deep deterministic policy gradient (Fujimoto et al. 2018)",
        options: &["critics", "exploration_noise", "policy_noise", "noise_clip", "policy_delay"],
        build: |config, obs, act, rng| Box::new(crate::Td3::new(config, obs, act, rng)),
    },
];

impl Algorithm {
    /// The options that only other algorithms have.
    pub fn foreign(&self) -> impl Iterator<Item = &'static str> {
        let all = ALL.iter().flat_map(|algorithm| algorithm.options).copied();
        all.filter(|option| !self.options.contains(option))
    }

    /// The error about an option of another algorithm.
    pub(crate) fn refuse(&self, option: &str) -> ConfigError {
        let own = self.options.join(", ");
        ConfigError::Foreign { name: option.into(), algorithm: self.id.into(), own }
    }
}

/// The algorithm of that name.
pub(crate) fn find(name: &str) -> Result<&'static Algorithm, BuildError> {
    let known = || ALL.iter().map(|a| a.id);
    ALL.iter().find(|a| a.id == name).ok_or_else(|| BuildError::Unknown {
        noun: "algorithm",
        id: name.into(),
        nearest: nearest(name, known()),
        known: known().collect::<Vec<_>>().join(", "),
    })
}

/// A new learner of the recipe's algorithm.
pub(crate) fn build(
    config: &TrainConfig,
    obs_width: usize,
    act_width: usize,
    rng: &mut Rng,
) -> Result<Box<dyn Learner>, BuildError> {
    Ok((find(&config.algorithm)?.build)(config, obs_width, act_width, rng))
}
