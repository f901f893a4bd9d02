//! How numbers are written: three decimals, percent or steps; what is missing is a dash, never a zero.

use offnominal_core::estimate::Estimate;
use offnominal_stats::metric::Unit;
use serde::Serialize;

/// A dash stands for "there is no such number".
pub const MISSING: &str = "–";

/// A number in a table cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Number {
    /// The value.
    pub text: String,
    /// The interval, without brackets; empty if there is none.
    pub interval: String,
    /// What hovering says: where the number comes from, or why it is missing.
    pub tip: String,
    /// The key of sorting; empty sorts last.
    pub sort: String,
}

impl Number {
    /// A value with its interval.
    pub fn of(estimate: &Estimate, unit: Unit, tip: String) -> Number {
        let interval = interval(estimate.low, estimate.high, unit);
        Number { text: format(estimate.value, unit), interval, tip, sort: sort_key(estimate.value) }
    }

    /// Nothing, and why.
    pub fn missing(why: &str) -> Number {
        let why = why.to_string();
        Number { text: MISSING.into(), interval: String::new(), tip: why, sort: String::new() }
    }
}

fn sort_key(value: f64) -> String {
    if value == f64::INFINITY { "1e300".into() } else { format!("{value}") }
}

/// The value alone.
pub fn format(value: f64, unit: Unit) -> String {
    match unit {
        _ if value.is_nan() => MISSING.into(),
        Unit::Area => format!("{value:.3}"),
        Unit::Share => format!("{} %", percent(value)),
        Unit::Steps if value.is_infinite() => "not reached".into(),
        Unit::Steps => steps(value),
    }
}

/// The interval as `low – high`, empty if an end is unknown or nothing is known but "not reached".
pub fn interval(low: f64, high: f64, unit: Unit) -> String {
    if low.is_nan() || high.is_nan() || low.is_infinite() {
        return String::new();
    }
    let part = |v: f64| match unit {
        Unit::Area => format!("{v:.3}"),
        Unit::Share => percent(v),
        Unit::Steps if v.is_infinite() => "∞".into(),
        Unit::Steps => steps(v),
    };
    let unit = if unit == Unit::Share { " %" } else { "" };
    format!("{} – {}{unit}", part(low), part(high))
}

/// Value and interval in one line, for sentences and hovering.
pub fn full(estimate: &Estimate, unit: Unit) -> String {
    let interval = interval(estimate.low, estimate.high, unit);
    let value = format(estimate.value, unit);
    if interval.is_empty() { value } else { format!("{value} [{interval}]") }
}

/// Two decimals without the leading zero, for narrow cells; steps and percent without decimals.
pub fn short(value: f64, unit: Unit) -> String {
    match unit {
        _ if value.is_nan() => MISSING.into(),
        Unit::Area if value >= 0.995 => "1".into(),
        Unit::Area => format!("{value:.2}").trim_start_matches('0').to_string(),
        Unit::Share => format!("{:.0}", 100.0 * value),
        Unit::Steps if value.is_infinite() => "∞".into(),
        Unit::Steps => format!("{value:.0}"),
    }
}

/// A number with about four significant digits, for magnitudes and axes.
pub fn plain(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => MISSING.into(),
        0.0 => "0".into(),
        size if !(1e-3..1e5).contains(&size) => format!("{value:.2e}"),
        size => {
            let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
            trim(format!("{value:.decimals$}"))
        }
    }
}

fn trim(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn percent(value: f64) -> String {
    format!("{:.1}", 100.0 * value)
}

fn steps(value: f64) -> String {
    if value == value.round() { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_their_unit() {
        let found: Vec<String> = vec![
            format(0.8765, Unit::Area),
            format(0.051, Unit::Share),
            format(7.0, Unit::Steps),
            format(7.5, Unit::Steps),
            format(f64::INFINITY, Unit::Steps),
            format(f64::NAN, Unit::Area),
        ];
        assert_eq!(found, ["0.876", "5.1 %", "7", "7.5", "not reached", "–"]);
    }

    #[test]
    fn narrow_cells_keep_what_matters() {
        let of = |v| short(v, Unit::Area);
        assert_eq!([of(0.934), of(0.5), of(0.999), of(0.0), of(f64::NAN)], [".93", ".50", "1", ".00", "–"]);
        assert_eq!([short(0.724, Unit::Share), short(12.4, Unit::Steps)], ["72", "12"]);
    }

    #[test]
    fn plain_numbers_lose_only_noise() {
        let found: Vec<String> = [0.0, 0.25, 1.0, 12.3456, 300.0, 1234.5, 0.00012].map(plain).into();
        assert_eq!(found, ["0", "0.25", "1", "12.35", "300", "1234", "1.20e-4"]);
    }

    #[test]
    fn an_unknown_end_hides_the_interval() {
        assert_eq!(interval(0.1, f64::NAN, Unit::Area), "");
        assert_eq!(interval(0.1, 0.25, Unit::Share), "10.0 – 25.0 %");
    }
}
