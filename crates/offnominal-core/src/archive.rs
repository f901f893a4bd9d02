//! A fitted detector as named lists of numbers: what a file of it holds.
//!
//! A monitor writes its numbers with a [`Writer`], and the recipe that made it reads them back with a [`Reader`]. Names
//! are paths: the part `units` of the part `inner.0` begins with `inner.0.units.`, so an error says where it was found.
//! Lists are kept bit by bit; what follows from others, such as buffers, is not kept but made anew.
//!
//! ```
//! use offnominal_core::archive::Archive;
//! let mut archive = Archive::default();
//! archive.writer().part("scale").put("mean", &[1.0_f32, 2.0]);
//! let read = archive.reader(3, 1).part("scale");
//! assert_eq!(read.exactly::<f32>("mean", 2).unwrap(), [1.0, 2.0]);
//! let error = read.exactly::<f32>("mean", 3).unwrap_err().to_string();
//! assert_eq!(error, "scale.mean: expected 3 numbers, found 2");
//! ```

use crate::samples::SamplesError;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Named lists of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Archive {
    /// The lists in alphabetical order of their names.
    pub lists: BTreeMap<String, Numbers>,
}

/// A list of numbers of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Single precision: signals and networks.
    F32(Vec<f32>),
    /// Double precision: statistics.
    F64(Vec<f64>),
    /// Counts, indices and seeds.
    U64(Vec<u64>),
}

impl Numbers {
    /// Name of the type.
    pub fn kind(&self) -> &'static str {
        match self {
            Numbers::F32(_) => f32::KIND,
            Numbers::F64(_) => f64::KIND,
            Numbers::U64(_) => u64::KIND,
        }
    }
}

/// A type of number that a list can hold.
pub trait Number: Copy + PartialEq + Display {
    /// Name of the type.
    const KIND: &'static str;
    /// A list of such numbers.
    fn wrap(values: &[Self]) -> Numbers;
    /// The numbers, if they are such.
    fn unwrap(numbers: &Numbers) -> Option<&[Self]>;
    /// Whether it is neither infinite nor undefined.
    fn is_sound(self) -> bool;
}

macro_rules! number {
    ($type:ty, $variant:ident, $kind:literal, $is_sound:expr) => {
        impl Number for $type {
            const KIND: &'static str = $kind;

            fn wrap(values: &[Self]) -> Numbers {
                Numbers::$variant(values.to_vec())
            }

            fn unwrap(numbers: &Numbers) -> Option<&[Self]> {
                if let Numbers::$variant(values) = numbers { Some(values) } else { None }
            }

            fn is_sound(self) -> bool {
                $is_sound(self)
            }
        }
    };
}
number!(f32, F32, "F32", f32::is_finite);
number!(f64, F64, "F64", f64::is_finite);
number!(u64, U64, "U64", |_| true);

impl Archive {
    /// Writes at the root.
    pub fn writer(&mut self) -> Writer<'_> {
        Writer { lists: &mut self.lists, place: String::new() }
    }

    /// Reads from the root what was fitted on episodes of these widths.
    pub fn reader(&self, obs_width: usize, act_width: usize) -> Reader<'_> {
        Reader { lists: &self.lists, place: String::new(), obs_width, act_width }
    }
}

/// Writes the lists of one part.
pub struct Writer<'a> {
    lists: &'a mut BTreeMap<String, Numbers>,
    place: String,
}

impl Writer<'_> {
    /// Adds a list.
    ///
    /// # Panics
    /// If there is one of that name.
    pub fn put<N: Number>(&mut self, name: &str, values: &[N]) {
        let name = format!("{}{name}", self.place);
        let before = self.lists.insert(name.clone(), N::wrap(values));
        assert!(before.is_none(), "two lists are called {name}");
    }

    /// The writer of a part.
    pub fn part(&mut self, name: impl Display) -> Writer<'_> {
        Writer { place: format!("{}{name}.", self.place), lists: self.lists }
    }
}

/// Reads the lists of one part, and checks them.
#[derive(Clone)]
pub struct Reader<'a> {
    lists: &'a BTreeMap<String, Numbers>,
    place: String,
    /// Numbers per observation.
    pub obs_width: usize,
    /// Numbers per action.
    pub act_width: usize,
}

impl<'a> Reader<'a> {
    /// The reader of a part.
    #[must_use]
    pub fn part(&self, name: impl Display) -> Reader<'a> {
        Reader { place: format!("{}{name}.", self.place), ..self.clone() }
    }

    /// A list of finite numbers, however many.
    ///
    /// # Errors
    /// If it is missing, of another type, or holds something that is not finite.
    pub fn list<N: Number>(&self, name: &str) -> Result<&'a [N], ArchiveError> {
        let place = format!("{}{name}", self.place);
        let Some(numbers) = self.lists.get(&place) else { return Err(ArchiveError::Missing { place }) };
        let Some(values) = N::unwrap(numbers) else {
            return Err(ArchiveError::Type { place, expected: N::KIND, found: numbers.kind() });
        };
        match values.iter().position(|v| !v.is_sound()) {
            None => Ok(values),
            Some(at) => Err(self.unsound(name, format!("a finite number at index {at}"), values[at])),
        }
    }

    /// A list of so many finite numbers.
    ///
    /// # Errors
    /// As [`Reader::list`], or if there are more or fewer.
    pub fn exactly<N: Number>(&self, name: &str, expected: usize) -> Result<&'a [N], ArchiveError> {
        let values = self.list(name)?;
        let (place, found) = (format!("{}{name}", self.place), values.len());
        (found == expected).then_some(values).ok_or(ArchiveError::Length { place, expected, found })
    }

    /// A list of one finite number.
    ///
    /// # Errors
    /// As [`Reader::exactly`].
    pub fn one<N: Number>(&self, name: &str) -> Result<N, ArchiveError> {
        Ok(self.exactly(name, 1)?[0])
    }

    /// Requires something of what was read.
    ///
    /// # Errors
    /// If it does not hold.
    pub fn require(
        &self,
        holds: bool,
        name: &str,
        expected: impl Display,
        found: impl Display,
    ) -> Result<(), ArchiveError> {
        if holds { Ok(()) } else { Err(self.unsound(name, expected, found)) }
    }

    fn unsound(&self, name: &str, expected: impl Display, found: impl Display) -> ArchiveError {
        let place = format!("{}{name}", self.place);
        ArchiveError::Value { place, expected: expected.to_string(), found: found.to_string() }
    }
}

/// Why a fitted detector cannot be kept or brought back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The detector has no way to be kept.
    #[error(
        "this detector cannot be kept in a file; expected one that implements `Scorer::save` and `Detector::load`"
    )]
    NotKept,
    /// The detector looks inside the policy, which was not given.
    #[error("expected the policy that acts, which this detector looks inside, found none")]
    NoPolicy,
    /// The policy is not the one.
    #[error(transparent)]
    Policy(#[from] SamplesError),
    /// A list is not there.
    #[error("{place}: expected a list of numbers, found nothing")]
    Missing {
        /// Its name.
        place: String,
    },
    /// A list has another type of number.
    #[error("{place}: expected numbers of type {expected}, found {found}")]
    Type {
        /// Its name.
        place: String,
        /// The type that is needed.
        expected: &'static str,
        /// The type that is there.
        found: &'static str,
    },
    /// A list has another length.
    #[error("{place}: expected {expected} numbers, found {found}")]
    Length {
        /// Its name.
        place: String,
        /// How many are needed.
        expected: usize,
        /// How many are there.
        found: usize,
    },
    /// A number cannot be right.
    #[error("{place}: expected {expected}, found {found}")]
    Value {
        /// Name of its list.
        place: String,
        /// What is needed.
        expected: String,
        /// What is there.
        found: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_of_their_own() {
        let mut archive = Archive::default();
        let mut writer = archive.writer();
        writer.put("n", &[3_u64]);
        writer.part("member").part(0).put("params", &[0.5_f32, -0.0]);
        let reader = archive.reader(2, 1);
        assert_eq!(reader.one::<u64>("n"), Ok(3));
        let params = reader.part("member").part(0).list::<f32>("params").unwrap();
        assert_eq!(params[1].to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn errors_name_the_place_what_was_expected_and_what_was_found() {
        let mut archive = Archive::default();
        archive.writer().part("a").put("x", &[1.0_f64, f64::NAN]);
        let read = archive.reader(1, 1).part("a");
        let says = |error: ArchiveError, want: &str| assert_eq!(error.to_string(), want);
        says(read.list::<f64>("y").unwrap_err(), "a.y: expected a list of numbers, found nothing");
        says(read.list::<f32>("x").unwrap_err(), "a.x: expected numbers of type F32, found F64");
        says(read.list::<f64>("x").unwrap_err(), "a.x: expected a finite number at index 1, found NaN");
        let wrong = read.require(false, "x", "ascending numbers", "others").unwrap_err();
        says(wrong, "a.x: expected ascending numbers, found others");
    }

    #[test]
    #[should_panic(expected = "two lists are called a.x")]
    fn a_name_is_used_once() {
        let mut archive = Archive::default();
        let mut writer = archive.writer();
        writer.part("a").put("x", &[1_u64]);
        writer.part("a").put("x", &[1_u64]);
    }
}
