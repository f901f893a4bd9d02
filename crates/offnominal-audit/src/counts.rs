//! How many episodes answer the questions of an audit.

use anyhow::{Context as _, Result};
use offnominal_core::suggest::did_you_mean;
use serde::{Deserialize, Serialize};

/// Numbers of episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Undisturbed, for return and success.
    pub evaluation: usize,
    /// Of each fault at each strength, and nominal ones for the rate of false alarms.
    pub test: usize,
    /// Undisturbed, that count failures.
    pub failures: usize,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Undisturbed episodes for return and success.
    Evaluation,
    /// Test episodes of each fault at each strength.
    Test,
    /// Undisturbed episodes that count failures.
    Failures,
}

impl Count {
    /// All of them with their names.
    pub const ALL: [(Count, &'static str); 3] =
        [(Count::Evaluation, "evaluation"), (Count::Test, "test"), (Count::Failures, "failures")];

    /// The name in a depth.
    pub fn name(self) -> &'static str {
        Count::ALL.iter().find(|(count, _)| *count == self).expect("all are listed").1
    }

    /// The count of a name.
    ///
    /// # Errors
    /// Names what was expected and what was found.
    pub fn named(text: &str) -> Result<Count> {
        let names = Count::ALL.map(|(_, name)| name);
        let found = Count::ALL.iter().find(|(_, name)| *name == text).map(|(count, _)| *count);
        let hint = did_you_mean(text, names.into_iter());
        found.with_context(|| format!("expected one of {}, found {text:?}{hint}", names.join(", ")))
    }
}

impl Counts {
    /// One of them.
    pub fn of(&self, count: Count) -> usize {
        match count {
            Count::Evaluation => self.evaluation,
            Count::Test => self.test,
            Count::Failures => self.failures,
        }
    }

    /// One of them, to change it.
    pub fn of_mut(&mut self, count: Count) -> &mut usize {
        match count {
            Count::Evaluation => &mut self.evaluation,
            Count::Test => &mut self.test,
            Count::Failures => &mut self.failures,
        }
    }
}
