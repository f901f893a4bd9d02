//! Dates on an axis, in nanoseconds since 1970 and in UTC: round ones, with labels that are as short as they may be.

use chrono::{DateTime, Datelike, NaiveDate, Utc};

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Steps that divide a day, and days.
const STEPS: [i64; 27] = [
    SECOND / 1000,
    SECOND / 500,
    SECOND / 200,
    SECOND / 100,
    SECOND / 50,
    SECOND / 20,
    SECOND / 10,
    SECOND / 5,
    SECOND / 2,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
];

/// Steps of whole months.
const MONTHS: [u32; 8] = [1, 3, 6, 12, 24, 60, 120, 1200];

/// A time to the second, or to the millisecond where it has a part of a second.
pub fn full(nanos: i64) -> String {
    let form = if nanos % SECOND == 0 { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M:%S%.3f" };
    date(nanos).format(form).to_string()
}

/// About `n` round times between two, with their labels.
pub fn ticks(from: i64, until: i64, n: usize) -> Vec<(i64, String)> {
    let (span, n) = (until.saturating_sub(from).max(1), n.max(1) as i64);
    let Some(step) = STEPS.into_iter().find(|step| span / step < n) else { return months(from, until, n) };
    let first = from.div_euclid(step) + i64::from(from.rem_euclid(step) > 0);
    let times = (first..=until.div_euclid(step)).map(|k| k * step);
    times.map(|time| (time, label(time, step))).collect()
}

/// Midnight is called by its date.
fn label(time: i64, step: i64) -> String {
    let form = match step {
        _ if time.rem_euclid(DAY) == 0 => "%m-%d",
        step if step < SECOND => "%H:%M:%S%.3f",
        step if step < MINUTE => "%H:%M:%S",
        _ => "%H:%M",
    };
    date(time).format(form).to_string()
}

/// First days of months.
fn months(from: i64, until: i64, n: i64) -> Vec<(i64, String)> {
    let number = |nanos: i64| i64::from(date(nanos).year()) * 12 + i64::from(date(nanos).month0());
    let (first, last) = (number(from), number(until));
    let step = MONTHS.map(i64::from).into_iter().find(|step| (last - first) / step < n).unwrap_or(1200);
    let form = if step < 12 { "%Y-%m" } else { "%Y" };
    let day = |month: i64| {
        let (year, month) = (month.div_euclid(12) as i32, month.rem_euclid(12) as u32 + 1);
        let day = NaiveDate::from_ymd_opt(year, month, 1)?.and_hms_opt(0, 0, 0)?.and_utc();
        Some((day.timestamp_nanos_opt()?, day.format(form).to_string()))
    };
    let round = (first.div_euclid(step)..=last.div_euclid(step)).map(|k| k * step);
    round.filter_map(day).filter(|(time, _)| (from..=until).contains(time)).collect()
}

fn date(nanos: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, until: &str, labels: &[&str]) {
        let nanos = |text: &str| text.parse::<DateTime<Utc>>().unwrap().timestamp_nanos_opt().unwrap();
        let found = ticks(nanos(from), nanos(until), 5);
        let said: Vec<&str> = found.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(said, labels);
        assert!(found.iter().all(|tick| (nanos(from)..=nanos(until)).contains(&tick.0)), "{found:?}");
    }

    #[test]
    fn ticks_are_round_and_midnight_is_a_date() {
        check("2020-03-09T10:14:33Z", "2020-03-09T10:34:52Z", &["10:15", "10:20", "10:25", "10:30"]);
        check("2014-12-31T20:00:00Z", "2015-01-01T05:00:00Z", &["21:00", "01-01", "03:00"]);
        check("2014-07-01T00:00:00Z", "2014-08-10T00:00:00Z", &["07-03", "07-17", "07-31"]);
        check("2014-07-01T00:00:00Z", "2014-10-10T00:00:00Z", &["2014-07", "2014-08", "2014-09", "2014-10"]);
        check("2010-02-01T00:00:00Z", "2019-08-10T00:00:00Z", &["2012", "2014", "2016", "2018"]);
        check(
            "2020-03-09T10:00:00.1Z",
            "2020-03-09T10:00:00.4Z",
            &["10:00:00.100", "10:00:00.200", "10:00:00.300", "10:00:00.400"],
        );
    }

    #[test]
    fn times_of_every_length_have_few_ticks() {
        for power in 0..62 {
            let n = ticks(1_500_000_000_000_000_123, 1_500_000_000_000_000_123 + (1_i64 << power), 6).len();
            assert!(n <= 7, "{power}: {n}");
        }
        assert!(ticks(i64::MIN, i64::MAX, 6).len() <= 7);
    }

    #[test]
    fn a_time_says_milliseconds_where_it_has_some() {
        assert_eq!(full(1_583_748_873_000_000_000), "2020-03-09 10:14:33");
        assert_eq!(full(1_583_748_873_250_000_000), "2020-03-09 10:14:33.250");
    }
}
