//! What a field of a row is written as.

use anyhow::{Result, bail};
use offnominal_core::outside;
use serde::ser::{Error as _, Impossible, SerializeStruct};
use serde::{Serialize, Serializer};
use std::fmt;

/// A field of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// It is empty.
    Nothing,
    /// Words.
    Text(String),
    /// True or false.
    Truth(bool),
    /// A whole number that is not negative.
    Count(u64),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
}

impl Cell {
    /// The field in CSV, in which no spreadsheet computes a text.
    pub(super) fn csv(&self) -> String {
        if let Cell::Text(text) = self { outside::cell(text).into() } else { self.to_string() }
    }

    /// Bytes of its text.
    pub(super) fn text_len(&self) -> usize {
        if let Cell::Text(text) = self { text.len() } else { 0 }
    }
}

/// The text of a field; that of a number is the shortest that gives the same bits.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Nothing => Ok(()),
            Cell::Text(text) => f.write_str(text),
            Cell::Truth(truth) => write!(f, "{truth}"),
            Cell::Count(n) => write!(f, "{n}"),
            Cell::Whole(n) => write!(f, "{n}"),
            Cell::Real(x) => write!(f, "{x:?}"),
        }
    }
}

/// The fields of a row with their names.
pub(super) type Fields = Vec<(&'static str, Cell)>;

/// The fields of a row.
pub(super) fn of<T: Serialize>(row: &T) -> Result<Fields> {
    match row.serialize(ToCells)? {
        Written::Row(fields) => Ok(fields),
        Written::Cell(cell) => bail!("expected a row, found the field {cell:?}"),
    }
}

/// What was serialised.
enum Written {
    Cell(Cell),
    Row(Fields),
}

struct ToCells;

type Never = Impossible<Written, serde::de::value::Error>;

fn refuse<V>(what: &str) -> Result<V, serde::de::value::Error> {
    Err(serde::de::value::Error::custom(format!("a row of a table cannot hold {what}")))
}

macro_rules! cells {
    ($($method:ident($type:ty): $cell:ident),* $(,)?) => {
        $(fn $method(self, v: $type) -> Result<Written, Self::Error> {
            Ok(Written::Cell(Cell::$cell(v.into())))
        })*
    };
}

impl Serializer for ToCells {
    type Ok = Written;
    type Error = serde::de::value::Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Row;
    type SerializeStructVariant = Never;

    cells! {
        serialize_bool(bool): Truth,
        serialize_i8(i8): Whole, serialize_i16(i16): Whole, serialize_i32(i32): Whole, serialize_i64(i64): Whole,
        serialize_u8(u8): Count, serialize_u16(u16): Count, serialize_u32(u32): Count, serialize_u64(u64): Count,
        serialize_f32(f32): Real, serialize_f64(f64): Real,
        serialize_char(char): Text, serialize_str(&str): Text,
    }

    // Numbers are written as numbers, also those for which JSON has no word.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_none(self) -> Result<Written, Self::Error> {
        Ok(Written::Cell(Cell::Nothing))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Self::Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Written, Self::Error> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &str, _: u32, variant: &'static str) -> Result<Written, Self::Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &str,
        value: &T,
    ) -> Result<Written, Self::Error> {
        value.serialize(self)
    }

    fn serialize_struct(self, _: &'static str, n: usize) -> Result<Row, Self::Error> {
        Ok(Row(Vec::with_capacity(n)))
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<Written, Self::Error> {
        refuse(name)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<Written, Self::Error> {
        refuse("bytes")
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<Written, Self::Error> {
        refuse(variant)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, Self::Error> {
        refuse("a list")
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, Self::Error> {
        refuse("a tuple")
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Never, Self::Error> {
        refuse(name)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, Self::Error> {
        refuse(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, Self::Error> {
        refuse("a map")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, Self::Error> {
        refuse(variant)
    }
}

/// A row while its fields are taken.
struct Row(Fields);

impl SerializeStruct for Row {
    type Ok = Written;
    type Error = serde::de::value::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Self::Error> {
        match value.serialize(ToCells)? {
            Written::Cell(cell) => self.0.push((name, cell)),
            Written::Row(_) => return refuse(&format!("another struct, as its field {name} is")),
        }
        Ok(())
    }

    fn end(self) -> Result<Written, Self::Error> {
        Ok(Written::Row(self.0))
    }
}
