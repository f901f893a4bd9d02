//! Messages of ROS 2 in the common data representation (CDR), by their definition.
//!
//! A message begins with four bytes, of which the second tells the kind and the order of bytes. After them each number
//! is aligned to its own size. A text and a sequence begin with their length. Reference: OMG DDS interoperability
//! protocol 2.2, section 10; what ROS 2's own writers do where it leaves a choice.

use crate::nested::{MAX_ITEMS, Nested, Place};
use crate::record::Sink;
use crate::ros_schema::{Count, Field, Kind, Plain, Types};
use anyhow::{Context, Result, bail, ensure};

/// Reads one message of a time in nanoseconds, and hands it over as a row.
///
/// # Errors
/// If the message does not follow its definition, or the sink refuses the row.
pub fn read(
    types: &Types,
    name: &str,
    bytes: &[u8],
    time: Option<i64>,
    into: &mut Nested,
    sink: &mut dyn Sink,
) -> Result<()> {
    let header =
        bytes.get(..4).with_context(|| format!("expected a header of 4 bytes, found {}", bytes.len()))?;
    ensure!(header[1] <= 1, "expected plain CDR (kind 0 or 1), found kind {}", header[1]);
    let from = Cursor { bytes: &bytes[4..], at: 0, is_little: header[1] == 1 };
    let least = types.least_size_of(name);
    ensure!(least <= from.left(), "expected at least {least} bytes, as {name} has, found {}", from.left());
    into.begin();
    Message { types, from, into, sink }.fields(name, Nested::ROOT)?;
    into.end(time, sink)
}

struct Message<'a> {
    types: &'a Types,
    from: Cursor<'a>,
    into: &'a mut Nested,
    sink: &'a mut dyn Sink,
}

impl Message<'_> {
    fn fields(&mut self, name: &str, at: Place) -> Result<()> {
        let types = self.types;
        let fields = types.fields(name)?;
        if fields.is_empty() {
            // A structure without members is one byte on the wire.
            self.from.take(1)?;
        }
        // Names of the items of the arrays beside them, as in a JointState.
        let mut names: Vec<String> = Vec::new();
        for field in fields {
            let place = self.into.field(at, &field.name);
            if let Some(unit) = &field.unit {
                self.into.set_unit(place, unit);
            }
            self.field(field, place, &mut names).with_context(|| field.name.clone())?;
        }
        Ok(())
    }

    fn field(&mut self, field: &Field, at: Place, names: &mut Vec<String>) -> Result<()> {
        let count = match field.count {
            Count::One => return self.value(&field.kind, at),
            Count::Fixed(n) => n,
            Count::Any => self.from.length()?,
        };
        let least = self.types.least_size(&field.kind);
        ensure!(
            count.saturating_mul(least) <= self.from.left(),
            "expected at most {} items in the {} bytes that are left, found {count}",
            self.from.left() / least.max(1),
            self.from.left()
        );
        if field.kind == Kind::Text && matches!(field.name.as_str(), "name" | "names") {
            *names = (0..count).map(|_| self.from.text().map(str::to_string)).collect::<Result<_>>()?;
            return Ok(());
        }
        let is_bytes = field.kind == Kind::Plain(Plain::U8) && field.count == Count::Any;
        let is_wanted = count <= MAX_ITEMS && !is_bytes;
        if !is_wanted {
            self.into.leave_out(at, &format!("an array of {count} items"), self.sink);
        }
        for i in 0..count {
            match (&field.kind, is_wanted) {
                (Kind::Plain(plain), false) => {
                    // All at once: an array of numbers has no gaps after its first.
                    self.from.align(plain.size());
                    self.from.take(plain.size().saturating_mul(count))?;
                    break;
                }
                (kind, false) => self.pass(kind)?,
                (kind, true) => {
                    let label = names.get(i).filter(|_| names.len() == count);
                    let place = match label {
                        Some(name) => self.into.named_item(at, name),
                        None => self.into.item(at, i),
                    };
                    self.value(kind, place)?;
                }
            }
        }
        Ok(())
    }

    fn value(&mut self, kind: &Kind, at: Place) -> Result<()> {
        match kind {
            Kind::Message(name) => self.fields(name, at),
            Kind::Text => {
                let text = self.from.text()?;
                self.into.text(at, text, self.sink)
            }
            Kind::Plain(plain) => match self.from.plain(*plain)? {
                Number::Real(x) => self.into.number(at, x, self.sink),
                Number::Whole(n) => self.into.integer(at, n, self.sink),
            },
        }
    }

    /// Reads a value that is not wanted.
    fn pass(&mut self, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Plain(plain) => self.from.plain(*plain).map(|_| ()),
            Kind::Text => self.from.text().map(|_| ()),
            Kind::Message(name) => {
                let types = self.types;
                let fields = types.fields(name)?;
                if fields.is_empty() {
                    self.from.take(1)?;
                }
                for field in fields {
                    let count = match field.count {
                        Count::One => 1,
                        Count::Fixed(n) => n,
                        Count::Any => self.from.length()?,
                    };
                    ensure!(
                        count <= self.from.left(),
                        "expected at most {} items, found {count}",
                        self.from.left()
                    );
                    (0..count).try_for_each(|_| self.pass(&field.kind))?;
                }
                Ok(())
            }
        }
    }
}

enum Number {
    Real(f64),
    Whole(i64),
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    is_little: bool,
}

impl<'a> Cursor<'a> {
    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn align(&mut self, size: usize) {
        self.at = self.at.next_multiple_of(size);
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else { bail!("expected {n} bytes at byte {}, found {}", self.at, self.left()) };
        let found = &self.bytes[self.at..end];
        self.at = end;
        Ok(found)
    }

    /// The bytes of a number, the least significant first.
    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.align(N);
        let mut bytes: [u8; N] = self.take(N)?.try_into().expect("as many as were taken");
        if !self.is_little {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn length(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.number()?) as usize)
    }

    /// A text; its length counts the zero at its end, which some writers leave out of an empty one.
    fn text(&mut self) -> Result<&'a str> {
        let n = self.length()?;
        let bytes = self.take(n)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        std::str::from_utf8(bytes)
            .with_context(|| format!("expected a text in UTF-8 before byte {}", self.at))
    }

    fn plain(&mut self, plain: Plain) -> Result<Number> {
        Ok(match plain {
            Plain::Bool | Plain::U8 => Number::Whole(self.take(1)?[0].into()),
            Plain::I8 => Number::Whole(i8::from_le_bytes(self.number()?).into()),
            Plain::U16 => Number::Whole(u16::from_le_bytes(self.number()?).into()),
            Plain::I16 => Number::Whole(i16::from_le_bytes(self.number()?).into()),
            Plain::U32 => Number::Whole(u32::from_le_bytes(self.number()?).into()),
            Plain::I32 => Number::Whole(i32::from_le_bytes(self.number()?).into()),
            Plain::U64 => whole(u64::from_le_bytes(self.number()?)),
            Plain::I64 => Number::Whole(i64::from_le_bytes(self.number()?)),
            Plain::F32 => Number::Real(f32::from_le_bytes(self.number()?).into()),
            Plain::F64 => Number::Real(f64::from_le_bytes(self.number()?)),
        })
    }
}

/// A number beyond what is signed is rounded, which only digests and random keys reach.
fn whole(n: u64) -> Number {
    i64::try_from(n).map_or(Number::Real(n as f64), Number::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Types of two fields of the next type each, whatever the last one holds.
    fn tree(last: &str) -> Types {
        let mut text = String::from("T1 a\nT1 b\n");
        for i in 1..28 {
            let next = i + 1;
            write!(text, "====\nMSG: a/T{i}\nT{next} a\nT{next} b\n").unwrap();
        }
        write!(text, "====\nMSG: a/T28\n{last}\n").unwrap();
        Types::parse("a/msg/T0", &text).unwrap()
    }

    #[test]
    fn a_small_definition_of_many_fields_is_an_error_of_its_message() {
        let message = [[0, 1, 0, 0].as_slice(), &[0; 8]].concat();
        for (last, least) in [("uint8 e", 1 << 28), ("", 1 << 28), ("string s", 1 << 30)] {
            let error = read(&tree(last), "a/msg/T0", &message, None, &mut Nested::new(0), &mut ());
            let expected = format!("expected at least {least} bytes, as a/msg/T0 has, found 8");
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }
}
