//! From the fields of a line to a row.

use super::cell::Cell;
use anyhow::{Result, anyhow};
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// The names of a row's fields, in their order.
pub(super) fn columns<T: DeserializeOwned>() -> Result<&'static [&'static str]> {
    let mut names = None;
    // The row itself cannot be made of nothing: only the names that it asks for are wanted.
    let _ = T::deserialize(Names(&mut names));
    names.ok_or_else(|| anyhow!("expected a row that is a flat struct"))
}

/// Notes the names of the fields that a struct asks for.
struct Names<'a>(&'a mut Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no row"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(fields);
        Err(Error::custom("only the names are wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A row from its fields; an error begins with the name of the column.
pub(super) fn parsed<T: DeserializeOwned>(header: &[String], cells: Vec<Cell>) -> Result<T, Error> {
    T::deserialize(Line { left: header.iter().zip(cells).collect::<Vec<_>>().into_iter(), next: None })
}

/// The fields of a line that were not read yet.
struct Line<'a> {
    left: std::vec::IntoIter<(&'a String, Cell)>,
    next: Option<(&'a String, Cell)>,
}

impl<'de> Deserializer<'de> for Line<'_> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Line<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next = self.left.next();
        let name = |(name, _): &(&String, Cell)| seed.deserialize(StrDeserializer::new(name));
        self.next.as_ref().map(name).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, cell) = self.next.take().ok_or_else(|| Error::custom("a value before its name"))?;
        let place = |e: Error| Error::custom(format!("column {name}: {e}"));
        seed.deserialize(cell).map_err(place)
    }
}

impl Cell {
    /// A number of the asked type: itself, or what its text says.
    fn number<N: std::str::FromStr>(&self, own: Option<N>, expected: &str) -> Result<N, Error> {
        let parsed = || if let Cell::Text(text) = self { text.parse().ok() } else { None };
        own.or_else(parsed)
            .ok_or_else(|| Error::custom(format!("expected {expected}, found {:?}", self.to_string())))
    }

    fn count(&self) -> Result<u64, Error> {
        let own = match *self {
            Cell::Count(n) => Some(n),
            Cell::Whole(n) => n.try_into().ok(),
            _ => None,
        };
        self.number(own, "a whole number that is not negative")
    }

    fn whole(&self) -> Result<i64, Error> {
        let own = match *self {
            Cell::Count(n) => n.try_into().ok(),
            Cell::Whole(n) => Some(n),
            _ => None,
        };
        self.number(own, "a whole number")
    }

    fn real(&self) -> Result<f64, Error> {
        let own = match *self {
            Cell::Real(x) => Some(x),
            Cell::Count(n) => Some(n as f64),
            Cell::Whole(n) => Some(n as f64),
            _ => None,
        };
        self.number(own, "a number, NaN, inf or -inf")
    }
}

macro_rules! numbers {
    ($($method:ident: $own:ident, $visit:ident);* $(;)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.$own()?)
        })*
    };
}

impl<'de> Deserializer<'de> for Cell {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Cell::Nothing => visitor.visit_none(),
            Cell::Text(text) => visitor.visit_string(text),
            Cell::Truth(truth) => visitor.visit_bool(truth),
            Cell::Count(n) => visitor.visit_u64(n),
            Cell::Whole(n) => visitor.visit_i64(n),
            Cell::Real(x) => visitor.visit_f64(x),
        }
    }

    numbers! {
        deserialize_u8: count, visit_u64; deserialize_u16: count, visit_u64;
        deserialize_u32: count, visit_u64; deserialize_u64: count, visit_u64;
        deserialize_i8: whole, visit_i64; deserialize_i16: whole, visit_i64;
        deserialize_i32: whole, visit_i64; deserialize_i64: whole, visit_i64;
        deserialize_f32: real, visit_f64; deserialize_f64: real, visit_f64;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let own = if let Cell::Truth(truth) = self { Some(truth) } else { None };
        visitor.visit_bool(self.number(own, "true or false")?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let is_nothing =
            matches!(&self, Cell::Nothing) || matches!(&self, Cell::Text(text) if text.is_empty());
        if is_nothing { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(StrDeserializer::new(&self.to_string()))
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
