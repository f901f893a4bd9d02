//! What foresees: predictors f(x, θ) of the chance that an episode from the initial condition x ends in failure.
//!
//! They learn from the episodes of a training run, in which weaker policies failed more often. θ says which policy it
//! was: how far its training had come, and how much it explored. At the θ of the policy under test, f tells where to
//! look for its failures; how often they happen is for experiments to say.
//!
//! | file           | content                                                              |
//! |----------------|----------------------------------------------------------------------|
//! | [`examples`]   | training episodes as a predictor sees them                           |
//! | [`network`]    | f as dense networks                                                  |
//! | [`hazard`]     | f as a hazard that adds up along a way                               |
//! | [`dictionary`] | f as a weighted vote of the nearest remembered examples              |
//! | [`learn`]      | from examples to a predictor, with its settings chosen by later ones |
//! | [`predictor`]  | a fitted f and its file                                              |
//!
//! Reference: Uesato et al., "Rigorous Agent Evaluation: An Adversarial Approach to Uncover Catastrophic Failures",
//! 2018 (arXiv 1812.01647), section 3.3.

pub mod dictionary;
mod ensemble;
mod error;
pub mod examples;
pub mod hazard;
pub mod learn;
pub mod network;
pub mod predictor;

pub use dictionary::Dictionary;
pub use error::RiskError;
pub use examples::{Examples, Theta};
pub use hazard::Hazards;
pub use learn::{Form, Learned, Recipe};
pub use network::Networks;
pub use predictor::{About, Predictor, Reader};
