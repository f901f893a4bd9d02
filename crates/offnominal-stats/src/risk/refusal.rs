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
    /// Margins of which most are equal have no order.
    #[error("the margin takes the value {margin} in too many particles: expected a continuous margin")]
    Ties {
        /// The value that most of them take.
        margin: f64,
    },
    /// Particles hardly move, so they are copies of one another.
    #[error(
        "chains stick: only {accepted} of {moves} moves were accepted at margin {margin}, expected at least 1 in 20"
    )]
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
        "the {swarms} swarms say as little as {effective:.1} that agree: their chains do not forget where they began, or do not \
         reach all failures; expected more particles or moves"
    )]
    Disagreement {
        /// How many swarms of equal value would say as much.
        effective: f64,
        /// How many there are.
        swarms: usize,
    },
}
