//! Values of variables: their types, and how they are packed.

use super::package::Malformed;

/// What can be packed: numbers, the most significant byte first, and vectors of them.
pub trait Packed: Sized {
    /// How errors name a value, or its part.
    const WHAT: &'static str = "value";

    /// Appends the packed value.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads the next value; `what` is named in the error.
    ///
    /// # Errors
    /// If too few bytes are left.
    fn read(from: &mut Fields<'_>, what: &'static str) -> Result<Self, Malformed>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Packed for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            fn read(from: &mut Fields<'_>, what: &'static str) -> Result<Self, Malformed> {
                let mut bytes = [0; size_of::<$number>()];
                bytes.copy_from_slice(from.bytes(size_of::<$number>(), what)?);
                Ok(<$number>::from_be_bytes(bytes))
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i32 f64);

/// One byte: 0 is false, anything else true.
impl Packed for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }

    fn read(from: &mut Fields<'_>, what: &'static str) -> Result<Self, Malformed> {
        Ok(u8::read(from, what)? != 0)
    }
}

impl<T: Packed + Copy + Default, const N: usize> Packed for [T; N] {
    const WHAT: &'static str = "element of a vector";

    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.write(out));
    }

    fn read(from: &mut Fields<'_>, what: &'static str) -> Result<Self, Malformed> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::read(from, what)?;
        }
        Ok(values)
    }
}

/// Declares the types: what holds a value, and the name in the replies to a setup.
macro_rules! types {
    ($($(#[$doc:meta])* $type:ident($held:ty): $name:literal;)*) => {
        /// The type of a variable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Type {
            $($(#[$doc])* $type,)*
        }

        impl Type {
            /// The type of that name in the replies to a setup; `None` for `NOT_FOUND`, `IN_USE` and anything else.
            pub fn of(name: &str) -> Option<Type> {
                [$(Type::$type),*].into_iter().find(|t| t.name() == name)
            }

            /// The name in the replies to a setup.
            pub fn name(self) -> &'static str {
                match self { $(Type::$type => $name,)* }
            }

            /// Bytes of a packed value.
            pub fn size(self) -> usize {
                match self { $(Type::$type => size_of::<$held>(),)* }
            }
        }

        /// A value of a variable.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Value {
            $($(#[$doc])* $type($held),)*
        }

        impl Value {
            /// The type.
            pub fn of_type(&self) -> Type {
                match self { $(Value::$type(_) => Type::$type,)* }
            }

            /// Appends the packed value.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self { $(Value::$type(v) => v.write(out),)* }
            }

            /// Reads a packed value.
            ///
            /// # Errors
            /// If too few bytes are left.
            pub fn read(of: Type, from: &mut Fields<'_>) -> Result<Value, Malformed> {
                Ok(match of { $(Type::$type => Value::$type(from.get(<$held>::WHAT)?),)* })
            }
        }
    };
}

types! {
    /// One byte, 0 or 1.
    Bool(bool): "BOOL";
    /// One byte.
    U8(u8): "UINT8";
    /// Four bytes.
    U32(u32): "UINT32";
    /// Eight bytes.
    U64(u64): "UINT64";
    /// Four bytes, two's complement.
    I32(i32): "INT32";
    /// Eight bytes, IEEE 754.
    Double(f64): "DOUBLE";
    /// Three doubles.
    Vector3([f64; 3]): "VECTOR3D";
    /// Six doubles.
    Vector6([f64; 6]): "VECTOR6D";
    /// Six signed integers.
    Vector6I32([i32; 6]): "VECTOR6INT32";
    /// Six unsigned integers.
    Vector6U32([u32; 6]): "VECTOR6UINT32";
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

    /// The next value.
    pub fn get<T: Packed>(&mut self, what: &'static str) -> Result<T, Malformed> {
        T::read(self, what)
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
}
