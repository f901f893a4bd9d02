//! What is wrong with a recipe.

/// What is wrong with a recipe.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no preset or algorithm of that name.
    #[error("{0}")]
    Unknown(String),
    /// The algorithm cannot learn the actions of the environment.
    #[error("environment {env}: {algorithm} expects {expected}; those for the others are: {able}")]
    Actions {
        /// The environment.
        env: String,
        /// The algorithm.
        algorithm: &'static str,
        /// What it can learn.
        expected: String,
        /// The algorithms that learn other actions.
        able: String,
    },
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
