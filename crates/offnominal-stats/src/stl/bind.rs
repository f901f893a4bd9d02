//! A formula over places of signals and numbers of steps.

use super::StlError;
use super::formula::Formula;
use super::node::{Equality, Node, Window};
use super::term::Term;

/// Parts of a formula that are accepted.
const MOST_PARTS: usize = 1000;
/// A window that ends behind so many steps has no end.
const MOST_STEPS: f64 = 1e9;

/// A part of a formula; those that it is made of have smaller places.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A comparison.
    Above(Term<usize>, Equality),
    /// `and` is the smaller one of two values, `or` the larger one.
    Both(Side, usize, usize),
    /// `always` is the smallest value of a window, `eventually` the largest one.
    Window(Side, Steps, usize),
    /// The first until the second is a largest value over times, a release a smallest one.
    Until(Side, usize, usize),
}

/// The smaller of two values or the larger one; what the one is of a formula the other is of its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Smaller,
    Larger,
}

/// A window in steps; no last one where it has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    pub first: usize,
    pub last: Option<usize>,
}

/// A window, and the first and the last step of an episode at which it may look, where it looks earliest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub window: Window,
    pub steps: Steps,
}

/// The parts of a formula, the whole last, and its windows.
pub(super) fn parts(
    formula: &Formula,
    signals: &[String],
    dt_secs: f64,
) -> Result<(Vec<Part>, Vec<Look>), StlError> {
    let mut binding = Binding { signals, dt_secs, parts: Vec::new(), looks: Vec::new(), earliest: 0 };
    binding.node(formula.root())?;
    Ok((binding.parts, binding.looks))
}

impl Side {
    pub(super) fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Side::Smaller => a.min(b),
            Side::Larger => a.max(b),
        }
    }

    pub(super) fn other(self) -> Side {
        match self {
            Side::Smaller => Side::Larger,
            Side::Larger => Side::Smaller,
        }
    }

    /// What changes no other value.
    pub(super) fn neutral(self) -> f64 {
        match self {
            Side::Smaller => f64::INFINITY,
            Side::Larger => f64::NEG_INFINITY,
        }
    }
}

/// Which parts are asked for their first value only: the whole, and what it is made of by `and` and `or`.
pub(super) fn first_only(parts: &[Part]) -> Vec<bool> {
    let mut found = vec![true; parts.len()];
    for i in (0..parts.len()).rev() {
        let (is_joined, inner) = match parts[i] {
            Part::Above(..) => continue,
            Part::Both(_, a, b) => (true, [a, b]),
            Part::Until(_, a, b) => (false, [a, b]),
            Part::Window(_, _, a) => (false, [a, a]),
        };
        let is_first_only = is_joined && found[i];
        inner.iter().for_each(|&k| found[k] &= is_first_only);
    }
    found
}

/// A formula that is bound to signals and steps, part by part.
struct Binding<'s> {
    signals: &'s [String],
    dt_secs: f64,
    parts: Vec<Part>,
    looks: Vec<Look>,
    /// The first step at which the part that is being bound is asked for its value.
    earliest: usize,
}

impl Binding<'_> {
    fn push(&mut self, part: Part) -> Result<usize, StlError> {
        if self.parts.len() == MOST_PARTS {
            return Err(StlError::TooLarge { of: "parts", most: MOST_PARTS });
        }
        self.parts.push(part);
        Ok(self.parts.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Result<usize, StlError> {
        let part = match node {
            Node::Above(term, equality) => Part::Above(term.bind(self.signals)?, *equality),
            Node::And(pair) => Part::Both(Side::Smaller, self.node(&pair[0])?, self.node(&pair[1])?),
            Node::Or(pair) => Part::Both(Side::Larger, self.node(&pair[0])?, self.node(&pair[1])?),
            Node::Always(window, inner) => self.window(Side::Smaller, *window, inner)?,
            Node::Eventually(window, inner) => self.window(Side::Larger, *window, inner)?,
            Node::Until(window, pair) => return self.until(Side::Larger, *window, pair),
            Node::Release(window, pair) => return self.until(Side::Smaller, *window, pair),
        };
        self.push(part)
    }

    fn window(&mut self, side: Side, window: Window, inner: &Node) -> Result<Part, StlError> {
        let (steps, before) = (self.steps(window)?, self.earliest);
        self.earliest += steps.first;
        let inner = self.node(inner);
        self.earliest = before;
        Ok(Part::Window(side, steps, inner?))
    }

    /// p U\[a, b\] q is the same as: q within \[a, b\], and p before a, and p until q from a on (Donzé et al. 2013).
    /// With the other side it is the release.
    fn until(&mut self, side: Side, window: Window, pair: &[Node; 2]) -> Result<usize, StlError> {
        let (first, second) = (self.node(&pair[0])?, self.node(&pair[1])?);
        let ever = self.push(Part::Until(side, first, second))?;
        if window == Window::EVER {
            return Ok(ever);
        }
        let (steps, other) = (self.steps(window)?, side.other());
        let within = self.push(Part::Window(side, steps, second))?;
        if steps.first == 0 {
            return self.push(Part::Both(other, within, ever));
        }
        let at = Steps { first: steps.first, last: Some(steps.first) };
        let late = self.push(Part::Window(side, at, ever))?;
        let early = Steps { first: 0, last: Some(steps.first - 1) };
        let before = self.push(Part::Window(other, early, first))?;
        let late = self.push(Part::Both(other, before, late))?;
        self.push(Part::Both(other, within, late))
    }

    fn steps(&mut self, window: Window) -> Result<Steps, StlError> {
        // A window of [0, 0.3] s with steps of 0.1 s has three of them behind the first, whatever 0.3 / 0.1 is in binary.
        const ROUNDING: f64 = 1e-9;
        let first = (window.from_secs / self.dt_secs * (1.0 - ROUNDING)).ceil();
        let last = (window.to_secs / self.dt_secs * (1.0 + ROUNDING)).floor();
        if first > last || first > MOST_STEPS {
            let Window { from_secs, to_secs } = window;
            return Err(StlError::Window { from_secs, to_secs, dt_secs: self.dt_secs });
        }
        let steps = Steps { first: first as usize, last: (last <= MOST_STEPS).then_some(last as usize) };
        let (first, last) = (steps.first + self.earliest, steps.last.map(|last| last + self.earliest));
        self.looks.push(Look { window, steps: Steps { first, last } });
        Ok(steps)
    }
}
