//! Recipes to start from: what each changes of the default one is in `presets.toml`.

use super::{ConfigError, TrainConfig};
use std::collections::BTreeMap;

/// What each preset changes.
const CHANGES: &str = include_str!("presets.toml");

/// Names of the presets.
pub const PRESETS: &[&str] =
    &["sap", "mjc", "mjc-small", "pybullet-m", "pybullet-m-small", "cartpole", "pendulum", "pong"];

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
