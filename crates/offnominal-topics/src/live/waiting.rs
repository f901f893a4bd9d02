//! Rows of a stream that wait for others that may come late.

use std::collections::BTreeMap;

/// Which column holds which value.
pub(super) type Row = Vec<(usize, f64)>;

/// Rows that have come, in the order of their time.
pub(super) struct Waiting {
    /// How long a row waits, in nanoseconds of the clock of the log.
    window: i64,
    /// By time and topic.
    rows: BTreeMap<(i64, usize), Row>,
    newest: i64,
    /// The time of the last row that went on.
    gone: i64,
    /// Rows that came too late or twice.
    pub dropped: u64,
}

impl Waiting {
    pub fn new(window: i64) -> Waiting {
        Waiting { window, rows: BTreeMap::new(), newest: i64::MIN, gone: i64::MIN, dropped: 0 }
    }

    /// Takes a row. Of two of one topic and time the later one stays.
    pub fn add(&mut self, topic: usize, time: i64, row: &[(usize, f64)]) {
        if time < self.gone {
            self.dropped += 1;
            return;
        }
        self.newest = self.newest.max(time);
        let before = self.rows.insert((time, topic), row.to_vec());
        self.dropped += u64::from(before.is_some());
    }

    /// Time has come so far; up to which time rows have waited long enough.
    pub fn pass(&mut self, time: i64) -> i64 {
        self.newest = self.newest.max(time);
        self.newest.saturating_sub(self.window)
    }

    /// Nothing has come yet.
    pub fn forget(&mut self) {
        self.rows.clear();
        (self.newest, self.gone) = (i64::MIN, i64::MIN);
    }

    /// The next row that has waited long enough.
    pub fn due(&mut self) -> Option<(usize, i64, Row)> {
        let (&(time, _), _) = self.rows.first_key_value()?;
        if time > self.newest.saturating_sub(self.window) { None } else { self.next() }
    }

    /// The next row, however short it has waited.
    pub fn next(&mut self) -> Option<(usize, i64, Row)> {
        let ((time, topic), row) = self.rows.pop_first()?;
        self.gone = time;
        Some((topic, time, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_rows_are_sorted_in_and_later_ones_are_counted() {
        let mut waiting = Waiting::new(10);
        let mut gone = Vec::new();
        for time in [0, 5, 3, 12, 4, 30, 1, 30] {
            waiting.add(0, time, &[(0, time as f64)]);
            gone.extend(std::iter::from_fn(|| waiting.due()).map(|(_, time, _)| time));
        }
        gone.extend(std::iter::from_fn(|| waiting.next()).map(|(_, time, _)| time));
        assert_eq!(gone, [0, 3, 4, 5, 12, 30]);
        assert_eq!(waiting.dropped, 2, "1 came after 12 had gone, and 30 came twice");
    }
}
