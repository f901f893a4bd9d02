//! Words, numbers and signs of a formula's text.

use super::StlError;
use std::fmt;

/// One of them, with the position of its first character, from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Where it begins.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
}

/// What stands in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A word or the name of a signal.
    Word(String),
    /// The name of a signal in double quotes.
    Quoted(String),
    /// A number.
    Number(f64),
    /// A sign, such as `<=`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs, the longer ones first.
const SIGNS: [&str; 13] = ["<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ","];

/// The tokens of a text, with the end as the last.
pub fn tokens(text: &str) -> Result<Vec<Token>, StlError> {
    let mut rest = Rest { text, at: 0 };
    let mut found = Vec::new();
    loop {
        rest.take_while(char::is_whitespace);
        let token = Token { at: rest.position(), kind: rest.next()? };
        let is_end = token.kind == Kind::End;
        found.push(token);
        if is_end {
            return Ok(found);
        }
    }
}

/// What is left of a text, from a byte on.
struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Rest<'t> {
    fn left(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The position in characters, from 1.
    fn position(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'t str {
        let left = self.left();
        let end = left.find(|c| !holds(c)).unwrap_or(left.len());
        self.at += end;
        &left[..end]
    }

    fn next(&mut self) -> Result<Kind, StlError> {
        let left = self.left();
        match left.chars().next() {
            None => Ok(Kind::End),
            Some('"') => self.quoted(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                Ok(Kind::Word(self.take_while(|c| c.is_alphanumeric() || c == '_').into()))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) => {
                let sign = SIGNS.iter().find(|s| left.starts_with(**s));
                let sign = sign.ok_or_else(|| self.wrong("a word, a number or a sign", &c.to_string()))?;
                self.at += sign.len();
                Ok(Kind::Sign(sign))
            }
        }
    }

    fn quoted(&mut self) -> Result<Kind, StlError> {
        let inner = &self.left()[1..];
        let end = inner.find('"').ok_or_else(|| self.wrong("a name that ends with \"", "no end"))?;
        self.at += end + 2;
        Ok(Kind::Quoted(inner[..end].into()))
    }

    fn number(&mut self) -> Result<Kind, StlError> {
        let begin = self.at;
        self.take_while(|c| c.is_ascii_digit() || c == '.');
        let exponent = self.left();
        if exponent.starts_with(['e', 'E']) {
            let digits = exponent[1..].trim_start_matches(['+', '-']);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.at += exponent.len() - digits.len();
                self.take_while(|c| c.is_ascii_digit());
            }
        }
        let word = &self.text[begin..self.at];
        let number = word.parse().ok().filter(|x: &f64| x.is_finite());
        number.map(Kind::Number).ok_or_else(|| Rest { at: begin, ..*self }.wrong("a number", word))
    }

    fn wrong(&self, expected: &str, found: &str) -> StlError {
        StlError::Text { at: self.position(), expected: expected.into(), found: found.into() }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Word(word) => write!(f, "{word:?}"),
            Kind::Quoted(name) => write!(f, "the name {name:?}"),
            Kind::Number(x) => write!(f, "the number {x}"),
            Kind::Sign(sign) => write!(f, "{sign:?}"),
            Kind::End => f.write_str("the end"),
        }
    }
}
