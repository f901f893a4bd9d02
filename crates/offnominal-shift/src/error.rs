//! Why there is no internal model.

/// Why there is no internal model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShiftError {
    /// There is too little to learn from.
    #[error("internal model: expected at least {needed} {what}, found {found}")]
    TooFew {
        /// What is counted.
        what: &'static str,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Two runs are of different worlds.
    #[error("internal model: expected runs of {expected} numbers per step, found {found}")]
    Width {
        /// Of the first run.
        expected: usize,
        /// Of another run.
        found: usize,
    },
    /// A saved model cannot be read.
    #[error("internal model: {0}")]
    Saved(#[from] offnominal_nets::TensorError),
    /// The scales of a saved model do not fit together.
    #[error("internal model, {name}: expected {expected}")]
    Scaler {
        /// Of what.
        name: String,
        /// The rule.
        expected: &'static str,
    },
    /// A checkpoint is of something else.
    #[error("internal model: expected {expected}, found {found}")]
    Checkpoint {
        /// The rule.
        expected: String,
        /// What the checkpoint has.
        found: String,
    },
}
