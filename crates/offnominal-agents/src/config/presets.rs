//! Recipes to start from: the default one here, and what the others change of it in `presets.toml`.

use super::{Alpha, ConfigError, Keep, Normalise, Schedule, TrainConfig};
use std::collections::BTreeMap;

/// What each preset changes.
const CHANGES: &str = include_str!("presets.toml");

/// Names of the presets.
pub const PRESETS: &[&str] =
    &["sap", "mjc", "mjc-small", "pybullet-m", "pybullet-m-small", "cartpole", "pendulum", "pong"];

impl Default for TrainConfig {
    /// The preset `sap`.
    fn default() -> Self {
        TrainConfig {
            algorithm: "tqc".into(),
            steps: 200_000,
            lr: 3e-4,
            schedule: Schedule::Constant,
            buffer: 1_000_000,
            learning_starts: 100,
            demonstrations: 0,
            imitation: 0.0,
            advice: false,
            batch: 256,
            tau: 0.005,
            gamma: 0.99,
            reward_scale: 1.0,
            train_every: 1,
            gradient_steps: 1,
            n_envs: 1,
            restart_after: 0,
            average: 0,
            hidden: vec![256, 256],
            normalise: Normalise::None,
            eval_every: 5_000,
            eval_episodes: 20,
            keep: Keep::Best,
            critics: 2,
            quantiles: 25,
            top_quantiles_to_drop: 2,
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
            prior: 0.0,
            filters: vec![],
        }
    }
}

impl TrainConfig {
    /// The values of Table 10 of AnomalyGym for the family `sap` (also of its car) or `mjc`; `mjc-small` has the
    /// networks and batches of `sap` with the discount of `mjc`, for a fifteenth of the time. `pybullet-m` has those of
    /// Tables 1 and 2 of PyBullet-M, with the α of its figure 5; `pybullet-m-small` learns the same bodies with small
    /// networks in a fiftieth of the time. `cartpole` (for DQN) and
    /// `pendulum` (for DDPG) have the values of RL Baselines3 Zoo, with the target network copied once per bout of
    /// gradient steps. `pong` (for DQN) has an encoder that is small enough for one processor, begins with episodes
    /// of the scripted policy, and asks it for advice: a few minutes instead of the days that rewards alone would
    /// take.
    ///
    /// # Errors
    /// If there is no preset of that name.
    pub fn preset(name: &str) -> Result<TrainConfig, ConfigError> {
        let mut all: BTreeMap<String, TrainConfig> = toml::from_str(CHANGES).expect("presets are valid");
        all.remove(name).ok_or_else(|| {
            let known = PRESETS.join(", ");
            ConfigError::Unknown(format!("no preset is called {name:?}; there are: {known}"))
        })
    }

    /// The preset of an environment, or else of its family.
    pub fn for_env(id: &str) -> TrainConfig {
        let preset = match id {
            "cartpole" | "pendulum" | "pong" => id,
            "hopper" | "walker" | "ant" | "half-cheetah-m" => "pybullet-m-small",
            id if id.starts_with("mjc-") => "mjc",
            _ => "sap",
        };
        TrainConfig::preset(preset).expect("every preset of an environment exists")
    }
}
