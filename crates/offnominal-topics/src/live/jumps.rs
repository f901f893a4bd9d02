//! Rows whose time jumps: a clock that was set, a driver that uses another clock, one message with a wrong stamp.
//!
//! A row far ahead of the others waits for the next one. If that is ahead too, time has really come so far, as after a
//! silence; if it is not, the row before it was wrong and is dropped, so that one message cannot blind a monitor for as
//! long as it is ahead. Rows far behind the others are dropped, until as many come that the clock was set back.

use super::waiting::Row;

/// A jump is longer than this, in nanoseconds.
const LEAST: i64 = 10_000_000_000;

/// And longer than so many times the longest ordinary time between two rows.
const TIMES: i64 = 20;

/// So many rows in a row that lie behind say that the clock was set back.
const BACK: u32 = 3;

/// What becomes of a row.
#[derive(Debug, PartialEq)]
pub(super) enum Turn {
    /// Nothing: it waits, or is dropped.
    Nothing,
    /// It goes on, after the row that waited, if one did.
    Rows(Option<(usize, i64, Row)>),
    /// The clock was set back: it is the first of an episode.
    Anew,
}

/// The times of a stream as far as it has come.
#[derive(Default)]
pub(super) struct Jumps {
    latest: Option<i64>,
    longest: i64,
    ahead: Option<(usize, i64, Row)>,
    behind: u32,
    /// Rows that were dropped.
    pub dropped: u64,
}

impl Jumps {
    /// A row has come.
    pub fn turn(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) -> Turn {
        let Some(latest) = self.latest else { return self.goes_on(time, None) };
        let limit = LEAST.max(self.longest.saturating_mul(TIMES));
        let by = time.saturating_sub(latest);
        if by > limit {
            return self.ahead(topic, time, row, limit);
        }
        self.dropped += u64::from(self.ahead.take().is_some());
        if by >= -limit {
            self.longest = self.longest.max(by);
            return self.goes_on(time.max(latest), None);
        }
        self.behind += 1;
        if self.behind < BACK {
            self.dropped += 1;
            return Turn::Nothing;
        }
        self.forget();
        self.latest = Some(time);
        Turn::Anew
    }

    /// Nothing is known of the times that come; a row that waits is dropped, as no other says that its time was right.
    pub fn forget(&mut self) {
        let dropped = self.dropped + u64::from(self.ahead.is_some());
        *self = Jumps { dropped, longest: self.longest, ..Jumps::default() };
    }

    fn goes_on(&mut self, latest: i64, before: Option<(usize, i64, Row)>) -> Turn {
        (self.latest, self.behind) = (Some(latest), 0);
        Turn::Rows(before)
    }

    fn ahead(&mut self, topic: usize, time: i64, row: &[(usize, f64)], limit: i64) -> Turn {
        let silence = |before: i64| before - self.latest.unwrap_or(before);
        match self.ahead.take() {
            Some(before) if (time - before.1).abs() <= limit.max(silence(before.1)) => {
                self.longest = self.longest.max(time - before.1);
                self.goes_on(time.max(before.1), Some(before))
            }
            before => {
                self.dropped += u64::from(before.is_some());
                self.ahead = Some((topic, time, row.to_vec()));
                Turn::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEC: i64 = 1_000_000_000;

    /// The times that go on, in seconds, with -1 before the first of a new clock; and how many rows were dropped.
    fn times(secs: &[i64]) -> (Vec<i64>, u64) {
        let (mut jumps, mut gone) = (Jumps::default(), Vec::new());
        for &at in secs {
            match jumps.turn(0, at * SEC, &[]) {
                Turn::Nothing => {}
                Turn::Rows(before) => {
                    gone.extend(before.map(|(_, time, _)| time / SEC).into_iter().chain([at]))
                }
                Turn::Anew => gone.extend([-1, at]),
            }
        }
        jumps.forget();
        (gone, jumps.dropped)
    }

    #[test]
    fn one_row_from_the_future_is_dropped_and_a_silence_is_none() {
        assert_eq!(times(&[0, 1, 3600, 2, 3]), (vec![0, 1, 2, 3], 1));
        assert_eq!(times(&[0, 1, 3600, 3601, 3602]), (vec![0, 1, 3600, 3601, 3602], 0));
        assert_eq!(
            times(&[0, 3600, 1, 7200, 2, 86400, 3]),
            (vec![0, 1, 2, 3], 3),
            "another clock in between"
        );
        assert_eq!(times(&[0, 1, 2, 3600]), (vec![0, 1, 2], 1), "the last row");
        // The second row of a slow stream waits for the third: what is usual is not known before.
        assert_eq!(times(&[0, 60, 120, 180]), (vec![0, 60, 120, 180], 0));
    }

    #[test]
    fn a_clock_that_is_set_back_begins_anew() {
        assert_eq!(times(&[1000, 1001, 1, 2, 3, 4]), (vec![1000, 1001, -1, 3, 4], 2));
        assert_eq!(times(&[1000, 1001, 1, 1002, 2, 1003]), (vec![1000, 1001, 1002, 1003], 2));
        // Two rows from the future do not blind for as long as they are ahead.
        let (gone, _) = times(&[0, 1, 3600, 3601, 2, 3, 4, 5]);
        assert_eq!(gone, [0, 1, 3600, 3601, -1, 4, 5]);
    }
}
