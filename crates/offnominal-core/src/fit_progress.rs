//! How far a long computation is: told outwards, and asked whether it is to go on.

use std::fmt::{self, Debug, Formatter};

/// A computation, or a part of one, as whoever asked for it sees it.
#[derive(Clone, Copy)]
pub struct FitProgress<'a> {
    tell: &'a (dyn Fn(f64) -> bool + Sync),
    from: f64,
    to: f64,
}

/// The computation was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was finished")]
pub struct Stopped;

impl<'a> FitProgress<'a> {
    /// `tell` hears which share of the computation is done, from 0 to 1, and answers whether it is to go on.
    pub fn new(tell: &'a (dyn Fn(f64) -> bool + Sync)) -> FitProgress<'a> {
        FitProgress { tell, from: 0.0, to: 1.0 }
    }

    /// Nobody looks, and nobody stops it.
    pub fn unseen() -> FitProgress<'static> {
        FitProgress { tell: &|_| true, from: 0.0, to: 1.0 }
    }

    /// The k-th of n parts that take equally long.
    pub fn part(self, k: usize, n: usize) -> FitProgress<'a> {
        self.between(k as f64 / n as f64, (k + 1) as f64 / n as f64)
    }

    /// The part between two shares of this one.
    pub fn between(self, from: f64, to: f64) -> FitProgress<'a> {
        let at = |share: f64| self.from + share * (self.to - self.from);
        FitProgress { tell: self.tell, from: at(from), to: at(to) }
    }

    /// So much of so much is done; cheap enough for a call every few milliseconds.
    ///
    /// # Errors
    /// If the computation is to stop.
    pub fn at(&self, done: usize, of: usize) -> Result<(), Stopped> {
        let share = done as f64 / of.max(1) as f64;
        if (self.tell)(self.from + share * (self.to - self.from)) { Ok(()) } else { Err(Stopped) }
    }
}

impl Debug for FitProgress<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "FitProgress({} to {})", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn parts_of_parts_are_shares_of_the_whole() {
        let heard = Mutex::new(Vec::new());
        let tell = |share: f64| {
            heard.lock().unwrap().push(share);
            share < 0.8
        };
        let progress = FitProgress::new(&tell);
        progress.at(0, 4).unwrap();
        progress.part(1, 2).part(0, 2).at(1, 2).unwrap();
        assert_eq!(progress.part(1, 2).at(3, 4), Err(Stopped));
        assert_eq!(*heard.lock().unwrap(), [0.0, 0.625, 0.875]);
        assert_eq!(FitProgress::unseen().at(1, 0), Ok(()));
    }
}
