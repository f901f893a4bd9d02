//! A formula as a tree.

use super::term::Term;
use std::fmt;

/// A formula without negation: where the text has one, it has been moved into the comparisons.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A comparison: it holds where the term is above zero, or as the equality says.
    Above(Term<String>, Equality),
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

/// Whether a comparison holds where both sides are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equality {
    /// It does, as `<=` and `>=` do.
    Holds,
    /// It does not, as `<` and `>` do not.
    Breaks,
}

impl Equality {
    /// That of the negation.
    fn other(self) -> Equality {
        match self {
            Equality::Holds => Equality::Breaks,
            Equality::Breaks => Equality::Holds,
        }
    }
}

/// From when to when, in seconds from now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Where it begins.
    pub from_secs: f64,
    /// Where it ends; infinity for the end of the trace.
    pub to_secs: f64,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}] s", self.from_secs, self.to_secs)
    }
}

impl Window {
    /// From now on.
    pub const EVER: Window = Window { from_secs: 0.0, to_secs: f64::INFINITY };
}

impl Node {
    /// What holds exactly where this does not.
    #[must_use]
    pub fn negated(self) -> Node {
        let both = |pair: Box<[Node; 2]>| Box::new(pair.map(Node::negated));
        match self {
            Node::Above(term, equality) => Node::Above(term.negative(), equality.other()),
            Node::And(pair) => Node::Or(both(pair)),
            Node::Or(pair) => Node::And(both(pair)),
            Node::Always(window, inner) => Node::Eventually(window, Box::new(inner.negated())),
            Node::Eventually(window, inner) => Node::Always(window, Box::new(inner.negated())),
            Node::Until(window, pair) => Node::Release(window, both(pair)),
            Node::Release(window, pair) => Node::Until(window, both(pair)),
        }
    }
}
