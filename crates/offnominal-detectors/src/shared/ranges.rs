//! Parameters of recipes whose types exclude bad values.

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A number of things.
///
/// # Panics
/// If it is zero.
pub(crate) const fn count(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("expected one or more")
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
    /// A finite number above zero.
    Positive, "a finite number above zero", |value| value > 0.0 && value.is_finite()
}

/// Widths of the hidden layers of a network: one or more, each positive.
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

    /// 128-128: enough for what a linear regression leaves, and a tenth of the cost.
    pub(crate) fn small() -> Hidden {
        Hidden([128, 128].map(count).to_vec())
    }

    /// Widths of all layers of a network with these hidden ones.
    pub(crate) fn sizes(&self, n_inputs: usize, n_outputs: usize) -> Vec<usize> {
        let hidden = self.0.iter().map(|n| n.get());
        std::iter::once(n_inputs).chain(hidden).chain([n_outputs]).collect()
    }
}

impl TryFrom<Vec<NonZeroUsize>> for Hidden {
    type Error = &'static str;

    fn try_from(widths: Vec<NonZeroUsize>) -> Result<Self, &'static str> {
        if widths.is_empty() {
            Err("expected one hidden layer or more, found none")
        } else {
            Ok(Hidden(widths))
        }
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
        refuses::<Positive>("0.0", "expected a finite number above zero, found 0");
        refuses::<Hidden>("[]", "expected one hidden layer or more");
        refuses::<Hidden>("[8, 0]", "nonzero");
        assert_eq!(serde_json::from_str::<Hidden>("[7]").unwrap().sizes(2, 3), [2, 7, 3]);
    }
}
