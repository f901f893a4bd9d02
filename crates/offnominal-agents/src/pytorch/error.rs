//! Why a file that Python saved does not become a policy.

use crate::network::NetworkError;

/// Why a file that Python saved does not become a policy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A pickle ends too early or is none.
    #[error("{file}, byte {at}: expected {expected}")]
    Pickle {
        /// The pickle.
        file: String,
        /// Where reading stopped.
        at: usize,
        /// What should be there.
        expected: String,
    },
    /// A pickle names what no policy needs, such as a command. Nothing of it was run.
    #[error(
        "{file}: expected names of arrays, tensors, spaces and statistics only, found {found}; nothing was executed"
    )]
    Forbidden {
        /// The pickle.
        file: String,
        /// The name.
        found: String,
    },
    /// A part is missing or damaged, or the policy is of a kind that cannot be taken over.
    #[error("{what}: expected {expected}, found {found}")]
    Unsupported {
        /// The archive, a part of it, or what of the policy.
        what: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The layers that were read do not fit together, or not the environment.
    #[error(transparent)]
    Unfit(#[from] NetworkError),
}

impl FileError {
    pub(crate) fn unsupported(what: &str, expected: impl ToString, found: impl ToString) -> FileError {
        FileError::Unsupported { what: what.into(), expected: expected.to_string(), found: found.to_string() }
    }
}
