//! One field of a table as a number, if it is one: with a decimal point or comma, and with or without groups of thousands.

use crate::record::Value;

/// What a comma in a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comma {
    /// `1,5` is one and a half.
    Decimal,
    /// `1,234` is one thousand and more.
    Thousands,
}

impl Comma {
    /// What is said where it is decided.
    pub fn said(self, example: &str) -> String {
        let what = if self == Comma::Decimal { "before decimals" } else { "between thousands" };
        format!("the comma in numbers such as {example} stands {what}")
    }
}

/// What the commas of a table stand for: decided by the first number with a comma, unless the table has more to say.
#[derive(Debug, Clone, Copy)]
pub struct Commas {
    /// What is decided.
    pub decided: Option<Comma>,
    /// What `1,234` means where nothing else is known.
    pub usual: Comma,
}

/// What the commas of a number say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// It can be read in one way only.
    Only(Comma),
    /// Three digits follow a single comma.
    Either,
}

impl Commas {
    /// A field. What the table means by a comma is decided by the first number that has one.
    pub fn value<'a>(&mut self, text: &'a str) -> Value<'a> {
        let text = text.trim_ascii();
        if let Some(n) = whole(text) {
            return Value::Integer(n);
        }
        match text {
            "" | "NA" | "N/A" | "#N/A" | "null" | "NULL" | "None" | "NaT" | "-" | "--" => {
                return Value::Missing;
            }
            "true" | "True" | "TRUE" => return Value::Integer(1),
            "false" | "False" | "FALSE" => return Value::Integer(0),
            _ => {}
        }
        match text.parse::<f64>() {
            Ok(_) if self.decided == Some(Comma::Decimal) && is_group(text) => Value::Text(text),
            // A number that no double holds is shown as it is written.
            Ok(x) if x.is_infinite() && text.bytes().any(|b| b.is_ascii_digit()) => Value::Text(text),
            Ok(x) => x.into(),
            Err(_) => self.unusual(text).map_or(Value::Text(text), Value::from),
        }
    }

    /// A number with commas, with groups of thousands, or with a sign that is no hyphen.
    fn unusual(&mut self, text: &str) -> Option<f64> {
        if !text.bytes().any(|b| b.is_ascii_digit()) {
            return None;
        }
        let plain = ungrouped(&text.trim().replace('\u{2212}', "-"));
        let Some(says) = says(&plain) else { return plain.parse().ok().filter(|x: &f64| x.is_finite()) };
        let comma = *self.decided.get_or_insert(match says {
            Says::Only(comma) => comma,
            Says::Either => self.usual,
        });
        match (comma, says) {
            (Comma::Decimal, Says::Only(Comma::Thousands))
            | (Comma::Thousands, Says::Only(Comma::Decimal)) => None,
            (Comma::Decimal, _) => plain.replace('.', "").replace(',', ".").parse().ok(),
            (Comma::Thousands, _) => plain.replace(',', "").parse().ok(),
        }
    }
}

/// A whole number; what has a point is none, and is not tried.
fn whole(text: &str) -> Option<i64> {
    if text.bytes().any(|b| b == b'.') { None } else { text.parse().ok() }
}

/// Whether a point in a number stands before decimals for sure.
pub fn has_decimals(text: &str) -> bool {
    text.contains('.')
        && !text.contains(',')
        && !is_group(text)
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Whether a point may stand before three digits of thousands, as in `1.234`.
fn is_group(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    digits.split_once('.').is_some_and(|(before, after)| {
        (1..=3).contains(&before.len()) && !before.starts_with('0') && after.len() == 3 && digits.len() > 4
    })
}

/// Groups of thousands between blanks or apostrophes as digits in a row.
fn ungrouped(text: &str) -> String {
    let is_mark = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '\u{2019}');
    let whole = text.split(['.', ',']).next().unwrap_or_default().trim_start_matches(['-', '+']);
    let mut groups = whole.split(is_mark);
    let is_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let is_first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && is_digits(group));
    let are_others = groups.all(|group| group.len() == 3 && is_digits(group));
    if is_first && are_others { text.replace(is_mark, "") } else { text.into() }
}

/// What the commas of a number say; `None` if it has none, or is no number.
pub fn says(text: &str) -> Option<Says> {
    let text = text.trim_start_matches(['-', '+']);
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_number = digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.'));
    let (before, after) = digits.rsplit_once(',').filter(|_| is_number && !digits.is_empty())?;
    let is_grouped = |text: &str, mark: char| {
        let mut groups = text.split(mark);
        let first = groups.next().unwrap_or_default();
        (1..=3).contains(&first.len()) && !first.starts_with('0') && groups.all(|group| group.len() == 3)
    };
    let (thousands, point) = after.split_once('.').map_or((after, false), |(whole, _)| (whole, true));
    let as_thousands = !before.contains('.') && thousands.len() == 3 && is_grouped(before, ',');
    let is_fraction = after.bytes().all(|b| b.is_ascii_digit()) && !(before.is_empty() && after.is_empty());
    let is_whole = if before.contains('.') { is_grouped(before, '.') } else { !before.contains(',') };
    let as_decimal = is_fraction && is_whole && !point;
    match (as_thousands, as_decimal) {
        (true, true) if before.contains('.') => Some(Says::Only(Comma::Decimal)),
        (true, true) => Some(Says::Either),
        (true, false) => Some(Says::Only(Comma::Thousands)),
        (false, true) => Some(Says::Only(Comma::Decimal)),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, usual: Comma) -> Value<'_> {
        Commas { decided: None, usual }.value(text)
    }

    #[test]
    fn numbers_are_read_as_they_are_meant_or_not_at_all() {
        let n = Value::Number;
        let either = |text| [Comma::Decimal, Comma::Thousands].map(|usual| value(text, usual));
        for (text, x) in
            [("1,5", 1.5), ("-0,125", -0.125), ("1.234,5", 1234.5), ("1,5e3", 1500.0), ("1 234,5", 1234.5)]
        {
            assert_eq!(either(text), [n(x); 2], "{text}");
        }
        for (text, x) in
            [("1,234.5", 1234.5), ("1,234,567", 1_234_567.0), ("1'234.5", 1234.5), ("\u{2212}2.5", -2.5)]
        {
            assert_eq!(either(text), [n(x); 2], "{text}");
        }
        assert_eq!(either("1,234"), [n(1.234), n(1234.0)]);
        for text in ["1,2,3", "12:30", "1e400", "5 V", "1.2.3"] {
            assert_eq!(either(text), [Value::Text(text); 2], "{text}");
        }
    }

    #[test]
    fn what_speaks_against_the_table_is_a_text() {
        let mut commas = Commas { decided: Some(Comma::Decimal), usual: Comma::Decimal };
        assert_eq!(commas.value("1,234.5"), Value::Text("1,234.5"));
        assert_eq!(commas.value("1.234"), Value::Text("1.234"), "it may be a thousand");
        assert_eq!(commas.value("0.25"), Value::Number(0.25));
    }
}
