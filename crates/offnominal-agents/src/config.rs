//! The recipe of a training run.

use crate::learner::{self, Algorithm};
use offnominal_nets::Mlp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything that decides how a policy is trained, except the world and the seed.
///
/// Options from `critics` on belong to some algorithms only (see [`crate::Algorithm`]); of the others they keep their
/// default, or the recipe is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Steps in the world.
    pub steps: u64,
    /// Learning rate at the beginning.
    pub lr: f64,
    /// How the learning rate goes on.
    pub schedule: Schedule,
    /// Transitions that the replay buffer holds.
    pub buffer: usize,
    /// Steps with random commands before the first gradient step.
    pub learning_starts: u64,
    /// Steps at the beginning that a demonstrator commands; 0 without one.
    pub demonstrations: u64,
    /// Transitions per gradient step.
    pub batch: usize,
    /// Share of the critic that enters the target critic at each gradient step.
    pub tau: f64,
    /// Discount per step.
    pub gamma: f64,
    /// Factor on rewards as the learner sees them; where they are large, quantiles take long to reach their targets.
    pub reward_scale: f64,
    /// Steps in the world between gradient steps.
    pub train_every: u64,
    /// Gradient steps then taken.
    pub gradient_steps: u64,
    /// Worlds that are stepped in turn.
    pub n_envs: usize,
    /// Widths of the hidden layers of actor and critics.
    pub hidden: Vec<usize>,
    /// Whether and how observations are normalised.
    pub normalise: Normalise,
    /// Steps between evaluations.
    pub eval_every: u64,
    /// Episodes per evaluation.
    pub eval_episodes: usize,
    /// Which actor becomes the policy.
    pub keep: Keep,
    /// Number of critics.
    pub critics: usize,
    /// Quantiles per critic.
    pub quantiles: usize,
    /// Largest quantiles per critic that are left out of the target.
    pub drop: usize,
    /// Weight of the entropy.
    pub alpha: Alpha,
    /// Entropy that a tuned weight aims at; the negative number of action channels if not given.
    pub target_entropy: Option<f64>,
    /// Deviation of the noise that explores, where commands reach from −1 to 1.
    pub exploration_noise: f64,
    /// Deviation of the noise that blurs the next commands of the target.
    pub policy_noise: f64,
    /// Magnitude at which that noise is cut.
    pub noise_clip: f64,
    /// Gradient steps of the critics per step of the actor.
    pub policy_delay: u64,
    /// Share of random choices at the end of exploration; it begins with 1.
    pub epsilon_end: f64,
    /// Steps in the world over which it falls.
    pub epsilon_steps: u64,
    /// Gradient steps between those of the target network.
    pub target_every: u64,
    /// Whether the network, not its target, picks the choice whose value is the target's.
    pub double: bool,
    /// Probability that a hidden unit of the policy is dropped; it then acts on the mean of several passes.
    pub dropout: f64,
    /// The same for a weight of a hidden layer.
    pub dropconnect: f64,
}

/// The weight of the entropy: `"auto"`, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum Alpha {
    /// Tuned, so that the entropy meets its target.
    Auto,
    /// Fixed.
    Fixed(f64),
}

impl TryFrom<Value> for Alpha {
    type Error = String;

    fn try_from(value: Value) -> Result<Alpha, String> {
        match (value.as_f64(), value.as_str()) {
            (Some(alpha), _) if alpha >= 0.0 => Ok(Alpha::Fixed(alpha)),
            (_, Some("auto")) => Ok(Alpha::Auto),
            _ => Err(format!("expected \"auto\" or a number that is not negative, found {value}")),
        }
    }
}

impl From<Alpha> for Value {
    fn from(alpha: Alpha) -> Value {
        match alpha {
            Alpha::Auto => "auto".into(),
            Alpha::Fixed(alpha) => alpha.into(),
        }
    }
}

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// It stays.
    Constant,
    /// It falls to zero, linearly in the steps.
    Linear,
}

/// How observations are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// Not at all.
    None,
    /// By the mean and deviation of everything seen so far.
    Running,
}

/// Which of the actors that were evaluated becomes the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The one with the best evaluation; with few episodes per evaluation it may owe that to luck.
    Best,
    /// The last one, which a learning rate that falls to zero has settled.
    Last,
}

/// What is wrong with a recipe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no preset of that name.
    #[error("no preset is called {found:?}; there are: {}", PRESETS.join(", "))]
    Preset {
        /// The name that was given.
        found: String,
    },
    /// There is no such algorithm.
    #[error("{0}")]
    Algorithm(String),
    /// An option of other algorithms was given.
    #[error("training option {name}: {algorithm} has no such option; its own are: {own}")]
    Foreign {
        /// The option.
        name: String,
        /// The algorithm.
        algorithm: String,
        /// The options that this algorithm has and others do not.
        own: String,
    },
    /// An option does not exist or has a value of the wrong type.
    #[error("training option {0}")]
    Option(String),
    /// A value is outside its range.
    #[error("training option {name}: expected {expected}, found {found}")]
    Range {
        /// The option.
        name: &'static str,
        /// The rule in words.
        expected: &'static str,
        /// The value.
        found: String,
    },
}

/// Names of the presets.
pub const PRESETS: &[&str] = &["sap", "mjc", "mjc-small", "pybullet-m", "cartpole", "pendulum"];

impl Default for TrainConfig {
    /// The preset `sap`.
    fn default() -> Self {
        Self::sap()
    }
}

impl TrainConfig {
    /// The values of Table 10 of AnomalyGym for the family `sap` (also of its car) or `mjc`; `mjc-small` has the
    /// networks and batches of `sap` with the discount of `mjc`, for a fifteenth of the time. `pybullet-m` has those of
    /// Tables 1 and 2 of PyBullet-M, with the α of its figure 5. `cartpole` (for DQN) and
    /// `pendulum` (for DDPG) have the values of RL Baselines3 Zoo, with the target network copied once per bout of
    /// gradient steps.
    ///
    /// # Errors
    /// If there is no preset of that name.
    pub fn preset(name: &str) -> Result<TrainConfig, ConfigError> {
        match name {
            "sap" => Ok(Self::sap()),
            "mjc" => Ok(Self::mjc()),
            "mjc-small" => {
                let mjc = Self::mjc();
                Ok(TrainConfig { hidden: vec![256, 256], batch: 256, lr: 7e-4, ..mjc })
            }
            "pybullet-m" => Ok(Self::pybullet_m()),
            "cartpole" => Ok(Self::cartpole()),
            "pendulum" => Ok(Self::pendulum()),
            other => Err(ConfigError::Preset { found: other.into() }),
        }
    }

    /// The preset of a world, or else of its family.
    pub fn for_env(id: &str) -> TrainConfig {
        match id {
            "cartpole" => Self::cartpole(),
            "pendulum" => Self::pendulum(),
            id if id.starts_with("mjc-") => Self::mjc(),
            _ => Self::sap(),
        }
    }

    fn sap() -> TrainConfig {
        TrainConfig {
            algorithm: "tqc".into(),
            steps: 200_000,
            lr: 3e-4,
            schedule: Schedule::Constant,
            buffer: 1_000_000,
            learning_starts: 100,
            demonstrations: 0,
            batch: 256,
            tau: 0.005,
            gamma: 0.99,
            reward_scale: 1.0,
            train_every: 1,
            gradient_steps: 1,
            n_envs: 1,
            hidden: vec![256, 256],
            normalise: Normalise::None,
            eval_every: 5_000,
            eval_episodes: 20,
            keep: Keep::Best,
            critics: 2,
            quantiles: 25,
            drop: 2,
            alpha: Alpha::Auto,
            target_entropy: None,
            exploration_noise: 0.1,
            policy_noise: 0.2,
            noise_clip: 0.5,
            policy_delay: 2,
            epsilon_end: 0.04,
            epsilon_steps: 8_000,
            target_every: 1,
            double: false,
            dropout: 0.0,
            dropconnect: 0.0,
        }
    }

    fn mjc() -> TrainConfig {
        TrainConfig {
            steps: 1_000_000,
            lr: 1e-3,
            schedule: Schedule::Linear,
            learning_starts: 1_000,
            batch: 512,
            gamma: 0.98,
            hidden: vec![512, 512, 512],
            eval_every: 10_000,
            eval_episodes: 10,
            ..Self::sap()
        }
    }

    fn pybullet_m() -> TrainConfig {
        TrainConfig {
            algorithm: "sac".into(),
            steps: 1_000_000,
            buffer: 100_000,
            learning_starts: 1_000,
            hidden: vec![400, 300],
            alpha: Alpha::Fixed(0.2),
            eval_every: 10_000,
            eval_episodes: 10,
            ..Self::sap()
        }
    }

    fn cartpole() -> TrainConfig {
        TrainConfig {
            algorithm: "dqn".into(),
            steps: 50_000,
            lr: 2.3e-3,
            buffer: 100_000,
            learning_starts: 1_000,
            batch: 64,
            tau: 1.0,
            train_every: 256,
            gradient_steps: 128,
            target_every: 128,
            ..Self::sap()
        }
    }

    fn pendulum() -> TrainConfig {
        TrainConfig {
            algorithm: "ddpg".into(),
            steps: 20_000,
            lr: 1e-3,
            buffer: 200_000,
            learning_starts: 10_000,
            gamma: 0.98,
            hidden: vec![400, 300],
            ..Self::sap()
        }
    }

    /// The recipe for another algorithm: options that it does not have return to their defaults.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn with_algorithm(&self, name: &str) -> Result<TrainConfig, ConfigError> {
        let algorithm = find(name)?;
        let (mut fields, defaults) = (fields(self), fields(&Self::default()));
        for option in algorithm.foreign() {
            fields.insert(option.into(), defaults[option].clone());
        }
        let changed = serde_json::from_value(fields.into()).expect("a recipe is plain data");
        Ok(TrainConfig { algorithm: name.into(), ..changed })
    }

    /// The recipe with one option changed; the value is read as JSON, or else as a text.
    ///
    /// # Errors
    /// If the option does not exist, or the value has the wrong type or is out of range.
    pub fn with(&self, name: &str, value: &str) -> Result<TrainConfig, ConfigError> {
        let (mut fields, algorithm) = (fields(self), find(&self.algorithm)?);
        if algorithm.foreign().any(|option| option == name) {
            return Err(algorithm.refuse(name));
        }
        if !fields.contains_key(name) {
            fields.retain(|option, _| algorithm.foreign().all(|foreign| foreign != option));
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            let hint = offnominal_core::suggest::did_you_mean(name, names.iter().copied());
            let names = names.join(", ");
            return Err(ConfigError::Option(format!("{name:?} does not exist{hint}; there are: {names}")));
        }
        fields.insert(name.into(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)));
        let changed: TrainConfig =
            serde_json::from_value(fields.into()).map_err(|e| ConfigError::Option(format!("{name}: {e}")))?;
        changed.check()?;
        Ok(changed)
    }

    /// Checks that every value lies in its range, and that no option is set that the algorithm does not have.
    ///
    /// # Errors
    /// Naming the first one that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_options()?;
        self.check_counts()?;
        self.check_numbers()
    }

    /// An option that would do nothing is an error.
    fn check_options(&self) -> Result<(), ConfigError> {
        let (algorithm, fields, defaults) = (find(&self.algorithm)?, fields(self), fields(&Self::default()));
        match algorithm.foreign().find(|&option| fields[option] != defaults[option]) {
            Some(option) => Err(algorithm.refuse(option)),
            None => Ok(()),
        }
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let counts: [(&'static str, u64); 13] = [
            ("steps", self.steps),
            ("batch", self.batch as u64),
            ("buffer", self.buffer as u64),
            ("train_every", self.train_every),
            ("gradient_steps", self.gradient_steps),
            ("n_envs", self.n_envs as u64),
            ("critics", self.critics as u64),
            ("quantiles", self.quantiles as u64),
            ("eval_every", self.eval_every),
            ("eval_episodes", self.eval_episodes as u64),
            ("policy_delay", self.policy_delay),
            ("epsilon_steps", self.epsilon_steps),
            ("target_every", self.target_every),
        ];
        for (name, n) in counts {
            require(n > 0, name, "a positive count", n)?;
        }
        let widths = format!("{:?}", self.hidden);
        require(self.hidden.iter().all(|&n| n > 0), "hidden", "positive widths", widths)?;
        require(self.drop < self.quantiles, "drop", "fewer than quantiles", self.drop)
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        require(self.lr > 0.0 && self.lr.is_finite(), "lr", "a positive number", self.lr)?;
        require(self.tau > 0.0 && self.tau <= 1.0, "tau", "a number in (0, 1]", self.tau)?;
        let scale = self.reward_scale;
        require(scale > 0.0 && scale.is_finite(), "reward_scale", "a positive number", scale)?;
        require((0.0..1.0).contains(&self.gamma), "gamma", "a number in [0, 1)", self.gamma)?;
        let entropy = self.target_entropy.unwrap_or(0.0);
        require(entropy.is_finite(), "target_entropy", "a finite number", entropy)?;
        let used = self.alpha == Alpha::Auto || self.target_entropy.is_none();
        require(used, "target_entropy", "none where alpha is a number", entropy)?;
        let noises = [
            ("exploration_noise", self.exploration_noise),
            ("policy_noise", self.policy_noise),
            ("noise_clip", self.noise_clip),
        ];
        for (name, noise) in noises {
            let sound = noise >= 0.0 && noise.is_finite();
            require(sound, name, "a finite number that is not negative", noise)?;
        }
        self.check_shares()
    }

    fn check_shares(&self) -> Result<(), ConfigError> {
        let share = (0.0..=1.0).contains(&self.epsilon_end);
        require(share, "epsilon_end", "a number in [0, 1]", self.epsilon_end)?;
        for (name, p) in [("dropout", self.dropout), ("dropconnect", self.dropconnect)] {
            require((0.0..1.0).contains(&p), name, "a number in [0, 1)", p)?;
        }
        let one = self.dropout == 0.0 || self.dropconnect == 0.0;
        require(one, "dropconnect", "0 where dropout is given", self.dropconnect)
    }

    /// A network that drops what the recipe says.
    pub(crate) fn drop_from(&self, net: Mlp) -> Mlp {
        net.with_dropout(self.dropout as f32).with_dropconnect(self.dropconnect as f32)
    }

    /// The learning rate after so many steps.
    pub fn lr_at(&self, step: u64) -> f64 {
        match self.schedule {
            Schedule::Constant => self.lr,
            Schedule::Linear => self.lr * (1.0 - step as f64 / self.steps as f64).max(0.0),
        }
    }
}

/// The options by name.
fn fields(config: &TrainConfig) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a recipe is an object, not {other:?}"),
    }
}

fn find(algorithm: &str) -> Result<&'static Algorithm, ConfigError> {
    learner::find(algorithm).map_err(|e| ConfigError::Algorithm(e.to_string()))
}

fn require(
    holds: bool,
    name: &'static str,
    expected: &'static str,
    found: impl ToString,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Range { name, expected, found: found.to_string() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_table_10_and_valid() {
        let (sap, mjc) = (TrainConfig::for_env("sap-goal0"), TrainConfig::for_env("mjc-half-cheetah"));
        assert_eq!((sap.lr, sap.learning_starts, sap.batch, sap.gamma), (3e-4, 100, 256, 0.99));
        assert_eq!((mjc.lr, mjc.learning_starts, mjc.batch, mjc.gamma), (1e-3, 1000, 512, 0.98));
        assert_eq!((sap.hidden.as_slice(), mjc.hidden.len(), mjc.lr_at(500_000)), (&[256, 256][..], 3, 5e-4));
        for name in PRESETS {
            TrainConfig::preset(name).unwrap().check().unwrap();
        }
    }

    #[track_caller]
    fn refuses(name: &str, value: &str, want: &str) {
        let found = TrainConfig::for_env("sap-goal0").with(name, value).unwrap_err().to_string();
        assert!(found.contains(want), "{found}");
    }

    #[test]
    fn options_are_set_by_name_and_checked() {
        let sap = TrainConfig::for_env("sap-goal0");
        let changed = sap.with("hidden", "[8]").unwrap().with("normalise", "running").unwrap();
        assert_eq!((changed.hidden, changed.normalise), (vec![8], Normalise::Running));
        refuses("gama", "0.9", "did you mean \"gamma\"?");
        refuses("gamma", "1.5", "gamma: expected a number in [0, 1), found 1.5");
        refuses("reward_scale", "0", "reward_scale: expected a positive number, found 0");
        refuses("batch", "-3", "batch: invalid value");
        refuses("schedule", "square", "unknown variant `square`");
        refuses("drop", "25", "fewer than quantiles, found 25");
        refuses("batch", "0", "batch: expected a positive count, found 0");
        refuses("alpha", "often", "expected \"auto\" or a number that is not negative, found \"often\"");
    }

    #[test]
    fn an_option_that_would_do_nothing_is_refused() {
        let sac = TrainConfig::for_env("sap-goal0").with_algorithm("sac").unwrap();
        let refusal = |config: &TrainConfig, name, value| config.with(name, value).unwrap_err().to_string();
        let found = refusal(&sac, "quantiles", "9");
        assert_eq!(
            found,
            "training option quantiles: sac has no such option; its own are: critics, alpha, target_entropy"
        );
        let fixed = sac.with("alpha", "0.2").unwrap();
        assert_eq!(fixed.alpha, Alpha::Fixed(0.2));
        assert!(refusal(&fixed, "target_entropy", "-3").contains("none where alpha is a number"));
        let ddpg = sac.with_algorithm("ddpg").unwrap().with("dropout", "0.1").unwrap();
        assert!(refusal(&ddpg, "dropconnect", "0.1").contains("expected 0 where dropout is given"));
        assert!(refusal(&ddpg, "policy_delay", "2").contains("ddpg has no such option"));
        let td3 = TrainConfig { alpha: Alpha::Fixed(0.1), ..fixed.with_algorithm("td3").unwrap() };
        assert!(td3.check().unwrap_err().to_string().contains("alpha: td3 has no such option"));
        assert!(!refusal(&sac, "polcy_delay", "1").contains("policy_delay"));
    }

    #[test]
    fn a_preset_serves_every_algorithm() {
        let paper = TrainConfig::preset("pybullet-m").unwrap();
        let (sac, td3) = (paper.with_algorithm("sac").unwrap(), paper.with_algorithm("td3").unwrap());
        assert_eq!((sac.alpha, td3.alpha, td3.buffer), (Alpha::Fixed(0.2), Alpha::Auto, 100_000));
        for (name, algorithm) in PRESETS.iter().flat_map(|p| learner::ALL.iter().map(move |a| (p, a.id))) {
            TrainConfig::preset(name).unwrap().with_algorithm(algorithm).unwrap().check().unwrap();
        }
    }

    #[test]
    fn a_recipe_survives_its_file() {
        let paper = TrainConfig::preset("pybullet-m").unwrap();
        let text = serde_json::to_string(&paper).unwrap();
        assert_eq!(serde_json::from_str::<TrainConfig>(&text).unwrap(), paper);
    }
}
