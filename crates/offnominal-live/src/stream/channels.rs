//! The numbers of a step, by their places or by the names of their channels.

use offnominal_core::suggest::did_you_mean;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::HashMap;
use std::fmt::{self, Formatter};

/// Numbers as a line has them.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(untagged))]
pub(super) enum Numbers {
    /// By their places; null is NaN.
    Listed(#[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))] Vec<f64>),
    /// By the names of their channels.
    Named(
        #[cfg_attr(feature = "schema", schemars(with = "HashMap<String, Option<f64>>"))] Vec<(String, f64)>,
    ),
}

/// What is wrong with the names of channels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelsError {
    /// The monitor has no such channel.
    #[error("{place}: expected the channels {known}; found {name:?}{hint}")]
    Unknown {
        /// The field.
        place: &'static str,
        /// The name.
        name: String,
        /// Those of the monitor.
        known: String,
        /// What may have been meant.
        hint: String,
    },
    /// A channel is missing.
    #[error("{place}: expected the channel {name:?}, found none")]
    Missing {
        /// The field.
        place: &'static str,
        /// Its name.
        name: String,
    },
    /// A channel stands there twice.
    #[error("{place}: expected the channel {name:?} once, found it twice")]
    Twice {
        /// The field.
        place: &'static str,
        /// Its name.
        name: String,
    },
    /// Names cannot tell the monitor's channels apart.
    #[error("{place}: expected numbers by their places, as two channels of the monitor are called {name:?}")]
    Ambiguous {
        /// The field.
        place: &'static str,
        /// Their name.
        name: String,
    },
}

/// The names of a monitor's channels, and the order in which numbers without names come.
pub(super) struct Names {
    names: Vec<String>,
    place_of: HashMap<String, usize>,
    /// For each number in a list its place, if a line has said so.
    order: Option<Vec<usize>>,
}

impl Names {
    /// Those of a monitor.
    pub(super) fn of(names: Vec<String>) -> Names {
        let place_of = names.iter().cloned().enumerate().map(|(place, name)| (name, place)).collect();
        Names { names, place_of, order: None }
    }

    /// Lists come in this order from now on.
    pub(super) fn announce(&mut self, place: &'static str, names: &[String]) -> Result<(), ChannelsError> {
        let places = self.places(place, names.iter().map(String::as_str))?;
        if let Some(at) = (0..self.names.len()).find(|at| !places.contains(at)) {
            return Err(ChannelsError::Missing { place, name: self.names[at].clone() });
        }
        self.order = Some(places);
        Ok(())
    }

    /// Numbers in the order of the monitor; NaN for a channel that is not named. A list of another length is left to the monitor, which says what it expects.
    pub(super) fn ordered(&self, place: &'static str, numbers: &Numbers) -> Result<Vec<f64>, ChannelsError> {
        let (values, places): (Vec<f64>, Vec<usize>) = match (numbers, &self.order) {
            (Numbers::Listed(values), Some(order)) if values.len() == order.len() => {
                (values.clone(), order.clone())
            }
            (Numbers::Listed(values), _) => return Ok(values.clone()),
            (Numbers::Named(pairs), _) => {
                let places = self.places(place, pairs.iter().map(|(name, _)| name.as_str()))?;
                (pairs.iter().map(|(_, value)| *value).collect(), places)
            }
        };
        let mut ordered = vec![f64::NAN; self.names.len()];
        places.iter().zip(values).for_each(|(&at, value)| ordered[at] = value);
        Ok(ordered)
    }

    /// The place of each name; no channel may be named twice.
    fn places<'n>(
        &self,
        place: &'static str,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<usize>, ChannelsError> {
        let twice = self.names.iter().enumerate().find(|(at, name)| self.place_of[*name] != *at);
        if let Some((_, name)) = twice {
            return Err(ChannelsError::Ambiguous { place, name: name.clone() });
        }
        let (mut places, mut is_there) =
            (Vec::with_capacity(self.names.len()), vec![false; self.names.len()]);
        for name in names {
            let &at = self.place_of.get(name).ok_or_else(|| self.unknown(place, name))?;
            if std::mem::replace(&mut is_there[at], true) {
                return Err(ChannelsError::Twice { place, name: name.into() });
            }
            places.push(at);
        }
        Ok(places)
    }

    fn unknown(&self, place: &'static str, name: &str) -> ChannelsError {
        const SHOWN: usize = 20;
        let more = if self.names.len() > SHOWN { ", …" } else { "" };
        let known = self.names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + more;
        let hint = did_you_mean(name, self.names.iter().map(String::as_str));
        ChannelsError::Unknown { place, name: name.into(), known, hint }
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Numbers, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Numbers;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("a list of numbers, or an object with a number for each channel")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element::<Option<f64>>()? {
            values.push(value.unwrap_or(f64::NAN));
        }
        Ok(Numbers::Listed(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Numbers, A::Error> {
        let mut pairs: Vec<(String, f64)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Option<f64>>()? {
            pairs.push((name, value.unwrap_or(f64::NAN)));
        }
        Ok(Numbers::Named(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tank() -> Names {
        Names::of(["level", "flow", "valve"].map(String::from).into())
    }

    fn read(json: &str) -> Numbers {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn names_put_numbers_in_order() {
        let named = read(r#"{"valve": 3, "level": 1, "flow": 2}"#);
        assert_eq!(tank().ordered("obs", &named).unwrap(), [1.0, 2.0, 3.0]);
        let mut announced = tank();
        announced.announce("obs", &["valve", "flow", "level"].map(String::from)).unwrap();
        assert_eq!(announced.ordered("obs", &read("[3, 2, 1]")).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(announced.ordered("obs", &named).unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(announced.ordered("obs", &read("[3, 2]")).unwrap(), [3.0, 2.0], "the monitor refuses it");
    }

    #[test]
    fn null_and_channels_that_are_not_named_are_missing() {
        let listed = tank().ordered("obs", &read("[1, null, 3]")).unwrap();
        let named = tank().ordered("obs", &read(r#"{"valve": 3, "level": 1}"#)).unwrap();
        let null = tank().ordered("obs", &read(r#"{"valve": 3, "level": 1, "flow": null}"#)).unwrap();
        for found in [listed, named, null] {
            assert!(found[0] == 1.0 && found[1].is_nan() && found[2] == 3.0, "{found:?}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        let refused = |json: &str| tank().ordered("obs", &read(json)).unwrap_err().to_string();
        assert!(refused(r#"{"valve": 3, "level": 1, "flo": 2}"#).contains("did you mean \"flow\"?"));
        let announced = tank().announce("obs", &["valve", "level"].map(String::from)).unwrap_err();
        assert_eq!(announced.to_string(), "obs: expected the channel \"flow\", found none");
        assert!(refused(r#"{"valve": 3, "level": 1, "flow": 2, "level": 1}"#).contains("found it twice"));
        let same = Names::of(["x", "x"].map(String::from).into());
        assert!(
            same.ordered("obs", &read(r#"{"x": 1}"#)).unwrap_err().to_string().contains("by their places")
        );
    }
}
