//! Policies of Stable-Baselines3 and sb3-contrib, read from their files without Python, without PyTorch, and without
//! running anything that a file says.
//!
//! | algorithm                       | layers in the file                                              | action                          |
//! |---------------------------------|-----------------------------------------------------------------|---------------------------------|
//! | PPO, A2C, TRPO, MaskablePPO     | `mlp_extractor.policy_net.{0, 2, …}`, `action_net`              | cut at the bounds, or choices   |
//! | RecurrentPPO                    | `lstm_actor` before them                                        | the same                        |
//! | with gSDE and `squash_output`   | the same                                                        | tanh                            |
//! | ARS                             | `action_net.{0, 2, …}`                                          | tanh; of a single layer cut     |
//! | TQC, SAC                        | `actor.latent_pi.{0, 2, …}`, `actor.mu`                         | tanh(μ)                         |
//! | with gSDE                       | `actor.latent_pi.{0, 2, …}`, `actor.mu.0`                       | tanh(μ cut at ±2)               |
//! | TD3, DDPG                       | `actor.mu.{0, 2, …}`                                            | tanh of the last layer          |
//! | DQN                             | `q_net.q_net.{0, 2, …}`                                         | the choice of most value        |
//! | QR-DQN                          | `quantile_net.quantile_net.{0, 2, …}`                           | that of the most mean quantile  |
//!
//! Before them stand the convolutions of NatureCNN, if the policy sees images. Masks of MaskablePPO are not known here, so
//! no choice is masked. The statistics of a `VecNormalize` become the policy's normalisation.
//! Reference: Stable-Baselines3 and sb3-contrib 2.9.2 (`common/policies.py`, `common/torch_layers.py`,
//! `common/save_util.py`, `common/vec_env/vec_normalize.py`).

mod dense;
mod layers;
mod model;
mod normalize;
mod settings;
mod space;

pub use model::{Model, Options};
pub use normalize::{Statistics, read_normalisation};
pub use space::Space;
