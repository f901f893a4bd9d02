//! How often a policy fails, from where, and what finding a failure costs.
//!
//! Predictors f(x, θ) of the chance that an episode from the initial condition x ends in failure learn from the episodes
//! of a training run, in which weaker policies failed more often. θ says which policy it was: how far its training had
//! come, and how much it explored. f tells where to look; how often failures happen is for experiments to say.
//!
//! | file           | content                                                                    |
//! |----------------|----------------------------------------------------------------------------|
//! | [`examples`]   | training episodes as a predictor sees them                                 |
//! | [`network`]    | f as dense networks                                                        |
//! | [`hazard`]     | f as a hazard that adds up along a way                                     |
//! | [`dictionary`] | f as a weighted vote of the nearest remembered examples                    |
//! | [`learn`]      | from examples to a predictor, with its settings chosen by later ones       |
//! | [`predictor`]  | a fitted f and its file                                                    |
//! | [`lab`]        | experiments: episodes from chosen initial conditions                       |
//! | [`learning`]   | from the history of a training run to a predictor                          |
//! | [`past`]       | such a history, made by playing weaker policies                            |
//! | [`guide`]      | a predictor, opened for the policy under test                              |
//! | [`block`]      | what a run of experiments is, and what it finds, block by block            |
//! | [`estimate`]   | experiments by the thousand                                                |
//! | [`verdict`]    | from experiments to numbers                                                |
//! | [`splitting`]  | the same for environments with a margin, by particles                      |
//! | [`search`]     | what finding one failure costs                                             |
//! | [`select`]     | which of many policies fails least                                         |
//! | [`atlas`]      | the kinds of failures, and how much of the probability each makes up       |
//! | [`curve`]      | how many episodes would have been enough                                   |
//! | [`document`]   | what a run leaves behind                                                   |
//! | [`page`]       | the report                                                                 |
//!
//! The statistics are those of [`offnominal_stats::risk`].
//!
//! Reference: Uesato et al., "Rigorous Agent Evaluation: An Adversarial Approach to Uncover Catastrophic Failures",
//! 2018 (arXiv 1812.01647).

pub mod atlas;
pub mod block;
mod chart;
pub mod curve;
pub mod dictionary;
pub mod document;
mod ensemble;
mod error;
pub mod estimate;
pub mod examples;
pub mod guide;
pub mod hazard;
pub mod lab;
pub mod learn;
pub mod learning;
pub mod network;
mod noisy;
pub mod page;
pub mod past;
pub mod predictor;
pub mod search;
pub mod select;
pub mod splitting;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod verdict;

pub use atlas::Atlas;
pub use block::Failure;
pub use dictionary::Dictionary;
pub use error::RiskError;
pub use estimate::Estimation;
pub use examples::{Examples, Theta};
pub use guide::Guide;
pub use hazard::Hazards;
pub use lab::Lab;
pub use learn::{Form, Learned, Recipe};
pub use network::Networks;
pub use predictor::{About, Predictor, Reader};
pub use verdict::Verdict;
