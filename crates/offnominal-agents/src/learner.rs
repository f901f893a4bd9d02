//! What a learning algorithm must offer to the training loop.

use crate::actor::{choices, outputs};
use crate::config::{ConfigError, Normalise, TrainConfig};
use crate::replay::Batch;
use crate::trainer::TrainError;
use offnominal_core::Rng;
use offnominal_core::catalogue::BuildError;
use offnominal_core::spec::{Channel, EnvSpec};
use offnominal_core::suggest::nearest;
use offnominal_nets::{ConvNet, Filters, Net, TensorError, Tensors};

/// An off-policy algorithm: the networks, their optimisers, and one gradient step.
///
/// Observations arrive normalised; commands are in [−1, 1], or the index of a choice. Worlds, buffers and files are
/// somebody else's.
pub trait Learner: Send {
    /// Writes a command that explores, after so many steps in the world.
    fn explore(&mut self, obs: &[f32], action: &mut [f32], step: u64, rng: &mut Rng);

    /// How much it explores after so many steps in the world: the deviation of the noise on its commands, the share of
    /// random choices, or the weight of the entropy.
    fn noise(&self, step: u64) -> f64;

    /// Improves by one gradient step with the given learning rate; allocates nothing.
    fn update(&mut self, batch: &Batch, lr: f64, rng: &mut Rng) -> Losses;

    /// The network whose output, through tanh, is the command without exploration, or whose largest output is the choice;
    /// and its parameters.
    fn actor(&self) -> (Net, Vec<f32>);

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
    /// What it commands.
    pub commands: Commands,
    build: fn(&TrainConfig, Input, usize, &mut Rng) -> Box<dyn Learner>,
}

/// What a network reads: so many numbers, and with which eye.
struct Input {
    width: usize,
    eye: Option<ConvNet>,
}

/// The commands that an algorithm can learn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// Real numbers.
    Real,
    /// One choice among a few.
    Choice,
}

impl std::fmt::Display for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Commands::Real => "commands that are real numbers",
            Commands::Choice => "one command that is a choice",
        })
    }
}

/// All algorithms.
pub const ALL: &[Algorithm] = &[
    Algorithm {
        id: "tqc",
        summary: "truncated quantile critics (Kuznetsov et al. 2020)",
        options: &["critics", "quantiles", "drop", "alpha", "target_entropy", "imitation", "advice"],
        commands: Commands::Real,
        build: |config, obs, act, rng| Box::new(crate::Tqc::new(config, obs.width, act, rng)),
    },
    Algorithm {
        id: "sac",
        summary: "soft actor-critic (Haarnoja et al. 2018)",
        options: &["critics", "alpha", "target_entropy", "imitation", "advice"],
        commands: Commands::Real,
        build: |config, obs, act, rng| Box::new(crate::Sac::new(config, obs.width, act, rng)),
    },
    Algorithm {
        id: "td3",
        summary: "twin delayed deep deterministic policy gradient (Fujimoto et al. 2018)",
        options: &[
            "critics",
            "exploration_noise",
            "policy_noise",
            "noise_clip",
            "policy_delay",
            "dropout",
            "dropconnect",
            "prior",
        ],
        commands: Commands::Real,
        build: |config, obs, act, rng| Box::new(crate::Td3::new(config, obs.width, act, rng)),
    },
    Algorithm {
        id: "ddpg",
        summary: "deep deterministic policy gradient (Lillicrap et al. 2016)",
        options: &["exploration_noise", "dropout", "dropconnect", "prior"],
        commands: Commands::Real,
        build: |config, obs, act, rng| Box::new(crate::Td3::ddpg(config, obs.width, act, rng)),
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
        commands: Commands::Choice,
        build: |config, obs, choices, rng| {
            Box::new(crate::Dqn::with_eye(config, obs.eye, obs.width, choices, rng))
        },
    },
];

impl Algorithm {
    /// The options that only other algorithms have.
    pub fn foreign(&self) -> impl Iterator<Item = &'static str> {
        let all = ALL.iter().flat_map(|algorithm| algorithm.options).copied();
        all.filter(|option| !self.options.contains(option))
    }

    /// Checks that it can learn the commands of a world.
    fn check(&self, spec: &EnvSpec) -> Result<(), TrainError> {
        let fits = match self.commands {
            Commands::Real => !spec.action.iter().any(Channel::is_choice),
            Commands::Choice => choices(&spec.action).is_some(),
        };
        let able = || ALL.iter().filter(|a| a.commands != self.commands).map(|a| a.id);
        let error = || TrainError::Commands {
            env: spec.id.clone(),
            algorithm: self.id,
            expected: self.commands,
            able: able().collect::<Vec<_>>().join(", "),
        };
        fits.then_some(()).ok_or_else(error)
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

/// A new learner of the recipe's algorithm for a world.
///
/// # Errors
/// If the algorithm does not exist, or cannot learn the world's commands.
pub(crate) fn build(
    config: &TrainConfig,
    spec: &EnvSpec,
    rng: &mut Rng,
) -> Result<Box<dyn Learner>, TrainError> {
    let algorithm = find(&config.algorithm)?;
    algorithm.check(spec)?;
    let eye = eye(spec, &config.filters)?.map(|eye| scaled(eye, config.normalise != Normalise::None));
    let input = Input { width: spec.obs_width(), eye };
    Ok((algorithm.build)(config, input, outputs(&spec.action), rng))
}

/// Convolutions that take bytes to [0, 1], or pictures that are normalised as they are.
pub(crate) fn scaled(eye: ConvNet, normalised: bool) -> ConvNet {
    if normalised { eye.with_scale(1.0) } else { eye }
}

/// The convolutions with which a network reads the one picture that a world shows; none without filters.
///
/// # Errors
/// If the world shows something else, or the filters do not fit on its picture.
pub(crate) fn eye(spec: &EnvSpec, filters: &[[usize; 3]]) -> Result<Option<ConvNet>, ConfigError> {
    if filters.is_empty() {
        return Ok(None);
    }
    let refused = |found: String| {
        ConfigError::Option(format!(
            "filters: expected a world that shows one picture, {filters:?} fitting on it; found {found}"
        ))
    };
    let [Channel { image: Some(image), .. }] = spec.observation[..] else {
        return Err(refused(format!("{}, which shows {} channels", spec.id, spec.observation.len())));
    };
    let layers: Vec<Filters> =
        filters.iter().map(|&[kernel, stride, count]| Filters { kernel, stride, count }).collect();
    let [frames, planes, rows, columns] = image.shape();
    let net = ConvNet::fitting(frames * planes, rows, columns, &layers);
    net.map(Some).ok_or_else(|| refused(format!("{} pixels by {} in {}", rows, columns, spec.id)))
}
