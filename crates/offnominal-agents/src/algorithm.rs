//! The algorithms that can be asked for by name, with the options that each has.

mod options;

use crate::actor::{choices, outputs};
use crate::config::{ConfigError, Normalise, TrainConfig};
use crate::encoder::{encoder, scaled};
use crate::learner::Learner;
use crate::{Dqn, Sac, Td3, Tqc};
use offnominal_core::Rng;
use offnominal_core::catalogue::BuildError;
use offnominal_core::limits::BUFFERS;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_core::suggest::nearest;
use offnominal_nets::ConvNet;

/// An algorithm that can be asked for by name.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// The name.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// The options that not every algorithm has and this one does.
    pub options: &'static [&'static str],
    /// Which actions it gives.
    pub actions: Actions,
    /// A learner for so many numbers per observation and per action.
    build: Build,
}

/// Makes a learner.
type Build = fn(&TrainConfig, Option<ConvNet>, (usize, usize), &mut Rng) -> Box<dyn Learner>;

/// The actions that an algorithm can learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actions {
    /// Real numbers.
    Real,
    /// One choice among a few.
    Choice,
}

impl std::fmt::Display for Actions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Actions::Real => "actions that are real numbers",
            Actions::Choice => "one action that is a choice",
        })
    }
}

/// All algorithms.
pub const ALL: &[Algorithm] = &[
    Algorithm {
        id: "tqc",
        summary: "truncated quantile critics (Kuznetsov et al. 2020)",
        options: &[
            "critics",
            "quantiles",
            "top_quantiles_to_drop",
            "alpha",
            "target_entropy",
            "imitation",
            "advice",
        ],
        actions: Actions::Real,
        build: |config, _, (obs, act), rng| Box::new(Tqc::new(config, obs, act, rng)),
    },
    Algorithm {
        id: "sac",
        summary: "soft actor-critic (Haarnoja et al. 2018)",
        options: &["critics", "alpha", "target_entropy", "imitation", "advice"],
        actions: Actions::Real,
        build: |config, _, (obs, act), rng| Box::new(Sac::new(config, obs, act, rng)),
    },
    Algorithm {
        id: "td3",
        summary: "twin delayed deep deterministic policy gradient (Fujimoto et al. 2018)",
        options: &[
            "critics",
            "exploration_noise",
            "output_activation",
            "policy_noise",
            "noise_clip",
            "policy_delay",
            "dropout",
            "dropconnect",
            "prior",
        ],
        actions: Actions::Real,
        build: |config, _, (obs, act), rng| Box::new(Td3::new(config, obs, act, rng)),
    },
    Algorithm {
        id: "ddpg",
        summary: "deep deterministic policy gradient (Lillicrap et al. 2016)",
        options: &["exploration_noise", "output_activation", "dropout", "dropconnect", "prior"],
        actions: Actions::Real,
        build: |config, _, (obs, act), rng| Box::new(Td3::ddpg(config, obs, act, rng)),
    },
    Algorithm {
        id: "dqn",
        summary: "deep Q-network for choices (Mnih et al. 2015), optionally double (van Hasselt et al. 2016)",
        options: &[
            "epsilon_end",
            "epsilon_steps",
            "target_every",
            "double",
            "imitation",
            "advice",
            "dropout",
            "dropconnect",
            "prior",
            "filters",
        ],
        actions: Actions::Choice,
        build: |config, encoder, (obs, choices), rng| Box::new(Dqn::new(config, encoder, obs, choices, rng)),
    },
];

impl Algorithm {
    /// The options that only other algorithms have.
    pub fn foreign(&self) -> impl Iterator<Item = &'static str> {
        let all = ALL.iter().flat_map(|algorithm| algorithm.options).copied();
        all.filter(|option| !self.options.contains(option))
    }

    /// Checks that it can learn the actions of an environment.
    fn check(&self, spec: &EnvSpec) -> Result<(), ConfigError> {
        let fits = match self.actions {
            Actions::Real => !spec.action.iter().any(Channel::is_choice),
            Actions::Choice => choices(&spec.action).is_some(),
        };
        let able = || ALL.iter().filter(|a| a.actions != self.actions).map(|a| a.id);
        let error = || ConfigError::Actions {
            env: spec.id.clone(),
            algorithm: self.id,
            expected: self.actions.to_string(),
            able: able().collect::<Vec<_>>().join(", "),
        };
        fits.then_some(()).ok_or_else(error)
    }

    /// The error about an option of another algorithm.
    fn refuse(&self, option: &str) -> ConfigError {
        let own = self.options.join(", ");
        ConfigError::Foreign { name: option.into(), algorithm: self.id.into(), own }
    }
}

/// The algorithm of that name.
fn find(name: &str) -> Result<&'static Algorithm, ConfigError> {
    let known = || ALL.iter().map(|a| a.id);
    let error = || BuildError::Unknown {
        noun: "algorithm",
        id: name.into(),
        nearest: nearest(name, known()),
        known: known().collect::<Vec<_>>().join(", "),
    };
    ALL.iter().find(|a| a.id == name).ok_or_else(|| ConfigError::Unknown(error().to_string()))
}

/// A new learner of the recipe's algorithm for an environment.
///
/// # Errors
/// If the algorithm does not exist, or cannot learn the environment's actions.
pub(crate) fn build(
    config: &TrainConfig,
    spec: &EnvSpec,
    rng: &mut Rng,
) -> Result<Box<dyn Learner>, ConfigError> {
    let algorithm = find(&config.algorithm)?;
    algorithm.check(spec)?;
    let normalised = config.normalise != Normalise::None;
    fits(config, spec)?;
    let encoder = encoder(spec, &config.filters)?.map(|encoder| scaled(encoder, normalised));
    Ok((algorithm.build)(config, encoder, (spec.obs_width(), outputs(&spec.action)), rng))
}

/// Requires that the networks of a training and its buffers fit into memory, before any is made.
fn fits(config: &TrainConfig, spec: &EnvSpec) -> Result<(), ConfigError> {
    let numbers = numbers(config, spec);
    let expected = "networks, batches and images whose training takes at most 2^29 numbers";
    let found = || format!("{numbers:.3e}, of {:?} units and batches of {}", config.hidden, config.batch);
    let error = || ConfigError::Range { name: "hidden", expected, found: found() };
    (numbers <= BUFFERS as f64).then_some(()).ok_or_else(error)
}

/// About how many numbers a training holds beside its transitions: weights, their targets, gradients and moments; what
/// each unit says of each row of a batch, and its derivative.
fn numbers(config: &TrainConfig, spec: &EnvSpec) -> f64 {
    let (mut weights, mut units, mut inputs) = (0.0, spec.obs_width() as f64, spec.obs_width() as f64);
    if let [Channel { image: Some(image), .. }] = spec.observation[..] {
        let [frames, planes, mut rows, mut columns] = image.shape();
        let mut depth = (frames * planes) as f64;
        for &[kernel, stride, count] in &config.filters {
            let along = |n: usize| n.saturating_sub(kernel) / stride.max(1) + 1;
            (rows, columns) = (along(rows), along(columns));
            weights += (kernel * kernel * count) as f64 * depth;
            (depth, inputs) = (count as f64, (rows * columns * count) as f64);
            units += inputs;
        }
    }
    let widen = if config.prior > 0.0 { 2.0 } else { 1.0 };
    let last = config.quantiles.max(2 * outputs(&spec.action)) as f64;
    let hidden = config.hidden.iter().map(|&n| widen * n as f64).chain([last]);
    let mut before = inputs + spec.action.len() as f64;
    for width in hidden {
        weights += (before + 1.0) * width;
        (units, before) = (units + width, width);
    }
    let networks = config.critics as f64 + 1.0;
    networks * (5.0 * weights + 4.0 * config.batch as f64 * units)
}
