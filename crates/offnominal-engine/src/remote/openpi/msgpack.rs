//! MessagePack, and arrays of NumPy in it.

use anyhow::{Context, Result, bail, ensure};

/// Values within values at most.
const DEEPEST: usize = 16;

/// Values of a message at most.
const MOST: usize = 1 << 16;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Reads one value, which is all of the bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Value> {
        let mut reader = Reader { bytes, at: 0, left: MOST };
        let value = reader.value(0)?;
        ensure!(reader.at == bytes.len(), "byte {}: expected the end, found more", reader.at);
        Ok(value)
    }

    /// The value at a key of a map, which may be a text or bytes.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { return None };
        let is_key = |value: &Value| match value {
            Value::Text(text) => text == key,
            Value::Bytes(bytes) => bytes == key.as_bytes(),
            _ => false,
        };
        entries.iter().find(|(k, _)| is_key(k)).map(|(_, value)| value)
    }

    /// Appends it to bytes.
    pub(super) fn write(&self, to: &mut Vec<u8>) {
        match self {
            Value::Nil => to.push(0xc0),
            Value::Bool(on) => to.push(if *on { 0xc3 } else { 0xc2 }),
            Value::Int(n) => {
                to.push(0xd3);
                to.extend(n.to_be_bytes());
            }
            Value::Float(x) => {
                to.push(0xcb);
                to.extend(x.to_be_bytes());
            }
            Value::Text(text) => counted(0xdb, text.as_bytes(), to),
            Value::Bytes(bytes) => counted(0xc6, bytes, to),
            Value::List(items) => {
                length(0xdd, items.len(), to);
                items.iter().for_each(|item| item.write(to));
            }
            Value::Map(entries) => {
                length(0xdf, entries.len(), to);
                for (key, value) in entries {
                    key.write(to);
                    value.write(to);
                }
            }
        }
    }
}

fn length(kind: u8, n: usize, to: &mut Vec<u8>) {
    to.push(kind);
    to.extend((n as u32).to_be_bytes());
}

fn counted(kind: u8, bytes: &[u8], to: &mut Vec<u8>) {
    length(kind, bytes.len(), to);
    to.extend(bytes);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values that may still come.
    left: usize,
}

impl Reader<'_> {
    fn take(&mut self, n: usize) -> Result<&[u8]> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        let end = end.with_context(|| format!("byte {}: expected {n} more bytes, found the end", self.at))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// An unsigned number of so many bytes.
    fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    fn signed(&mut self, bytes: usize) -> Result<Value> {
        let unused = 64 - 8 * bytes as u32;
        Ok(Value::Int((self.number(bytes)? << unused).cast_signed() >> unused))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        ensure!(
            depth < DEEPEST,
            "byte {}: expected values at most {DEEPEST} deep, found deeper ones",
            self.at
        );
        self.left = self
            .left
            .checked_sub(1)
            .with_context(|| format!("expected at most {MOST} values, found more"))?;
        let kind = self.number(1)? as u8;
        match kind {
            0x00..=0x7f => Ok(Value::Int(i64::from(kind))),
            0xe0..=0xff => Ok(Value::Int(i64::from(kind.cast_signed()))),
            0x80..=0x8f => self.map(usize::from(kind & 0xf), depth),
            0x90..=0x9f => self.list(usize::from(kind & 0xf), depth),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f)),
            0xc0 => Ok(Value::Nil),
            0xc2 | 0xc3 => Ok(Value::Bool(kind == 0xc3)),
            0xc4..=0xc6 => {
                let n = self.number(1 << (kind - 0xc4))? as usize;
                Ok(Value::Bytes(self.take(n)?.to_vec()))
            }
            0xca => Ok(Value::Float(f64::from(f32::from_bits(self.number(4)? as u32)))),
            0xcb => Ok(Value::Float(f64::from_bits(self.number(8)?))),
            0xcc..=0xcf => {
                let n = self.number(1 << (kind - 0xcc))?;
                Ok(i64::try_from(n).map_or(Value::Float(n as f64), Value::Int))
            }
            0xd0..=0xd3 => self.signed(1 << (kind - 0xd0)),
            0xd9..=0xdb => {
                let n = self.number(1 << (kind - 0xd9))? as usize;
                self.text(n)
            }
            0xdc | 0xdd => {
                let n = self.number(if kind == 0xdc { 2 } else { 4 })? as usize;
                self.list(n, depth)
            }
            0xde | 0xdf => {
                let n = self.number(if kind == 0xde { 2 } else { 4 })? as usize;
                self.map(n, depth)
            }
            other => bail!("byte {}: expected a value without extensions, found {other:#04x}", self.at - 1),
        }
    }

    fn text(&mut self, n: usize) -> Result<Value> {
        let at = self.at;
        let text = String::from_utf8(self.take(n)?.to_vec());
        Ok(Value::Text(text.ok().with_context(|| format!("byte {at}: expected text, found other bytes"))?))
    }

    fn list(&mut self, n: usize, depth: usize) -> Result<Value> {
        (0..n).map(|_| self.value(depth + 1)).collect::<Result<_>>().map(Value::List)
    }

    fn map(&mut self, n: usize, depth: usize) -> Result<Value> {
        let mut entry = || Ok((self.value(depth + 1)?, self.value(depth + 1)?));
        (0..n).map(|_| entry()).collect::<Result<_>>().map(Value::Map)
    }
}

/// An array of NumPy.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    /// As NumPy writes it, such as `<f4`.
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<u8>,
}

impl Array {
    /// A vector of float32.
    pub(super) fn of_numbers(numbers: &[f32]) -> Array {
        let data = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        Array { dtype: "<f4".into(), shape: vec![numbers.len()], data }
    }

    /// The array as a value.
    pub(super) fn into_value(self) -> Value {
        let key = |name: &str| Value::Bytes(name.into());
        let shape = self.shape.iter().map(|&n| Value::Int(n as i64)).collect();
        Value::Map(vec![
            (key("__ndarray__"), Value::Bool(true)),
            (key("data"), Value::Bytes(self.data)),
            (key("dtype"), Value::Text(self.dtype)),
            (key("shape"), Value::List(shape)),
        ])
    }

    /// The array that a value holds.
    pub(super) fn of_value(value: &Value) -> Result<Array> {
        let part = |name: &str| {
            value.get(name).with_context(|| format!("expected an array with {name}, found none"))
        };
        let (Value::Bytes(data), Value::Text(dtype), Value::List(shape)) =
            (part("data")?, part("dtype")?, part("shape")?)
        else {
            bail!("expected an array of bytes with dtype and shape, found others");
        };
        let length = |n: &Value| match n {
            Value::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let shape: Option<Vec<usize>> = shape.iter().map(length).collect();
        let shape = shape.context("expected a shape of whole numbers, found others")?;
        Ok(Array { dtype: dtype.clone(), shape, data: data.clone() })
    }

    /// Its numbers as float32.
    pub(super) fn numbers(&self) -> Result<Vec<f32>> {
        let numbers: Vec<f32> = match self.dtype.as_str() {
            "<f4" => self.data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect(),
            "<f8" => self.data.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b) as f32).collect(),
            other => bail!("expected an array of <f4 or <f8, found {other}"),
        };
        let count = self.shape.iter().try_fold(1_usize, |n, &length| n.checked_mul(length));
        let size = if self.dtype == "<f4" { 4 } else { 8 };
        let is_whole = count == Some(numbers.len()) && self.data.len() == numbers.len() * size;
        ensure!(
            is_whole,
            "expected as many numbers as the shape {:?} has, found {}",
            self.shape,
            numbers.len()
        );
        Ok(numbers)
    }
}
