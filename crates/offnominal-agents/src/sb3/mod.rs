//! Policies of Stable-Baselines3, read from its files without Python, without PyTorch, and without running anything that
//! a file says.
//!
//! The deterministic actor of an MLP policy becomes an [`Actor`](crate::Actor):
//!
//! | algorithm | layers in the file                              | action in [−1, 1]              |
//! |-----------|-------------------------------------------------|---------------------------------|
//! | TQC, SAC  | `actor.latent_pi.{0, 2, …}`, `actor.mu`         | tanh(μ)                         |
//! | with gSDE | `actor.latent_pi.{0, 2, …}`, `actor.mu.0`       | tanh(μ cut at ±2)               |
//! | TD3, DDPG | `actor.mu.{0, 2, …}`                            | tanh of the last layer          |
//! | DQN       | `q_net.q_net.{0, 2, …}`                         | none: the choice of most value  |
//!
//! The statistics of a `VecNormalize` become the actor's normalisation.
//! Reference: Stable-Baselines3 2.9.2 (`common/save_util.py`, `common/vec_env/vec_normalize.py`) and PyTorch's zip
//! format.

mod array;
mod error;
mod layers;
mod model;
mod normalize;
mod pickle;
mod tensors;

pub use error::Sb3Error;
pub use model::{Actions, Model};
pub use normalize::read_normalisation;
