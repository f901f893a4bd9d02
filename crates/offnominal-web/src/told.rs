//! How far the work is, for whoever shows it.

use offnominal_work::progress::{Progress, Tracker};
use std::ops::Range;

/// Tells a function each time that something is done: what, how much of it, and of how much.
pub struct Told(pub fn(&str, u64, u64));

struct Telling {
    what: String,
    tell: fn(&str, u64, u64),
}

impl Progress for Told {
    fn begin(&self, what: &str, work: Range<u64>) -> Box<dyn Tracker> {
        (self.0)(what, work.start, work.end);
        Box::new(Telling { what: what.into(), tell: self.0 })
    }

    fn note(&self, line: &str) {
        (self.0)(line, 0, 0);
    }
}

impl Tracker for Telling {
    fn update(&self, done: u64, total: u64) {
        (self.tell)(&self.what, done, total);
    }

    fn message(&self, _: &str) {}
}
