//! Text that somebody else wrote, made safe to show: names in logs, commands of bundles, words of hosted programs.
//!
//! A terminal obeys control characters: it moves the cursor, hides text and renames its window. Bidirectional marks of
//! Unicode change the order in which characters appear. Both are written as `\uXXXX`, which JSON reads back.

use std::borrow::Cow;

/// Text of several lines in which only line breaks and tabs keep their meaning.
///
/// ```
/// use offnominal_core::outside::lines;
/// assert_eq!(lines("a\u{1b}[8m\nb"), "a\\u001b[8m\nb");
/// ```
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// Text that stays on one line.
///
/// ```
/// use offnominal_core::outside::line;
/// assert_eq!(line("audit\n  signature right"), "audit\\u000a  signature right");
/// assert_eq!(line("µm, 温度"), "µm, 温度");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Text for a cell of a table: with an apostrophe before it where a spreadsheet would compute what it says.
///
/// ```
/// use offnominal_core::outside::cell;
/// assert_eq!(cell("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
/// assert_eq!(cell("speed"), "speed");
/// ```
pub fn cell(text: &str) -> Cow<'_, str> {
    if is_computed(text) { format!("'{text}").into() } else { text.into() }
}

/// The text that [`cell`] wrote.
///
/// ```
/// use offnominal_core::outside::{cell, uncelled};
/// for text in ["-1", "'-1", "''@", "'tis", "speed", ""] {
///     assert_eq!(uncelled(&cell(text)), text);
/// }
/// ```
pub fn uncelled(text: &str) -> &str {
    text.strip_prefix('\'').filter(|text| is_computed(text)).unwrap_or(text)
}

/// Whether a spreadsheet computes a text, or would if it were not for its apostrophes.
fn is_computed(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match is_escaped(c) {
            true => shown += &format!("\\u{:04x}", u32::from(c)),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Whether a terminal obeys a character in place of showing it: control characters, separators of lines, and marks of
/// the direction of text (Unicode Standard Annex 9).
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{061c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let all: String = ('\0'..='\u{ffff}').filter(|&c| is_obeyed(c)).collect();
        assert_eq!(all.chars().count(), 65 + 5 + 5 + 4);
        let shown = line(&all);
        assert!(shown.is_ascii() && !shown.contains(|c: char| c.is_ascii_control()), "{shown}");
        assert_eq!(lines(&all).chars().filter(char::is_ascii_control).collect::<String>(), "\t\n");
    }

    #[test]
    fn what_is_escaped_in_json_has_the_same_meaning() {
        let name = "a\u{202e}b\u{9b}31m";
        let json = format!("{{\"name\": \"{name}\"}}");
        assert_ne!(lines(&json), json);
        let read: serde_json::Value = serde_json::from_str(&lines(&json)).unwrap();
        assert_eq!(read["name"], name);
    }
}
