//! Why there is no predictor.

use offnominal_nets::TensorError;

/// Why a predictor cannot be learned or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RiskError {
    /// The history says too little of failure.
    #[error(
        "{where_}: expected at least {needed} {what}, found {found} among {episodes} episodes; \
         train longer, explore more, or leave out less of the early training"
    )]
    TooFew {
        /// Which part of the history.
        where_: &'static str,
        /// What is counted.
        what: &'static str,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
        /// Among how many episodes.
        episodes: usize,
    },
    /// A setting is out of its range.
    #[error("{what}: expected {expected}, found {found}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// The rule in words.
        expected: &'static str,
        /// The value.
        found: f64,
    },
    /// A file is malformed.
    #[error(transparent)]
    Tensors(#[from] TensorError),
}

impl RiskError {
    pub(crate) fn unless(
        holds: bool,
        what: &'static str,
        expected: &'static str,
        found: f64,
    ) -> Result<(), RiskError> {
        if holds { Ok(()) } else { Err(RiskError::Setting { what, expected, found }) }
    }
}
