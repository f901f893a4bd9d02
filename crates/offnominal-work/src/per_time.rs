//! Times and rates as a person writes them: `10h`, `2/day`.

use anyhow::{Context as _, Result};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Seconds of a step, if somebody has said them.
pub(crate) fn known(dt_secs: Option<f64>) -> Result<f64> {
    dt_secs.context(
        "expected to know how many seconds a step takes, as false alarms are promised per time, and nobody has said it; the \
         option dt=SECONDS of an environment's id does, `clock` of a mapping (`rate_hz` or `column`), or `dt_secs` in Python",
    )
}

/// False alarms per time, of all monitors together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseAlarms {
    per_hour: f64,
}

impl FalseAlarms {
    /// Alarms an hour.
    pub(crate) fn per_hour(self) -> f64 {
        self.per_hour
    }

    /// How far they are apart on average.
    pub(crate) fn apart(self) -> Span {
        Span::Secs(3600.0 / self.per_hour)
    }
}

impl FromStr for FalseAlarms {
    type Err = String;

    fn from_str(text: &str) -> Result<FalseAlarms, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, ""));
        let hours = match unit.trim() {
            "hour" => Some(1.0),
            "day" => Some(24.0),
            _ => None,
        };
        let number = number.trim().parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        let per_hour = number.zip(hours).map(|(number, hours)| number / hours);
        per_hour.map(|per_hour| FalseAlarms { per_hour }).ok_or_else(|| {
            format!("expected false alarms per time, a number above zero such as 0.5/hour or 2/day; found {text:?}")
        })
    }
}

impl Display for FalseAlarms {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}/hour", self.per_hour)
    }
}

/// A number of steps, or a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Span {
    /// Steps.
    Steps(f64),
    /// Seconds.
    Secs(f64),
}

impl Span {
    /// The number of steps of so many seconds.
    pub(crate) fn steps(self, dt_secs: Option<f64>) -> Result<f64> {
        match self {
            Span::Steps(steps) => Ok(steps),
            Span::Secs(secs) => Ok(secs / known(dt_secs)?),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number =
            text[..text.len() - unit.len()].parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        let factor = match unit {
            "" => return number.map(Span::Steps).ok_or_else(|| unsound(text)),
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(unsound(text)),
        };
        number.map(|number| Span::Secs(number * factor)).ok_or_else(|| unsound(text))
    }
}

fn unsound(text: &str) -> String {
    format!("expected a number of steps, or a time such as 90s, 30m, 10h or 7d; found {text:?}")
}

impl Display for Span {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Span::Steps(steps) => write!(out, "{steps}"),
            Span::Secs(secs) => write!(out, "{secs}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_per_hour_or_per_day() {
        let read = |text: &str| text.parse::<FalseAlarms>();
        assert_eq!(read("12/day"), read("0.5/hour"));
        assert_eq!(read("0.1/day").unwrap().to_string().parse(), read("0.1/day"));
        for wrong in ["", "2", "2/week", "-1/day", "0/hour", "nan/hour", "1/hour/day"] {
            let error = read(wrong).unwrap_err();
            assert!(
                error.starts_with("expected false alarms per time")
                    && error.ends_with(&format!("found {wrong:?}"))
            );
        }
    }
}
