//! Arithmetic over signals.

use super::StlError;

/// A number that is computed from the signals of one sample; `S` is how a signal is named.
#[derive(Debug, Clone, PartialEq)]
pub enum Term<S> {
    /// A number that the formula states.
    Constant(f64),
    /// The value of a signal.
    Signal(S),
    /// A function of one number.
    Unary(Unary, Box<Term<S>>),
    /// A function of two numbers.
    Binary(Binary, Box<[Term<S>; 2]>),
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// −x
    Negative,
    /// |x|
    Absolute,
}

/// A function of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// x + y
    Plus,
    /// x − y
    Minus,
    /// x y
    Times,
    /// x / y
    Over,
    /// The smaller one.
    Smaller,
    /// The larger one.
    Larger,
}

impl<S> Term<S> {
    /// x − y.
    pub(super) fn minus(self, other: Term<S>) -> Term<S> {
        Term::Binary(Binary::Minus, Box::new([self, other]))
    }

    /// −x.
    pub(super) fn negative(self) -> Term<S> {
        Term::Unary(Unary::Negative, Box::new(self))
    }
}

impl Term<String> {
    /// The same over the places of signals.
    ///
    /// # Errors
    /// If no signal has one of the names.
    pub fn bind(&self, signals: &[String]) -> Result<Term<usize>, StlError> {
        Ok(match self {
            Term::Constant(x) => Term::Constant(*x),
            Term::Signal(name) => Term::Signal(place(name, signals)?),
            Term::Unary(function, x) => Term::Unary(*function, Box::new(x.bind(signals)?)),
            Term::Binary(function, pair) => {
                Term::Binary(*function, Box::new([pair[0].bind(signals)?, pair[1].bind(signals)?]))
            }
        })
    }
}

fn place(name: &str, signals: &[String]) -> Result<usize, StlError> {
    let unknown = || StlError::Unknown { name: name.into(), known: signals.to_vec() };
    signals.iter().position(|s| s == name).ok_or_else(unknown)
}

impl Term<usize> {
    /// Its value in a sample.
    ///
    /// # Panics
    /// If the sample has fewer numbers than the signals that it was bound to.
    pub fn value(&self, sample: &[f64]) -> f64 {
        match self {
            Term::Constant(x) => *x,
            Term::Signal(i) => sample[*i],
            Term::Unary(Unary::Negative, x) => -x.value(sample),
            Term::Unary(Unary::Absolute, x) => x.value(sample).abs(),
            Term::Binary(function, pair) => function.of(pair[0].value(sample), pair[1].value(sample)),
        }
    }
}

impl Binary {
    fn of(self, x: f64, y: f64) -> f64 {
        match self {
            Binary::Plus => x + y,
            Binary::Minus => x - y,
            Binary::Times => x * y,
            Binary::Over => x / y,
            // What is no number is neither the smaller nor the larger one of two: it stays none.
            Binary::Smaller | Binary::Larger if x.is_nan() || y.is_nan() => f64::NAN,
            Binary::Smaller => x.min(y),
            Binary::Larger => x.max(y),
        }
    }
}
