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
    /// Two runs are of different environments.
    #[error("internal model: expected runs of {expected} numbers per step, found {found}")]
    Width {
        /// Of the first run.
        expected: usize,
        /// Of another run.
        found: usize,
    },
    /// A file or checkpoint cannot be read.
    #[error("internal model: {0}")]
    Tensors(#[from] offnominal_nets::TensorError),
}
