//! How often a policy fails, from where, and what finding a failure costs.
//!
//! Each command of `offnominal risk` is a module with a `Request`, a `Report` and `run`, which takes the request and a
//! [`Context`](offnominal_engine::context::Context). A report serialises to the JSON that the command prints, and its
//! `Display` is the text. Files are written only if the request names an output folder.
//!
//! | command        | what it answers                                                         |
//! |----------------|-------------------------------------------------------------------------|
//! | [`budget`]     | how many episodes plain counting needs                                  |
//! | [`learning`]   | where failures are likely: a predictor from the history of a training   |
//! | [`estimate`]   | how often a policy fails, and the kinds of its failures                 |
//! | [`split`]      | the same in an environment with a margin, by particles                  |
//! | [`search`]     | what finding one failure costs                                          |
//! | [`stress`]   | the most likely failure under disturbances in every step                |
//! | [`select`]     | which of several policies fails least                                   |
//! | [`replay`]     | what a failure looks like                                               |
//! | [`recompute`]  | whether parts of a finished run come out the same once more             |
//!
//! | shared         | content                                                                 |
//! |----------------|-------------------------------------------------------------------------|
//! | [`request`]    | what requests have in common                                            |
//! | [`predictors`] | guesses of the chance to fail                                           |
//! | [`history`]    | episodes of weaker policies, from which they learn                      |
//! | [`guide`]      | a predictor, opened for the policy under test                           |
//! | [`experimenter`] | experiments: episodes from chosen initial conditions                  |
//!
//! A predictor decides where experiments are made; how often failures happen is for experiments to say. The statistics
//! are those of [`offnominal_stats::risk`].
//!
//! Reference: Uesato et al., "Rigorous Agent Evaluation: An Adversarial Approach to Uncover Catastrophic Failures",
//! 2018 (arXiv 1812.01647).

pub mod budget;
pub mod compare;
pub mod estimate;
pub mod experimenter;
pub mod guide;
pub mod history;
pub mod learning;
pub mod predictors;
pub mod recompute;
mod record;
pub mod replay;
pub mod request;
pub mod search;
pub mod select;
pub mod split;
pub mod stress;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

// The predictors' files name one another by these paths.
use predictors::{dictionary, ensemble, error, examples, hazard, learn, margin, memory, network};

#[cfg(test)]
mod library_tests;
