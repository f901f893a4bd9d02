//! How often a policy fails, from where, and what finding a failure costs.
//!
//! | file           | content                                                                    |
//! |----------------|----------------------------------------------------------------------------|
//! | [`lab`]        | experiments: episodes from chosen initial conditions                       |
//! | [`learning`]   | from the history of a training run to a predictor                          |
//! | [`past`]       | such a history, made by playing weaker policies                            |
//! | [`guide`]      | a predictor, opened for the policy under test                              |
//! | [`journal`]    | what a run has found so far, so that a killed one goes on                  |
//! | [`block`]      | what such a run is, and what it finds, block by block                      |
//! | [`estimate`]   | experiments by the thousand                                                |
//! | [`verdict`]    | from experiments to numbers                                                |
//! | [`splitting`]  | the same for worlds with a margin, by particles                            |
//! | [`search`]     | what finding one failure costs                                             |
//! | [`select`]     | which of many policies fails least                                         |
//! | [`atlas`]      | the kinds of failures, and how much of the probability each makes up        |
//! | [`curve`]      | how many episodes would have been enough                                   |
//! | [`document`]   | what a run leaves behind                                                   |
//! | [`page`]       | the report                                                                 |
//!
//! The statistics are those of [`offnominal_stats::risk`].

pub mod atlas;
pub mod block;
mod chart;
pub mod curve;
pub mod document;
pub mod estimate;
pub mod guide;
pub mod journal;
pub mod lab;
pub mod learning;
mod noisy;
pub mod page;
pub mod past;
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
pub use estimate::Estimation;
pub use guide::Guide;
pub use lab::Lab;
pub use verdict::Verdict;
