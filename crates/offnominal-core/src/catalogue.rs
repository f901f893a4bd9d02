//! One catalogue per noun, from which listings, configuration, suggestions, docs and the tests of the laws are read.
//!
//! A built-in thing registers itself by one [`Entry`] in an explicit, ordered list next to the `mod` lines of its
//! crate. An outside crate adds its own with [`Catalogue::with`]; there is no global state.

use crate::law::Law;
use serde_json::Value;

/// One thing that can be asked for by name.
pub struct Entry<T: ?Sized + 'static> {
    /// The name in commands, configuration and results.
    pub id: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// Makes the thing from its parameters, a JSON object; `{}` gives the defaults.
    pub build: fn(&Value) -> Result<Box<T>, BuildError>,
    /// Laws that do not apply, each with the reason.
    pub exempt: &'static [(Law, &'static str)],
}

impl<T: ?Sized> Clone for Entry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Entry<T> {}

/// Declares the entry of a type that deserialises from its parameters:
/// `entry!(Knn as dyn Detector, "knn", "distance to the nearest nominal observation")`.
#[macro_export]
macro_rules! entry {
    ($type:ty as $noun:ty, $id:literal, $summary:literal $(, exempt: $exempt:expr)?) => {
        $crate::Entry::<$noun> {
            id: $id,
            summary: $summary,
            build: |params| Ok(Box::new($crate::catalogue::parse::<$type>(params)?)),
            exempt: $crate::entry!(@exempt $($exempt)?),
        }
    };
    (@exempt) => { &[] };
    (@exempt $exempt:expr) => { $exempt };
}

/// Reads the parameters of an entry.
///
/// # Errors
/// If a parameter is unknown, missing or out of range.
pub fn parse<T: serde::de::DeserializeOwned>(params: &Value) -> Result<T, BuildError> {
    T::deserialize(params).map_err(|e| BuildError::Parameters(e.to_string()))
}

/// Why something could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Nothing has that name.
    #[error("no {noun} is called {id:?}{}; there are: {known}", crate::suggest::hint(.nearest))]
    Unknown {
        /// What kind of thing was asked for.
        noun: &'static str,
        /// The name that was given.
        id: String,
        /// The most similar name that exists.
        nearest: Option<String>,
        /// All names that exist.
        known: String,
    },
    /// The parameters are wrong.
    #[error("{0}")]
    Parameters(String),
    /// Something that it needs from outside is missing, such as the MuJoCo library.
    #[error(transparent)]
    Missing(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// An ordered list of entries of one noun.
pub struct Catalogue<T: ?Sized + 'static> {
    noun: &'static str,
    entries: Vec<Entry<T>>,
}

impl<T: ?Sized> Catalogue<T> {
    /// The catalogue of the given entries; `noun` is the word used in error messages.
    pub fn new(noun: &'static str, entries: &[Entry<T>]) -> Self {
        Catalogue { noun, entries: entries.to_vec() }
    }

    /// The same catalogue with one more entry at its end.
    #[must_use]
    pub fn with(mut self, entry: Entry<T>) -> Self {
        self.entries.push(entry);
        self
    }

    /// All entries, in the order in which reports list them.
    pub fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    /// The entry of that name.
    ///
    /// # Errors
    /// [`BuildError::Unknown`], with the nearest name that exists.
    pub fn find(&self, id: &str) -> Result<&Entry<T>, BuildError> {
        self.entries.iter().find(|e| e.id == id).ok_or_else(|| BuildError::Unknown {
            noun: self.noun,
            id: id.into(),
            nearest: crate::suggest::nearest(id, self.entries.iter().map(|e| e.id)),
            known: self.entries.iter().map(|e| e.id).collect::<Vec<_>>().join(", "),
        })
    }

    /// Makes the thing of that name from its parameters.
    ///
    /// # Errors
    /// If the name or a parameter is wrong, or something is missing.
    pub fn build(&self, id: &str, params: &Value) -> Result<Box<T>, BuildError> {
        (self.find(id)?.build)(params).map_err(|e| match e {
            BuildError::Parameters(why) => BuildError::Parameters(format!("{} {id:?}: {why}", self.noun)),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    trait Shape: Send {
        fn area(&self) -> f64;
    }

    #[derive(Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Square {
        side: f64,
    }

    impl Default for Square {
        fn default() -> Self {
            Square { side: 2.0 }
        }
    }

    impl Shape for Square {
        fn area(&self) -> f64 {
            self.side * self.side
        }
    }

    fn shapes() -> Catalogue<dyn Shape> {
        Catalogue::new("shape", &[entry!(Square as dyn Shape, "square", "four equal sides")])
    }

    #[track_caller]
    fn refuses(id: &str, params: &str, want: &str) {
        let found = shapes().build(id, &serde_json::from_str(params).unwrap()).err().unwrap().to_string();
        assert!(found.contains(want), "{found}");
    }

    #[test]
    fn builds_with_defaults_and_with_parameters() {
        let area =
            |params: &str| shapes().build("square", &serde_json::from_str(params).unwrap()).unwrap().area();
        assert_eq!((area("{}"), area(r#"{"side": 3}"#)), (4.0, 9.0));
    }

    #[test]
    fn errors_name_what_was_found_and_what_exists() {
        refuses("sqare", "{}", "did you mean \"square\"?");
        refuses("zzz", "{}", "there are: square");
        refuses("square", r#"{"sde": 3}"#, "shape \"square\": unknown field `sde`");
    }
}
