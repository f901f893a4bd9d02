//! Why bytes are not a policy, and why a policy cannot tell how sure it is.

use offnominal_nets::TensorError;

/// Why bytes are not a policy for a world, or policies not an ensemble.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ActorError {
    /// The file or one of its tensors is malformed.
    #[error(transparent)]
    Tensors(#[from] TensorError),
    /// An entry of the header is missing or wrong.
    #[error("entry {key:?} of the header: expected {expected:?}, found {found:?}")]
    Header {
        /// The entry.
        key: &'static str,
        /// What the reader needs.
        expected: String,
        /// What the file has; empty if it is missing.
        found: String,
    },
    /// The policy was made for channels that the world does not have.
    #[error("policy of {env}: expected {expected} {side} as the world has, found {found}")]
    Width {
        /// The world.
        env: String,
        /// `observation channels`, `action channels` or `choices`.
        side: &'static str,
        /// Channels of the world.
        expected: usize,
        /// Channels of the policy.
        found: usize,
    },
    /// The policy was made for other bounds of a command, or divides by zero.
    #[error("channel {channel} of {tensor}: expected {expected}, found {found}")]
    Value {
        /// The tensor.
        tensor: String,
        /// The channel.
        channel: usize,
        /// The rule in words.
        expected: String,
        /// The value in the file.
        found: f32,
    },
    /// Several predictions were asked of a policy that always gives the same one.
    #[error(
        "policy of {env}: expected one with dropout, dropconnect or several members, found a plain network of {algorithm}, whose predictions are all the same"
    )]
    Plain {
        /// The world.
        env: String,
        /// The algorithm.
        algorithm: String,
    },
    /// A number of predictions that the policy cannot give.
    #[error("predictions: expected {expected}, found {found}")]
    Predictions {
        /// The rule in words.
        expected: String,
        /// The number.
        found: usize,
    },
    /// Fewer than two policies were to be an ensemble.
    #[error("ensemble: expected at least two members, found {found}")]
    Members {
        /// Their number.
        found: usize,
    },
    /// A member of an ensemble does not fit the first.
    #[error("member {member} of the ensemble: expected {expected}, found {found}")]
    Member {
        /// Its position, from 0.
        member: usize,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
}
