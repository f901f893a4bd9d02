//! What a formula is.

use super::StlError;
use super::parse;
use super::term::Term;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A formula of signal temporal logic, with the text that it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Formula {
    text: String,
    root: Node,
}

/// A formula without negation: where the text has one, it has been moved into the comparisons.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A comparison: it holds where the term is above zero.
    Above(Term<String>),
    /// Both hold.
    And(Box<[Node; 2]>),
    /// One of both holds.
    Or(Box<[Node; 2]>),
    /// It holds at all times of the window.
    Always(Window, Box<Node>),
    /// It holds at some time of the window.
    Eventually(Window, Box<Node>),
    /// The second holds at some time of the window, and the first at all times before.
    Until(Window, Box<[Node; 2]>),
    /// The second holds at all times of the window up to the one at which the first does, if ever it does.
    Release(Window, Box<[Node; 2]>),
}

/// From when to when, in seconds from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Where it begins.
    pub from_secs: f64,
    /// Where it ends; infinity for the end of the trace.
    pub to_secs: f64,
}

impl Window {
    /// From now on.
    pub const EVER: Window = Window { from_secs: 0.0, to_secs: f64::INFINITY };
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

impl Node {
    /// What holds exactly where this does not.
    #[must_use]
    pub fn negated(self) -> Node {
        let both = |pair: Box<[Node; 2]>| Box::new(pair.map(Node::negated));
        match self {
            Node::Above(term) => Node::Above(term.negative()),
            Node::And(pair) => Node::Or(both(pair)),
            Node::Or(pair) => Node::And(both(pair)),
            Node::Always(window, inner) => Node::Eventually(window, Box::new(inner.negated())),
            Node::Eventually(window, inner) => Node::Always(window, Box::new(inner.negated())),
            Node::Until(window, pair) => Node::Release(window, both(pair)),
            Node::Release(window, pair) => Node::Until(window, both(pair)),
        }
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
