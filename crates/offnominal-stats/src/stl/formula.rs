//! A formula with its text.

use super::node::Node;
use super::{StlError, parse};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A formula of signal temporal logic, with the text that it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Formula {
    text: String,
    root: Node,
}

impl Formula {
    /// Reads a formula. The words are `always`, `eventually` and `until`, each with a window of seconds such as `[0, 5]`
    /// or without one, `and`, `or`, `not` and `implies`; comparisons are `<`, `<=`, `>` and `>=`, of which the second
    /// in each pair means the first; numbers have `+`, `-`, `*`, `/`, `abs`, `min` and `max`. A name with other signs
    /// than letters, digits and `_` stands in double quotes.
    ///
    /// # Errors
    /// Where the text is no formula, with the place and what was expected there.
    pub fn parse(text: &str) -> Result<Formula, StlError> {
        Ok(Formula { text: text.into(), root: parse::formula(text)? })
    }

    /// The formula as a tree.
    pub fn root(&self) -> &Node {
        &self.root
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for Formula {
    type Err = StlError;

    fn from_str(text: &str) -> Result<Formula, StlError> {
        Formula::parse(text)
    }
}

impl TryFrom<String> for Formula {
    type Error = StlError;

    fn try_from(text: String) -> Result<Formula, StlError> {
        Formula::parse(&text)
    }
}

impl From<Formula> for String {
    fn from(formula: Formula) -> String {
        formula.text
    }
}
