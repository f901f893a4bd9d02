//! Protocol buffers as ONNX uses them: fields with a number, each a whole number, bytes, or four or eight bytes.

use super::OnnxError;

/// The fields of a message, in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a>(&'a [u8]);

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    /// A whole number.
    Number(u64),
    /// Text, packed numbers, or another message.
    Bytes(&'a [u8]),
    /// A float.
    Float(f32),
    /// A float of 64 bits.
    Double(f64),
}

impl<'a> Message<'a> {
    /// The message in these bytes.
    pub(super) fn new(bytes: &'a [u8]) -> Message<'a> {
        Message(bytes)
    }

    /// All fields with their numbers, one after the other; the last one is an error if the bytes end within it, or it is
    /// of no known kind.
    pub(super) fn fields(self) -> impl Iterator<Item = Result<(u64, Value<'a>), OnnxError>> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let found = (!rest.is_empty()).then(|| field(&mut rest))?;
            if found.is_err() {
                rest = &[];
            }
            Some(found)
        })
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Result<(u64, Value<'a>), OnnxError> {
    let key = number(rest)?;
    let value = match key & 7 {
        0 => Value::Number(number(rest)?),
        1 => Value::Double(f64::from_le_bytes(*take(rest, 8)?.first_chunk().ok_or(CUT)?)),
        2 => {
            let len = usize::try_from(number(rest)?).unwrap_or(usize::MAX);
            Value::Bytes(take(rest, len)?)
        }
        5 => Value::Float(f32::from_le_bytes(*take(rest, 4)?.first_chunk().ok_or(CUT)?)),
        _ => return Err(OnnxError::Damaged("a field of no known kind")),
    };
    Ok((key >> 3, value))
}

const CUT: OnnxError = OnnxError::Damaged("the end of the file within a field");

impl<'a> Value<'a> {
    /// The message that the field holds.
    pub(super) fn message(self) -> Result<Message<'a>, OnnxError> {
        self.bytes().map(Message::new)
    }

    /// The bytes that the field holds.
    pub(super) fn bytes(self) -> Result<&'a [u8], OnnxError> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(OnnxError::Damaged("a number where bytes should be")),
        }
    }

    /// The text that the field holds.
    pub(super) fn text(self) -> Result<String, OnnxError> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The signed whole numbers that the field holds: one, or several packed.
    pub(super) fn numbers(self) -> Result<Vec<i64>, OnnxError> {
        let mut rest = match self {
            Value::Number(n) => return Ok(vec![n as i64]),
            other => other.bytes()?,
        };
        let mut all = Vec::new();
        while !rest.is_empty() {
            all.push(number(&mut rest)? as i64);
        }
        Ok(all)
    }

    /// The floats that the field holds: one, or several packed.
    pub(super) fn floats(self) -> Result<Vec<f32>, OnnxError> {
        match self {
            Value::Float(x) => Ok(vec![x]),
            other => {
                Ok(whole(other.bytes()?.as_chunks::<4>())?.iter().map(|x| f32::from_le_bytes(*x)).collect())
            }
        }
    }

    /// The floats of 64 bits that the field holds: one, or several packed.
    pub(super) fn doubles(self) -> Result<Vec<f64>, OnnxError> {
        match self {
            Value::Double(x) => Ok(vec![x]),
            other => {
                Ok(whole(other.bytes()?.as_chunks::<8>())?.iter().map(|x| f64::from_le_bytes(*x)).collect())
            }
        }
    }
}

/// Packed numbers, of which none is cut off.
fn whole<'a, const N: usize>((numbers, rest): (&'a [[u8; N]], &[u8])) -> Result<&'a [[u8; N]], OnnxError> {
    rest.is_empty().then_some(numbers).ok_or(CUT)
}

/// A whole number of seven bits a byte, the lowest first.
fn number(rest: &mut &[u8]) -> Result<u64, OnnxError> {
    let mut found = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(rest, 1)?[0];
        found |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(found);
        }
    }
    Err(OnnxError::Damaged("a number of more than 64 bits"))
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8], OnnxError> {
    rest.split_off(..n).ok_or(CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order() {
        // 1: 300; 2: "ab"; 3: 1.0 as a float; 4: packed 1, -1.
        let bytes =
            b"\x08\xac\x02\x12\x02ab\x1d\0\0\x80\x3f\x22\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
        let fields: Vec<_> = Message::new(bytes).fields().map(Result::unwrap).collect();
        assert_eq!(fields[..3], [(1, Value::Number(300)), (2, Value::Bytes(b"ab")), (3, Value::Float(1.0))]);
        assert_eq!(fields[3].1.numbers().unwrap(), [1, -1]);
    }

    #[test]
    fn damage_is_noticed() {
        for bytes in
            [b"\x08".as_slice(), b"\x12\x05ab", b"\x0b", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
        {
            let last = Message::new(bytes).fields().last();
            assert!(matches!(last, Some(Err(OnnxError::Damaged(_)))), "{bytes:?}");
        }
    }
}
