//! Message definitions of ROS 2 as text (`ros2msg`): a type, and after lines of `=` the types that it uses.
//!
//! Reference: the `.msg` format of the ROS 2 interface definition, and the schema encodings of MCAP.

use anyhow::{Context, Result, bail, ensure};
use std::collections::HashMap;

/// Types by their name, `package/Type`.
#[derive(Debug, Clone, Default)]
pub struct Types {
    found: HashMap<String, Vec<Field>>,
    /// Fewest bytes that a message of each type can have.
    least: HashMap<String, usize>,
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What one item of it is.
    pub kind: Kind,
    /// How many items it has.
    pub count: Count,
    /// Its unit, where a comment states one in brackets.
    pub unit: Option<String>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A number or truth value.
    Plain(Plain),
    /// A text of bytes.
    Text,
    /// A message of another type, `package/Type`.
    Message(String),
}

/// A number of fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Plain {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// How many items a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// One, not an array.
    One,
    /// Always so many.
    Fixed(usize),
    /// As many as the message says.
    Any,
}

impl Plain {
    /// Its size in bytes, which is its alignment too.
    pub fn size(self) -> usize {
        match self {
            Plain::Bool | Plain::U8 | Plain::I8 => 1,
            Plain::U16 | Plain::I16 => 2,
            Plain::U32 | Plain::I32 | Plain::F32 => 4,
            Plain::U64 | Plain::I64 | Plain::F64 => 8,
        }
    }
}

impl Types {
    /// Reads the definition of `name` (`package/msg/Type`) and of the types that it uses.
    ///
    /// # Errors
    /// If a line makes no sense or a type is missing.
    pub fn parse(name: &str, text: &str) -> Result<Types> {
        let mut types = Types::default();
        types.found.insert("builtin_interfaces/Time".into(), time(Plain::I32));
        types.found.insert("builtin_interfaces/Duration".into(), time(Plain::I32));
        let (mut current, mut lines) = (key(name), Vec::new());
        for (at, line) in text.lines().enumerate() {
            if line.len() >= 3 && line.bytes().all(|b| b == b'=') {
                types.add(&current, &std::mem::take(&mut lines))?;
                current.clear();
            } else if let Some(next) = line.strip_prefix("MSG: ").filter(|_| current.is_empty()) {
                current = key(next.trim());
            } else {
                lines.push((at + 1, line));
            }
        }
        types.add(&current, &lines)?;
        types.measure(&key(name), &mut Vec::new())?;
        Ok(types)
    }

    /// The fields of a type.
    ///
    /// # Errors
    /// If it is not among the types.
    pub fn fields(&self, name: &str) -> Result<&[Field]> {
        let found = self.found.get(&key(name));
        found.map(Vec::as_slice).with_context(|| format!("expected the definition of {name}, found none"))
    }

    fn add(&mut self, name: &str, lines: &[(usize, &str)]) -> Result<()> {
        let package = name.split('/').next().unwrap_or_default();
        let field = |&(at, line): &(usize, &str)| {
            field(line, package)
                .with_context(|| format!("definition of {name}, line {at}: {line:?}"))
                .transpose()
        };
        let fields: Vec<Field> = lines.iter().filter_map(field).collect::<Result<_>>()?;
        self.found.insert(name.into(), fields);
        Ok(())
    }

    /// Fewest bytes of a value; a message has at least one.
    pub fn least_size(&self, kind: &Kind) -> usize {
        match kind {
            Kind::Plain(plain) => plain.size(),
            Kind::Text => 4,
            Kind::Message(name) => self.least.get(name).copied().unwrap_or(1),
        }
    }

    /// Fewest bytes of a message of that type.
    pub fn least_size_of(&self, name: &str) -> usize {
        self.least.get(&key(name)).copied().unwrap_or(1)
    }

    /// Insists that every type that is used is there, and that none contains itself; and says how small each can be.
    fn measure(&mut self, name: &str, above: &mut Vec<String>) -> Result<()> {
        ensure!(!above.iter().any(|n| n == name), "expected types that end, found {name} within itself");
        ensure!(above.len() < 32, "expected at most 32 levels of types, found more at {name}");
        if self.least.contains_key(name) {
            return Ok(());
        }
        above.push(name.into());
        let mut least = 0usize;
        for field in self.fields(name)?.to_vec() {
            if let Kind::Message(of) = &field.kind {
                self.measure(of, above)?;
            }
            least = least.saturating_add(match field.count {
                Count::One => self.least_size(&field.kind),
                Count::Fixed(n) => self.least_size(&field.kind).saturating_mul(n),
                Count::Any => 4,
            });
        }
        above.pop();
        self.least.insert(name.into(), least.max(1));
        Ok(())
    }
}

/// `package/msg/Type` and `package/Type` are the same type.
fn key(name: &str) -> String {
    name.replace("/msg/", "/")
}

/// Times and durations, which definitions may leave out.
fn time(secs: Plain) -> Vec<Field> {
    let field = |name: &str, plain, unit: &str| Field {
        name: name.into(),
        kind: Kind::Plain(plain),
        count: Count::One,
        unit: Some(unit.into()),
    };
    vec![field("sec", secs, "s"), field("nanosec", Plain::U32, "ns")]
}

/// A line; a comment, a constant and an empty line are no field.
fn field(line: &str, package: &str) -> Result<Option<Field>> {
    let (code, comment) = line.split_once('#').unwrap_or((line, ""));
    let mut words = code.split_whitespace();
    let (Some(kind), Some(name)) = (words.next(), words.next()) else {
        ensure!(code.trim().is_empty(), "expected a type and a name");
        return Ok(None);
    };
    // A constant is `TYPE NAME=value`, in one word or with blanks; the `=` of a bound is within the type.
    if name.contains('=') || words.next().is_some_and(|w| w.starts_with('=')) {
        return Ok(None);
    }
    let (kind, count) = split(kind)?;
    let unit = comment
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(unit, _)| unit.trim().into());
    Ok(Some(Field { name: name.into(), kind: self::kind(kind, package)?, count, unit }))
}

fn split(kind: &str) -> Result<(&str, Count)> {
    let Some((of, rest)) = kind.split_once('[') else { return Ok((kind, Count::One)) };
    let count = rest.strip_suffix(']').context("expected `]` after `[`")?;
    match count {
        "" => Ok((of, Count::Any)),
        bound if bound.starts_with("<=") => Ok((of, Count::Any)),
        n => {
            // An array of no items would be a field that takes no byte, of which a message could have any number.
            let count = n.parse().ok().filter(|&n: &usize| n > 0);
            Ok((of, Count::Fixed(count.with_context(|| format!("expected a number of items, found {n:?}"))?)))
        }
    }
}

fn kind(name: &str, package: &str) -> Result<Kind> {
    let plain = match name.split("<=").next().unwrap_or(name) {
        "bool" => Plain::Bool,
        "byte" | "uint8" | "char" => Plain::U8,
        "int8" => Plain::I8,
        "uint16" => Plain::U16,
        "int16" => Plain::I16,
        "uint32" => Plain::U32,
        "int32" => Plain::I32,
        "uint64" => Plain::U64,
        "int64" => Plain::I64,
        "float32" => Plain::F32,
        "float64" => Plain::F64,
        "string" => return Ok(Kind::Text),
        "wstring" => bail!("expected a type whose bytes are the same everywhere, found wstring"),
        other if other.contains('/') => return Ok(Kind::Message(key(other))),
        other => return Ok(Kind::Message(format!("{package}/{other}"))),
    };
    Ok(Kind::Plain(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMU: &str = "std_msgs/Header header\nfloat64[9] cov # [m/s]\nuint8 GOOD=1\nstring<=8 mode 'x'\nVector v\n\
        ================================================================================\nMSG: geometry/Vector\n\
        float64 x\nfloat64[<=3] y\n\
        ================================================================================\nMSG: std_msgs/msg/Header\n\
        builtin_interfaces/Time stamp\nstring frame_id\n";

    #[test]
    fn fields_arrays_units_and_constants_are_told_apart() {
        let types = Types::parse("geometry/msg/Imu", IMU).unwrap();
        let fields = types.fields("geometry/Imu").unwrap();
        assert_eq!(
            fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
            ["header", "cov", "mode", "v"]
        );
        assert_eq!((fields[1].count, fields[1].unit.as_deref()), (Count::Fixed(9), Some("m/s")));
        assert_eq!((&fields[2].kind, fields[2].count), (&Kind::Text, Count::One));
        assert_eq!(fields[3].kind, Kind::Message("geometry/Vector".into()));
        assert_eq!(types.fields("geometry/msg/Vector").unwrap()[1].count, Count::Any);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let refused = |text: &str| format!("{:#}", Types::parse("a/msg/B", text).unwrap_err());
        assert!(refused("Other o").contains("expected the definition of a/Other, found none"));
        assert!(refused("B b").contains("found a/B within itself"));
        assert!(refused("float64[x] y").contains("line 1"));
        assert!(refused("float64[0] y").contains("expected a number of items, found \"0\""));
        assert!(refused("wstring w").contains("wstring"));
    }
}
