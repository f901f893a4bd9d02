//! Values of variables: their types, and how they are packed.

use super::package::Malformed;

/// The type of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// One byte, 0 or 1.
    Bool,
    /// One byte.
    U8,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
    /// Four bytes, two's complement.
    I32,
    /// Eight bytes, IEEE 754.
    Double,
    /// Three doubles.
    Vector3,
    /// Six doubles.
    Vector6,
    /// Six signed integers.
    Vector6I32,
    /// Six unsigned integers.
    Vector6U32,
}

impl Type {
    const ALL: [(Type, &'static str, usize); 10] = [
        (Type::Bool, "BOOL", 1),
        (Type::U8, "UINT8", 1),
        (Type::U32, "UINT32", 4),
        (Type::U64, "UINT64", 8),
        (Type::I32, "INT32", 4),
        (Type::Double, "DOUBLE", 8),
        (Type::Vector3, "VECTOR3D", 24),
        (Type::Vector6, "VECTOR6D", 48),
        (Type::Vector6I32, "VECTOR6INT32", 24),
        (Type::Vector6U32, "VECTOR6UINT32", 24),
    ];

    /// The type of that name in the replies to a setup; `None` for `NOT_FOUND`, `IN_USE` and anything else.
    pub fn of(name: &str) -> Option<Type> {
        Type::ALL.iter().find(|t| t.1 == name).map(|t| t.0)
    }

    /// The name in the replies to a setup.
    pub fn name(self) -> &'static str {
        Type::ALL[self as usize].1
    }

    /// Bytes of a packed value.
    pub fn size(self) -> usize {
        Type::ALL[self as usize].2
    }
}

/// A value of a variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A truth.
    Bool(bool),
    /// A byte.
    U8(u8),
    /// An unsigned number.
    U32(u32),
    /// A long unsigned number.
    U64(u64),
    /// A signed number.
    I32(i32),
    /// A real number.
    Double(f64),
    /// Three real numbers.
    Vector3([f64; 3]),
    /// Six real numbers.
    Vector6([f64; 6]),
    /// Six signed numbers.
    Vector6I32([i32; 6]),
    /// Six unsigned numbers.
    Vector6U32([u32; 6]),
}

impl Value {
    /// The type.
    pub fn of_type(&self) -> Type {
        match self {
            Value::Bool(_) => Type::Bool,
            Value::U8(_) => Type::U8,
            Value::U32(_) => Type::U32,
            Value::U64(_) => Type::U64,
            Value::I32(_) => Type::I32,
            Value::Double(_) => Type::Double,
            Value::Vector3(_) => Type::Vector3,
            Value::Vector6(_) => Type::Vector6,
            Value::Vector6I32(_) => Type::Vector6I32,
            Value::Vector6U32(_) => Type::Vector6U32,
        }
    }

    /// Appends the packed value.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Value::Bool(v) => out.push(u8::from(*v)),
            Value::U8(v) => out.push(*v),
            Value::U32(v) => out.extend_from_slice(&v.to_be_bytes()),
            Value::U64(v) => out.extend_from_slice(&v.to_be_bytes()),
            Value::I32(v) => out.extend_from_slice(&v.to_be_bytes()),
            Value::Double(v) => out.extend_from_slice(&v.to_be_bytes()),
            Value::Vector3(v) => v.iter().for_each(|x| out.extend_from_slice(&x.to_be_bytes())),
            Value::Vector6(v) => v.iter().for_each(|x| out.extend_from_slice(&x.to_be_bytes())),
            Value::Vector6I32(v) => v.iter().for_each(|x| out.extend_from_slice(&x.to_be_bytes())),
            Value::Vector6U32(v) => v.iter().for_each(|x| out.extend_from_slice(&x.to_be_bytes())),
        }
    }

    /// Reads a packed value.
    ///
    /// # Errors
    /// If too few bytes are left.
    pub fn read(of: Type, from: &mut Fields<'_>) -> Result<Value, Malformed> {
        const WHAT: &str = "value";
        Ok(match of {
            Type::Bool => Value::Bool(from.u8(WHAT)? != 0),
            Type::U8 => Value::U8(from.u8(WHAT)?),
            Type::U32 => Value::U32(from.u32(WHAT)?),
            Type::U64 => Value::U64(u64::from_be_bytes(from.array(WHAT)?)),
            Type::I32 => Value::I32(from.i32(WHAT)?),
            Type::Double => Value::Double(from.f64(WHAT)?),
            Type::Vector3 => Value::Vector3(from.vector(Fields::f64)?),
            Type::Vector6 => Value::Vector6(from.vector(Fields::f64)?),
            Type::Vector6I32 => Value::Vector6I32(from.vector(Fields::i32)?),
            Type::Vector6U32 => Value::Vector6U32(from.vector(Fields::u32)?),
        })
    }
}

/// A payload being read from front to back.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `n` bytes; `what` is named in the error.
    ///
    /// # Errors
    /// If fewer are left, here and below.
    pub fn bytes(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let short = Malformed::TooShort { what, expected: n, found: self.0.len() };
        let (head, rest) = self.0.split_at_checked(n).ok_or(short)?;
        self.0 = rest;
        Ok(head)
    }

    /// The next `N` bytes, as an array.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    /// A byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Malformed> {
        Ok(u8::from_be_bytes(self.array(what)?))
    }

    /// Two bytes.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes(self.array(what)?))
    }

    /// Four bytes.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array(what)?))
    }

    /// Four bytes with a sign.
    pub fn i32(&mut self, what: &'static str) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    /// A real number.
    pub fn f64(&mut self, what: &'static str) -> Result<f64, Malformed> {
        Ok(f64::from_be_bytes(self.array(what)?))
    }

    /// All that is left, as text.
    pub fn rest(&mut self, what: &'static str) -> Result<&'a str, Malformed> {
        let n = self.0.len();
        self.text(n, what)
    }

    /// A text of `n` bytes.
    pub fn text(&mut self, n: usize, what: &'static str) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes(n, what)?).map_err(|_| Malformed::NotText(what))
    }

    /// Checks that nothing is left.
    pub fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::TooLong(self.0.len())) }
    }

    fn vector<T: Copy + Default, const N: usize>(
        &mut self,
        read: fn(&mut Self, &'static str) -> Result<T, Malformed>,
    ) -> Result<[T; N], Malformed> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = read(self, "element of a vector")?;
        }
        Ok(values)
    }
}
