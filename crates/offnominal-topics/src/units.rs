//! Units as logs and mappings write them.

use crate::mapping::TimeUnit;

/// Units of times, as names of columns end with them or brackets hold them.
const OF_TIME: [(TimeUnit, &[&str]); 7] = [
    (TimeUnit::Days, &["days", "day"]),
    (TimeUnit::Hours, &["h", "hr", "hrs", "hour", "hours"]),
    (TimeUnit::Minutes, &["min", "mins", "minute", "minutes"]),
    (TimeUnit::Seconds, &["s", "sec", "secs", "second", "seconds"]),
    (TimeUnit::Millis, &["ms", "msec", "msecs", "millis", "milliseconds"]),
    (TimeUnit::Micros, &["us", "\u{b5}s", "\u{3bc}s", "usec", "usecs", "micros", "microseconds"]),
    (TimeUnit::Nanos, &["ns", "nsec", "nsecs", "nanos", "nanoseconds"]),
];

/// The unit of time that a word names.
pub fn of_time(word: &str) -> Option<TimeUnit> {
    let word = word.trim().to_lowercase();
    OF_TIME.iter().find(|(_, names)| names.contains(&word.as_str())).map(|(unit, _)| *unit)
}

/// Whether two units differ, however they are written. Hyphens state none.
pub fn differ(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(plain);
    let is_none = |text: &str| text.chars().all(|c| c == '-');
    let same_time = of_time(&one).is_some() && of_time(&one) == of_time(&other);
    one != other && !is_none(&one) && !is_none(&other) && !same_time
}

/// Without blanks, and with one of the two signs for a millionth.
fn plain(unit: &str) -> String {
    unit.replace(char::is_whitespace, "").replace('\u{b5}', "\u{3bc}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_differ_but_not_their_spellings() {
        for (one, other) in [("s", "sec"), ("\u{b5}V", "\u{3bc}V"), ("m / s", "m/s"), ("-", "m"), ("", "m")] {
            assert!(!differ(one, other), "{one} {other}");
        }
        for (one, other) in [("s", "min"), ("m", "cm"), ("mW", "MW")] {
            assert!(differ(one, other), "{one} {other}");
        }
    }
}
