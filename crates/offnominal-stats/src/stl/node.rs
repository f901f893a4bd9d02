//! A formula as a tree.

use super::term::Term;

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
