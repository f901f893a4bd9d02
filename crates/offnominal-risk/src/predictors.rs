//! Predictors f(x, θ) of the chance that an episode from the initial condition x ends in failure.
//!
//! θ says which policy it is: how far its training had come, and how much it explored.
//!
//! | file           | content                                                              |
//! |----------------|----------------------------------------------------------------------|
//! | [`examples`]   | training episodes as a predictor sees them                           |
//! | [`network`]    | f as dense networks                                                  |
//! | [`hazard`]     | f as hazards that add up along a track                               |
//! | [`margin`]     | f as the chance that the margin of an episode falls to zero           |
//! | [`dictionary`] | f as a weighted vote of the nearest remembered examples              |
//! | `memory`       | what a dictionary remembers, and the search for the nearest          |
//! | [`learn`]      | from examples to a predictor, with its settings chosen by later ones |
//! | [`predictor`]  | a fitted f and its file                                              |

pub mod dictionary;
pub(crate) mod ensemble;
pub(crate) mod error;
pub mod examples;
pub mod hazard;
pub mod learn;
pub mod margin;
pub(crate) mod memory;
pub mod network;
pub mod predictor;
