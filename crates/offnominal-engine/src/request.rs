//! What the requests of all crates have in common.
//!
//! A request comes from a command line, from Python or from a file. Its numbers are checked where the command begins,
//! before anything is allocated; the largest that are accepted are those of [`limits`](offnominal_core::limits).

use anyhow::{Result, ensure};
use offnominal_files::store::address;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Refuses a number outside its range.
///
/// # Errors
/// If it is.
pub fn within<T: PartialOrd + Display>(name: &str, found: T, range: RangeInclusive<T>) -> Result<()> {
    let (low, high) = (range.start(), range.end());
    ensure!(range.contains(&found), "{name}: expected {low} to {high}, found {found}");
    Ok(())
}

/// The longest beginning of an id in a file's name.
const LONGEST_STEM: usize = 150;

/// The id of an environment as a file's name: what no file's name can hold is a low line, and what is too long ends with
/// a digest.
pub fn file_stem(id: &str) -> String {
    let plain = id.replace(['/', '\\', ':', '?', '&', '<', '>', '|', '*', '"'], "_");
    if plain.len() <= LONGEST_STEM {
        return plain;
    }
    let beginning: String = plain.chars().take(LONGEST_STEM / 2).collect();
    format!("{beginning}-{}", address(id.as_bytes()))
}

/// Refuses a number that is not finite and above zero.
///
/// # Errors
/// If it is not.
pub fn positive(name: &str, found: f64) -> Result<()> {
    ensure!(found > 0.0 && found.is_finite(), "{name}: expected a number above 0, found {found}");
    Ok(())
}

/// Defines what fields of a request are where they are absent: one function per field, for `#[serde(default = "…")]`
/// and for whoever lists the defaults.
#[macro_export]
macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(
            #[doc = concat!("What `", stringify!($name), "` is where a request does not say it.")]
            pub fn $name() -> $type {
                $value
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_range_is_named_with_the_range() {
        let error = within("episodes", 4_000_000_000_u64, 1..=1_000_000).unwrap_err().to_string();
        assert_eq!(error, "episodes: expected 1 to 1000000, found 4000000000");
        assert!(within("share", f64::NAN, 0.0..=1.0).is_err());
        assert!(
            positive("t", 1.0).is_ok()
                && [0.0, -1.0, f64::NAN, f64::INFINITY].iter().all(|&t| positive("t", t).is_err())
        );
    }
}
