//! Recipes to start from.

use super::{Alpha, ConfigError, Keep, Normalise, Schedule, TrainConfig};

/// Names of the presets.
pub const PRESETS: &[&str] =
    &["sap", "mjc", "mjc-small", "pybullet-m", "pybullet-m-small", "cartpole", "pendulum", "pong"];

impl Default for TrainConfig {
    /// The preset `sap`.
    fn default() -> Self {
        Self::sap()
    }
}

impl TrainConfig {
    /// The values of Table 10 of AnomalyGym for the family `sap` (also of its car) or `mjc`; `mjc-small` has the
    /// networks and batches of `sap` with the discount of `mjc`, for a fifteenth of the time. `pybullet-m` has those of
    /// Tables 1 and 2 of PyBullet-M, with the α of its figure 5; `pybullet-m-small` learns the same bodies with small
    /// networks in a fiftieth of the time. `cartpole` (for DQN) and
    /// `pendulum` (for DDPG) have the values of RL Baselines3 Zoo, with the target network copied once per bout of
    /// gradient steps. `pong` (for DQN) has an encoder that is small enough for one processor, begins with episodes of the
    /// scripted policy, and asks it for advice: a few minutes instead of the days that rewards alone would take.
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
            "pybullet-m-small" => Ok(Self::pybullet_m_small()),
            "cartpole" => Ok(Self::cartpole()),
            "pendulum" => Ok(Self::pendulum()),
            "pong" => Ok(Self::pong()),
            _ => {
                let known = PRESETS.join(", ");
                Err(ConfigError::Unknown(format!("no preset is called {name:?}; there are: {known}")))
            }
        }
    }

    /// The preset of a world, or else of its family.
    pub fn for_env(id: &str) -> TrainConfig {
        match id {
            "cartpole" => Self::cartpole(),
            "pendulum" => Self::pendulum(),
            "pong" => Self::pong(),
            "hopper" | "walker" | "ant" | "half-cheetah-m" => Self::pybullet_m_small(),
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

    fn pybullet_m_small() -> TrainConfig {
        TrainConfig {
            algorithm: "td3".into(),
            steps: 300_000,
            lr: 1e-3,
            schedule: Schedule::Linear,
            buffer: 300_000,
            learning_starts: 5_000,
            batch: 128,
            train_every: 2,
            hidden: vec![128, 128],
            eval_every: 10_000,
            eval_episodes: 5,
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

    fn pong() -> TrainConfig {
        TrainConfig {
            algorithm: "dqn".into(),
            steps: 24_000,
            lr: 1e-3,
            schedule: Schedule::Linear,
            buffer: 50_000,
            learning_starts: 1_000,
            demonstrations: 4_000,
            imitation: 1.0,
            advice: true,
            batch: 32,
            tau: 1.0,
            gamma: 0.97,
            train_every: 2,
            hidden: vec![128],
            normalise: Normalise::Centred,
            eval_every: 6_000,
            eval_episodes: 2,
            keep: Keep::Last,
            epsilon_end: 0.05,
            epsilon_steps: 4_000,
            target_every: 250,
            double: true,
            filters: vec![[6, 6, 16], [4, 2, 32], [3, 1, 32]],
            ..Self::sap()
        }
    }
}
