//! What is wrong with a recipe.

use super::presets::PRESETS;

/// What is wrong with a recipe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no preset of that name.
    #[error("no preset is called {found:?}; there are: {}", PRESETS.join(", "))]
    Preset {
        /// The name that was given.
        found: String,
    },
    /// There is no such algorithm.
    #[error("{0}")]
    Algorithm(String),
    /// An option of other algorithms was given.
    #[error("training option {name}: {algorithm} has no such option; its own are: {own}")]
    Foreign {
        /// The option.
        name: String,
        /// The algorithm.
        algorithm: String,
        /// The options that this algorithm has and others do not.
        own: String,
    },
    /// An option does not exist or has a value of the wrong type.
    #[error("training option {0}")]
    Option(String),
    /// A value is outside its range.
    #[error("training option {name}: expected {expected}, found {found}")]
    Range {
        /// The option.
        name: &'static str,
        /// The rule in words.
        expected: &'static str,
        /// The value.
        found: String,
    },
}
