//! What calibration says of one target.

use offnominal_core::estimate::Estimate;

/// The answer for one target score.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A magnitude whose score is the target.
    Found {
        /// The magnitude, with the interval of the true crossing; an end at the neutral value or at the ceiling says that
        /// the interval ends only there.
        magnitude: Estimate,
        /// The score measured at exactly that magnitude.
        score: Estimate,
    },
    /// Even at the ceiling the score is above the target.
    StaysAbove {
        /// The score at the ceiling.
        score: Estimate,
    },
    /// The score jumps from above the target to below it.
    JumpsOver {
        /// The largest magnitude found above the target; the neutral value if there is none.
        above: At,
        /// The smallest magnitude found below the target.
        below: At,
    },
    /// Nothing distinguishes any magnitude up to the ceiling from nominal.
    NoOp {
        /// The score at the ceiling.
        score: Estimate,
    },
    /// The budget ended before the crossing was found.
    OutOfBudget {
        /// The magnitudes between which the crossing is, as far as is known.
        between: (f64, f64),
    },
}

/// The score at one magnitude.
#[derive(Debug, Clone, PartialEq)]
pub struct At {
    /// The magnitude.
    pub magnitude: f64,
    /// Its score.
    pub score: Estimate,
}

impl Verdict {
    /// The magnitude, if one was found.
    pub fn magnitude(&self) -> Option<f64> {
        match self {
            Verdict::Found { magnitude, .. } => Some(magnitude.value),
            _ => None,
        }
    }
}
