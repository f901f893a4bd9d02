//! What the requests of all crates have in common.
//!
//! A request comes from a command line, from Python or from a file. Its numbers are checked where the command begins,
//! before anything is allocated; the largest that are accepted are those of [`limits`](offnominal_core::limits).

use anyhow::{Result, ensure};
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
