//! Parameters of recipes whose types exclude bad values.

use offnominal_core::detector::FitError;
use offnominal_core::limits::{LAYERS, UNITS, WEIGHTS};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Display;
use std::num::NonZeroUsize;

/// A number of things.
///
/// # Panics
/// If it is zero.
pub(crate) const fn count(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("expected one or more")
}

/// Reads a count of at most `MOST`; its type says whether it may be zero.
///
/// # Errors
/// If it is none of its type, or more.
pub(crate) fn up_to<'de, D, N, const MOST: usize>(from: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + Copy + Display + Into<usize>,
{
    let found = N::deserialize(from)?;
    let error = || serde::de::Error::custom(format!("expected a count of at most {MOST}, found {found}"));
    (found.into() <= MOST).then_some(found).ok_or_else(error)
}

/// Reads a count of at most `MOST`, or none.
///
/// # Errors
/// If it is zero or more.
pub(crate) fn none_or_up_to<'de, D: Deserializer<'de>, const MOST: usize>(
    from: D,
) -> Result<Option<NonZeroUsize>, D::Error> {
    let found = Option::<NonZeroUsize>::deserialize(from)?;
    let error = |n| serde::de::Error::custom(format!("expected a count of at most {MOST}, found {n}"));
    found.map_or(Ok(None), |n| if n.get() <= MOST { Ok(Some(n)) } else { Err(error(n)) })
}

/// Declares a number whose type excludes bad values.
macro_rules! range {
    ($(#[$doc:meta])* $name:ident, $rule:literal, |$value:ident| $holds:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        // `contains` of a range is no constant function.
        #[allow(clippy::manual_range_contains)]
        impl $name {
            /// The number, checked.
            ///
            /// # Panics
            /// If it is out of range.
            pub const fn new($value: f64) -> $name {
                assert!($name::holds($value), concat!("expected ", $rule));
                $name($value)
            }

            const fn holds($value: f64) -> bool {
                $holds
            }

            /// The number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = String;

            fn try_from($value: f64) -> Result<Self, String> {
                let why = || format!(concat!("expected ", $rule, ", found {}"), $value);
                $name::holds($value).then_some($name($value)).ok_or_else(why)
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> f64 {
                number.0
            }
        }
    };
}

range! {
    /// A number in [0, 1).
    Fraction, "a number in [0, 1)", |value| value >= 0.0 && value < 1.0
}

range! {
    /// The weight of the newest value in an exponentially weighted mean; one forgets all others at once.
    Rate, "a number from 0.001 to 1", |value| value >= 0.001 && value <= 1.0
}

range! {
    /// A number above zero that is a weight, a length or a tolerance, and so no more than a million.
    Positive, "a number above zero, at most 1000000", |value| value > 0.0 && value <= 1e6
}

range! {
    /// A number from zero that is subtracted or added.
    NonNegative, "a number from 0 to 1000000", |value| value >= 0.0 && value <= 1e6
}

/// Widths of the hidden layers of a network: one or more, each positive, and of a size that can be trained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<NonZeroUsize>", into = "Vec<NonZeroUsize>")]
pub struct Hidden(Vec<NonZeroUsize>);

impl Default for Hidden {
    /// 512-256-128: Anomaly-Gym, Table 11.
    fn default() -> Self {
        Hidden([512, 256, 128].map(count).to_vec())
    }
}

impl Hidden {
    /// One layer.
    pub(crate) fn one(width: usize) -> Hidden {
        Hidden(vec![count(width)])
    }

    /// Two layers of one width.
    pub(crate) fn two(width: NonZeroUsize) -> Hidden {
        Hidden(vec![width, width])
    }

    /// 128-128: enough for what a linear regression leaves, and a tenth of the cost.
    pub(crate) fn small() -> Hidden {
        Hidden([128, 128].map(count).to_vec())
    }

    /// Widths of all layers of one of so many networks with these hidden ones.
    ///
    /// # Errors
    /// If they have more weights together than can be trained.
    pub(crate) fn sizes(&self, n: usize, n_inputs: usize, n_outputs: usize) -> Result<Vec<usize>, TooLarge> {
        let hidden = self.0.iter().map(|n| n.get());
        let sizes: Vec<usize> = std::iter::once(n_inputs).chain(hidden).chain([n_outputs]).collect();
        let each = |pair: &[usize]| pair[0].saturating_add(1).saturating_mul(pair[1]);
        let weights = sizes.windows(2).map(each).fold(0, usize::saturating_add).saturating_mul(n);
        if weights <= WEIGHTS { Ok(sizes) } else { Err(TooLarge(weights)) }
    }
}

/// More weights than can be trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("networks: expected at most {WEIGHTS} weights together, found {0}")]
pub(crate) struct TooLarge(pub usize);

impl From<TooLarge> for FitError {
    fn from(why: TooLarge) -> FitError {
        FitError::Missing(why.to_string())
    }
}

impl TryFrom<Vec<NonZeroUsize>> for Hidden {
    type Error = String;

    fn try_from(widths: Vec<NonZeroUsize>) -> Result<Self, String> {
        if !(1..=LAYERS).contains(&widths.len()) {
            return Err(format!("expected 1 to {LAYERS} hidden layers, found {}", widths.len()));
        }
        if let Some(found) = widths.iter().find(|n| n.get() > UNITS) {
            return Err(format!("expected at most {UNITS} units in a layer, found {found}"));
        }
        Ok(Hidden(widths))
    }
}

impl From<Hidden> for Vec<NonZeroUsize> {
    fn from(hidden: Hidden) -> Self {
        hidden.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses<T: serde::de::DeserializeOwned + std::fmt::Debug>(json: &str, want: &str) {
        let found = serde_json::from_str::<T>(json).unwrap_err().to_string();
        assert!(found.contains(want), "{found}");
    }

    #[test]
    fn bad_values_are_refused_with_the_rule_and_the_value() {
        refuses::<Fraction>("1.0", "expected a number in [0, 1), found 1");
        refuses::<Fraction>("-0.1", "expected a number in [0, 1), found -0.1");
        refuses::<Rate>("0.0", "expected a number from 0.001 to 1, found 0");
        refuses::<Positive>("0.0", "expected a number above zero, at most 1000000, found 0");
        refuses::<Hidden>("[]", "expected 1 to 32 hidden layers, found 0");
        refuses::<Hidden>(
            "[100000000, 100000000]",
            "expected at most 16384 units in a layer, found 100000000",
        );
        refuses::<Hidden>("[8, 0]", "nonzero");
        assert_eq!(serde_json::from_str::<Hidden>("[7]").unwrap().sizes(1, 2, 3).unwrap(), [2, 7, 3]);
        let wide: Hidden = serde_json::from_str("[16384, 16384]").unwrap();
        assert_eq!(wide.sizes(1, 2, 1), Err(TooLarge(3 * 16_384 + 16_385 * 16_384 + 16_385)));
    }
}
