//! Why bytes are not a policy, and why a policy gives no samples.

use offnominal_nets::TensorError;

/// Why bytes are not a policy for an environment, or policies not an ensemble.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ActorError {
    /// The file or one of its tensors is malformed.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// The policy does not fit its environment or its use.
    #[error("{what}: expected {expected}, found {found}")]
    Unfit {
        /// What of the policy.
        what: String,
        /// The rule in words.
        expected: String,
        /// What the policy has.
        found: String,
    },
}

impl ActorError {
    /// That something of the policy does not fit.
    pub(super) fn unfit(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> ActorError {
        ActorError::Unfit { what: what.into(), expected: expected.into(), found: found.to_string() }
    }
}
