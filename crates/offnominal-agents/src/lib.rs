//! What acts: learners and the policies they make.
//!
//! A [`Learner`] improves from batches of recorded transitions and knows no environment; the [`Trainer`] owns
//! environments, replay buffer, clock, evaluation and checkpoints, and is the same for all learners. What comes out
//! is an [`Actor`]: a network, the normalisation of its inputs and the bounds of its actions, and nothing that
//! training needed.

pub mod actor;
mod algorithm;
pub mod augmentation;
pub mod card;
mod chain;
pub mod cleanrl;
pub mod config;
mod critics;
pub mod dqn;
mod encoder;
mod evaluation;
mod gaussian;
pub mod history;
mod learner;
pub mod network;
mod normaliser;
pub mod onnx;
mod passes;
mod policy_net;
mod prior;
pub mod pytorch;
pub mod replay;
pub mod rsl_rl;
pub mod sac;
pub mod sb3;
mod soft;
mod squashed;
mod taken;
pub mod td3;
mod temperature;
#[cfg(test)]
mod testing;
pub mod tqc;
pub mod trainer;
mod weights;

pub use actor::{Actor, ActorError, PASSES};
pub use algorithm::{ALL, Actions, Algorithm};
pub use augmentation::Augmentation;
pub use card::Card;
pub use config::{Alpha, ConfigError, TrainConfig};
pub use dqn::Dqn;
pub use evaluation::Evaluation;
pub use history::{History, TrainingEpisode};
pub use learner::{Learner, Losses};
pub use normaliser::Normalisation;
pub use replay::{Batch, Replay};
pub use sac::Sac;
pub use soft::SoftActorCritic;
pub use taken::Taken;
pub use td3::Td3;
pub use tqc::Tqc;
pub use trainer::{Contents, Progress, TrainError, Trainer};
