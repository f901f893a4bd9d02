//! Why a file of Stable-Baselines3 does not become a policy.

/// Why a file of Stable-Baselines3 does not become a policy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Sb3Error {
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
        "{file}: expected names of arrays, spaces and statistics only, found {found}; nothing was executed"
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
}

impl Sb3Error {
    pub(super) fn unsupported(what: &str, expected: impl ToString, found: impl ToString) -> Sb3Error {
        Sb3Error::Unsupported { what: what.into(), expected: expected.to_string(), found: found.to_string() }
    }
}
