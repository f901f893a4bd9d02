//! Why there is no estimate of a risk.

use super::warning::Warning;
use crate::StatsError;

/// The assumption of an interval that does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is too little, or a setting is out of its range.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// An interval that trusts the weights was asked for, and they are not to be trusted.
    #[error("the weights are not to be trusted: {0}")]
    Doubtful(Warning),
    /// Levels of a margin must be all different.
    #[error("the margin takes the value {margin} in several particles: expected a continuous margin")]
    Ties {
        /// The value that is taken more than once.
        margin: f64,
    },
    /// Particles hardly move, so they are copies of one another.
    #[error("only {accepted} of {moves} moves were accepted at margin {margin}: expected at least 1 in 100")]
    Stuck {
        /// Moves that stayed below the level.
        accepted: usize,
        /// Moves that were tried.
        moves: usize,
        /// The level at that time.
        margin: f64,
    },
    /// Swarms that do not know one another came to different probabilities.
    #[error(
        "the swarms needed {fewest} to {most} rounds, which chance alone does in one of {:.0} estimates: their moves do \
         not forget where they began, or do not reach all failures; expected more moves or particles",
        1.0 / chance.max(1e-9)
    )]
    Disagreement {
        /// Rounds of the swarm that needed fewest.
        fewest: usize,
        /// Rounds of the one that needed most.
        most: usize,
        /// Probability of numbers that differ as much.
        chance: f64,
    },
}
