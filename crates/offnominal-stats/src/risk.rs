//! How often does a policy fail, when failures are rare?
//!
//! An experiment starts at an initial condition X ~ P, which is low-fidelity to draw, and ends in failure (C = 1) or not. The
//! wanted number is p = E\[C\]. A *predictor* f guesses P(C = 1 | X = x); it may be wrong: it decides what an estimate
//! costs and never whether its interval is valid.
//!
//! | file             | content                                                                                 |
//! |------------------|-----------------------------------------------------------------------------------------|
//! | [`mod@budget`]       | episodes that plain counting needs                                                      |
//! | [`counting`]     | plain counting: an interval for a planned number of episodes, one for stopping at any   |
//! | [`bounded`]      | the same for means of bounded terms, by betting                                         |
//! | [`multifidelity`] | few episodes of a high-fidelity simulator, helped by many of a low-fidelity one                       |
//! | [`allocation`]   | the chance of each draw to be tried, from what has failed so far                       |
//! | [`linear`]       | linear scores from few examples                                                        |
//! | [`claim`]        | a failure probability in two parts, of which one is known well                          |
//! | [`thinning`]     | each draw is tried with a known chance (Horvitz and Thompson)                           |
//! | [`importance`]   | distributions that are stated: importance sampling from a fitted mixture                |
//! | [`subset`]       | environments that say how far they were from failing                                    |
//! | [`diagnostics`]  | when weights are not to be trusted                                                      |
//! | [`normal`]       | intervals that trust them                                                               |
//! | [`exponent`]     | how much a predictor is to be trusted                                                   |
//! | [`search`]       | what finding one failure costs                                                          |
//! | [`sampler`]      | where to look for one                                                                   |
//! | [`selection`]    | which of several policies fails least                                                   |
//!
//! Nothing here knows an environment: draws and outcomes come in, estimates go out, or a [`Refusal`] that says why not.
//!
//! Reference: Uesato et al., "Rigorous Agent Evaluation: An Adversarial Approach to Uncover Catastrophic Failures",
//! 2018 (arXiv 1812.01647).

pub mod allocation;
pub mod bounded;
pub mod budget;
pub mod claim;
pub mod counting;
pub(crate) mod crossing;
pub mod diagnostics;
pub mod exponent;
pub mod importance;
pub mod linear;
pub mod multifidelity;
pub mod normal;
pub mod refusal;
pub mod sampler;
pub mod search;
pub mod selection;
pub mod subset;
mod surrogate;
pub mod thinning;
#[cfg(test)]
mod toy;
mod warning;
pub mod weighted;

pub use allocation::Allocation;
pub use bounded::Bounded;
pub use budget::{budget, clean_episodes};
pub use claim::Claim;
pub use diagnostics::Diagnostics;
pub use multifidelity::Multifidelity;
pub use refusal::Refusal;
pub use sampler::Sampler;
pub use selection::SuccessiveElimination;
pub use subset::Subset;
pub use thinning::{HorvitzThompson, Thinning};
pub use warning::Warning;
pub use weighted::Weighted;

/// The share of experiments that start from plain draws, whatever the predictor says. It costs less than a tenth where
/// the predictor is good, and bounds every importance weight by its inverse where it is not.
pub const PLAIN_SHARE: f64 = 0.1;
