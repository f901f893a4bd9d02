//! Floating-point numbers in JSON, where "not a number" and infinity must survive the round trip.
//!
//! JSON has no word for them, so they are written as the strings `NaN`, `inf` and `-inf`; `null` is read as "not
//! a number" too. Tables have words for them, so there they are plain numbers.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The schema of such a number.
#[cfg(feature = "schema")]
pub(super) struct Written;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Written {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "number" }, { "enum": ["NaN", "inf", "-inf"] }, { "type": "null" }]
        })
    }
}

/// Writes one number.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    Number(*value).serialize(to)
}

/// Reads one number.
///
/// # Errors
/// If there is something else in its place.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Number::deserialize(from).map(|n| n.0)
}

/// What stands for a number that is not there.
pub fn none() -> f64 {
    f64::NAN
}

/// The same for a list of numbers.
pub mod list {
    use super::{Deserialize, Deserializer, Number, Serializer};

    /// Writes a list of numbers.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|v| Number(*v)))
    }

    /// Reads a list of numbers.
    ///
    /// # Errors
    /// If there is something else in its place.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Vec::<Number>::deserialize(from).map(|list| list.into_iter().map(|n| n.0).collect())
    }
}

/// The same for a list of named numbers.
pub mod named {
    use super::{Deserialize, Deserializer, Number, Serializer};

    /// Writes a list of named numbers.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(values: &[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|(name, v)| (name, Number(*v))))
    }

    /// Reads a list of named numbers.
    ///
    /// # Errors
    /// If there is something else in its place.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, f64)>, D::Error> {
        let list = Vec::<(String, Number)>::deserialize(from)?;
        Ok(list.into_iter().map(|(name, n)| (name, n.0)).collect())
    }
}

struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let is_said = self.0.is_finite() || !to.is_human_readable();
        if is_said { to.serialize_f64(self.0) } else { to.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        let found = if from.is_human_readable() {
            from.deserialize_any(Reader)
        } else {
            from.deserialize_f64(Reader)
        };
        found.map(Number)
    }
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, \"NaN\", \"inf\" or \"-inf\"")
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<f64, E> {
        Ok(v)
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<f64, E> {
        Ok(v as f64)
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<f64, E> {
        Ok(v as f64)
    }

    fn visit_unit<E: Error>(self) -> Result<f64, E> {
        Ok(f64::NAN)
    }

    fn visit_none<E: Error>(self) -> Result<f64, E> {
        Ok(f64::NAN)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
        match text {
            "NaN" => Ok(f64::NAN),
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn every_number_survives_json() {
        for v in [0.1, -3.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let json = serde_json::to_string(&Number(v)).unwrap();
            let back: Number = serde_json::from_str(&json).unwrap();
            assert!(back.0 == v || (back.0.is_nan() && v.is_nan()), "{v} became {json} became {}", back.0);
        }
        assert!(serde_json::from_str::<Number>("null").unwrap().0.is_nan());
    }

    #[test]
    fn words_are_refused() {
        let error = serde_json::from_str::<Number>("\"many\"").map(|n| n.0).unwrap_err();
        assert!(error.to_string().contains("expected a number"), "{error}");
    }
}
