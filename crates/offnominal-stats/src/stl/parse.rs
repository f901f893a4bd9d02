//! From text to formula: each function reads what binds at least as strongly as its name says.
//!
//! From weak to strong: `implies`, `or`, `and`, `until`, then `not`, `always` and `eventually`, comparisons, `+` and `-`,
//! `*` and `/`, a minus before a number.

use super::StlError;
use super::node::{Equality, Node, Window};
use super::term::{Binary, Term, Unary};
use super::tokens::{Kind, Token, tokens};

/// Characters of a text.
const LONGEST: usize = 1 << 16;
/// Brackets, signs and words within one another; each is a call.
const DEEPEST: usize = 100;

/// The formula of a text.
pub fn formula(text: &str) -> Result<Node, StlError> {
    if text.len() > LONGEST {
        return Err(StlError::TooLarge { of: "characters", most: LONGEST });
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let node = parser.implication()?.holds()?;
    let is_over = parser.peek() == &Kind::End;
    if is_over { Ok(node) } else { Err(parser.wrong("the end or a word that joins formulas")) }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

/// What was read, and where it begins: brackets may hold either.
struct Read {
    at: usize,
    what: What,
}

enum What {
    Number(Term<String>),
    Truth(Node),
}

impl Read {
    fn holds(self) -> Result<Node, StlError> {
        match self.what {
            What::Truth(node) => Ok(node),
            What::Number(_) => Err(self.wrong("a comparison such as speed < 3", "a number")),
        }
    }

    fn number(self) -> Result<Term<String>, StlError> {
        match self.what {
            What::Number(term) => Ok(term),
            What::Truth(_) => Err(self.wrong("a number", "what holds or does not")),
        }
    }

    fn wrong(&self, expected: &str, found: &str) -> StlError {
        StlError::Text { at: self.at, expected: expected.into(), found: found.into() }
    }
}

impl Parser {
    fn peek(&self) -> &Kind {
        &self.tokens[self.next].kind
    }

    fn at(&self) -> usize {
        self.tokens[self.next].at
    }

    fn wrong(&self, expected: &str) -> StlError {
        StlError::Text { at: self.at(), expected: expected.into(), found: self.peek().to_string() }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Word(w) if w == word);
        self.next += usize::from(found);
        found
    }

    /// The first of some signs, if one of them is next.
    fn take_sign(&mut self, signs: &[&str]) -> Option<&'static str> {
        let Kind::Sign(sign) = *self.peek() else { return None };
        let found = signs.contains(&sign);
        self.next += usize::from(found);
        found.then_some(sign)
    }

    fn expect(&mut self, sign: &str) -> Result<(), StlError> {
        self.take_sign(&[sign]).map(drop).ok_or_else(|| self.wrong(&format!("{sign:?}")))
    }

    /// Reads what stands inside of something, unless that is too deep.
    fn inside(&mut self, read: fn(&mut Parser) -> Result<Read, StlError>) -> Result<Read, StlError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(StlError::TooLarge { of: "levels of brackets and words", most: DEEPEST });
        }
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn implication(&mut self) -> Result<Read, StlError> {
        let first = self.disjunction()?;
        if !self.take_word("implies") {
            return Ok(first);
        }
        let (at, first) = (first.at, first.holds()?);
        let second = self.inside(Parser::implication)?.holds()?;
        Ok(Read { at, what: What::Truth(Node::Or(Box::new([first.negated(), second]))) })
    }

    fn disjunction(&mut self) -> Result<Read, StlError> {
        self.joined("or", Node::Or, Parser::conjunction)
    }

    fn conjunction(&mut self) -> Result<Read, StlError> {
        self.joined("and", Node::And, Parser::until)
    }

    /// One or more, joined by a word.
    fn joined(
        &mut self,
        word: &str,
        join: fn(Box<[Node; 2]>) -> Node,
        part: fn(&mut Parser) -> Result<Read, StlError>,
    ) -> Result<Read, StlError> {
        let mut all = part(self)?;
        while self.take_word(word) {
            let at = all.at;
            let pair = [all.holds()?, part(self)?.holds()?];
            all = Read { at, what: What::Truth(join(Box::new(pair))) };
        }
        Ok(all)
    }

    fn until(&mut self) -> Result<Read, StlError> {
        let first = self.prefixed()?;
        if !self.take_word("until") {
            return Ok(first);
        }
        let (at, window) = (first.at, self.window()?);
        let pair = [first.holds()?, self.prefixed()?.holds()?];
        Ok(Read { at, what: What::Truth(Node::Until(window, Box::new(pair))) })
    }

    fn prefixed(&mut self) -> Result<Read, StlError> {
        let at = self.at();
        let node = if self.take_word("not") {
            self.inside(Parser::prefixed)?.holds()?.negated()
        } else if self.take_word("always") {
            Node::Always(self.window()?, Box::new(self.inside(Parser::prefixed)?.holds()?))
        } else if self.take_word("eventually") {
            Node::Eventually(self.window()?, Box::new(self.inside(Parser::prefixed)?.holds()?))
        } else {
            return self.comparison();
        };
        Ok(Read { at, what: What::Truth(node) })
    }

    /// `[FROM, TO]` in seconds, if it is there; TO may be `inf`.
    fn window(&mut self) -> Result<Window, StlError> {
        if self.take_sign(&["["]).is_none() {
            return Ok(Window::EVER);
        }
        let from_secs = self.seconds(0.0)?;
        self.expect(",")?;
        let to_secs = if self.take_word("inf") { f64::INFINITY } else { self.seconds(from_secs)? };
        self.expect("]")?;
        Ok(Window { from_secs, to_secs })
    }

    fn seconds(&mut self, least: f64) -> Result<f64, StlError> {
        match *self.peek() {
            Kind::Number(x) if x >= least => {
                self.next += 1;
                Ok(x)
            }
            _ => Err(self.wrong(&format!("seconds of at least {least}"))),
        }
    }

    fn comparison(&mut self) -> Result<Read, StlError> {
        let first = self.sum()?;
        let at = first.at;
        let Some(sign) = self.take_sign(&["<", "<=", ">", ">="]) else { return Ok(first) };
        let (left, right) = (first.number()?, self.sum()?.number()?);
        let above = if sign.starts_with('<') { right.minus(left) } else { left.minus(right) };
        let equality = if sign.ends_with('=') { Equality::Holds } else { Equality::Breaks };
        Ok(Read { at, what: What::Truth(Node::Above(above, equality)) })
    }

    fn sum(&mut self) -> Result<Read, StlError> {
        self.computed(&[("+", Binary::Plus), ("-", Binary::Minus)], Parser::product)
    }

    fn product(&mut self) -> Result<Read, StlError> {
        self.computed(&[("*", Binary::Times), ("/", Binary::Over)], Parser::factor)
    }

    /// One or more, joined by signs, from left to right.
    fn computed(
        &mut self,
        functions: &[(&str, Binary)],
        part: fn(&mut Parser) -> Result<Read, StlError>,
    ) -> Result<Read, StlError> {
        let signs: Vec<&str> = functions.iter().map(|(sign, _)| *sign).collect();
        let mut all = part(self)?;
        while let Some(sign) = self.take_sign(&signs) {
            let at = all.at;
            let function = functions.iter().find(|(s, _)| *s == sign).map_or(Binary::Plus, |(_, f)| *f);
            let pair = [all.number()?, part(self)?.number()?];
            all = Read { at, what: What::Number(Term::Binary(function, Box::new(pair))) };
        }
        Ok(all)
    }

    fn factor(&mut self) -> Result<Read, StlError> {
        let at = self.at();
        if self.take_sign(&["-"]).is_some() {
            let term = self.inside(Parser::factor)?.number()?.negative();
            return Ok(Read { at, what: What::Number(term) });
        }
        if self.take_sign(&["("]).is_some() {
            let read = self.inside(Parser::implication)?;
            self.expect(")")?;
            return Ok(Read { at, ..read });
        }
        let term = match self.peek().clone() {
            Kind::Number(x) => Term::Constant(x),
            Kind::Quoted(name) => Term::Signal(name),
            Kind::Word(word) if !WORDS.contains(&word.as_str()) => return self.named(word),
            _ => return Err(self.wrong("a number, a signal, a word or \"(\"")),
        };
        self.next += 1;
        Ok(Read { at, what: What::Number(term) })
    }

    /// A signal, or a function of one or two numbers.
    fn named(&mut self, word: String) -> Result<Read, StlError> {
        let at = self.at();
        self.next += 1;
        let term = match word.as_str() {
            "abs" => {
                self.expect("(")?;
                let x = self.argument(")")?;
                Term::Unary(Unary::Absolute, Box::new(x))
            }
            "min" => Term::Binary(Binary::Smaller, self.pair()?),
            "max" => Term::Binary(Binary::Larger, self.pair()?),
            _ => Term::Signal(word),
        };
        Ok(Read { at, what: What::Number(term) })
    }

    /// `(x, y)`.
    fn pair(&mut self) -> Result<Box<[Term<String>; 2]>, StlError> {
        self.expect("(")?;
        Ok(Box::new([self.argument(",")?, self.argument(")")?]))
    }

    /// A number with the sign behind it.
    fn argument(&mut self, end: &str) -> Result<Term<String>, StlError> {
        let term = self.inside(Parser::sum)?.number()?;
        self.expect(end)?;
        Ok(term)
    }
}

/// Words that are no names of signals, unless they are in quotes.
const WORDS: [&str; 8] = ["always", "eventually", "until", "and", "or", "not", "implies", "inf"];
