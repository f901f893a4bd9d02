//! The times in the column of a clock.

use crate::dates::{Midnight, by_format, clear};
use crate::mapping::{Clock, TimeUnit};
use crate::record::Value;
use crate::words::means_missing;
use anyhow::{Context, Result, bail, ensure};

/// Reads them one after the other.
#[derive(Default)]
pub(super) struct Times {
    /// The form of the date before.
    form: usize,
    midnight: Midnight,
}

impl Times {
    /// A time in nanoseconds; `None` if it is missing.
    pub fn nanos(&mut self, clock: &Clock, value: Value<'_>) -> Result<Option<i64>> {
        match (clock.unit.nanos(), value) {
            (_, Value::Missing) => Ok(None),
            (_, Value::Text(word)) if means_missing(word) => Ok(None),
            (Some(1.0), Value::Integer(n)) => Ok(Some(n)),
            (Some(nanos), value) => number(value, nanos, clock.unit).map(Some),
            (None, Value::Text(text)) => self.date(clock, text).map(|time| Some(self.midnight.pass(time))),
            // A date of digits alone, such as 20200309.
            (None, Value::Integer(n)) => {
                self.date(clock, &n.to_string()).map(|time| Some(self.midnight.pass(time)))
            }
            (None, value) => bail!("expected a date and a time, found {value:?}"),
        }
    }

    fn date(&mut self, clock: &Clock, text: &str) -> Result<i64> {
        if let Some(format) = &clock.format {
            return by_format(text.trim(), format).with_context(|| {
                format!("expected a time as `clock.format` says, {format:?}, found {text:?}")
            });
        }
        let (form, time) = clear(text, self.form).with_context(|| {
            format!(
                "expected a date and a time such as 2020-03-09 10:14:33, found {text:?}; `clock.format` of the mapping says \
                 how others are written, such as \"%d/%m/%Y %H:%M:%S\""
            )
        })?;
        self.form = form;
        Ok(time)
    }
}

fn number(value: Value<'_>, nanos: f64, unit: TimeUnit) -> Result<i64> {
    let Some(x) = value.number() else { bail!("expected a number of {unit:?}, found {value:?}") };
    let time = x * nanos;
    ensure!(time.abs() < 9e18, "expected a time within 292 years of 1970, found {x}");
    Ok(snapped(time, 2.0 * x.abs() * f64::EPSILON * nanos))
}

/// A time without the digits that its floating-point number does not have: 1583748873.1 s is no 96 ns early.
fn snapped(time: f64, doubt: f64) -> i64 {
    let step = if doubt < 1.0 { 1.0 } else { 10f64.powi(doubt.log10().ceil() as i32) };
    // Whole numbers multiply without another rounding.
    (time / step).round() as i64 * step as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_since_1970_in_seconds_is_as_exact_as_it_is_written() {
        for tenth in 0..100 {
            let text = format!("15837488{}.{}", 70 + tenth / 10, tenth % 10);
            let found = number(Value::Number(text.parse().unwrap()), 1e9, TimeUnit::Seconds).unwrap();
            assert_eq!(found, 1_583_748_870_000_000_000 + tenth * 100_000_000, "{text}");
        }
        assert_eq!(number(Value::Number(0.123_456_789), 1e9, TimeUnit::Seconds).unwrap(), 123_456_789);
    }
}
