//! Signal temporal logic: what a trace of signals must obey, and by how much it does.
//!
//! A [`Formula`] is text such as `always[0, 5] (speed < 3 or gap > 10)`. Bound to the names of signals and to a step of
//! time it is a [`Monitor`], which reads one sample after another. Its value is the *robustness* of Donzé and Maler
//! (2010): of `a < b` it is b − a, of `and` and `always` the minimum, of `or` and `eventually` the maximum. It is above
//! zero where the formula holds. Where nothing is left, `<=` and `>=` hold, by the smallest number above zero, and `<` and `>`
//! do not, by zero.
//!
//! | file         | content                                        |
//! |--------------|------------------------------------------------|
//! | [`formula`]  | a formula with its text                        |
//! | [`node`]     | a formula as a tree, and its negation          |
//! | [`term`]     | arithmetic over signals                        |
//! | `tokens`     | words, numbers and signs of a text             |
//! | `parse`      | from text to formula                           |
//! | `bind`       | a formula over places of signals and steps     |
//! | [`monitor`]  | robustness, sample by sample                   |
//!
//! A trace is finite. Behind its end `always` and what is under `not eventually` ask for nothing, and `eventually` and
//! `until` find nothing. While a trace goes on, the robustness is the largest that any continuation could give, so what
//! is broken stays broken.
//!
//! References: Donzé and Maler, "Robust satisfaction of temporal logic over real-valued signals", FORMATS 2010; Donzé,
//! Ferrère and Maler, "Efficient robust monitoring for STL", CAV 2013; Deshmukh et al., "Robust online monitoring of
//! signal temporal logic", 2017.

mod bind;
pub mod formula;
pub mod monitor;
pub mod node;
mod parse;
pub mod term;
#[cfg(test)]
mod tests;
mod tokens;

pub use formula::Formula;
pub use monitor::Monitor;

/// Why a formula cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StlError {
    /// The text is no formula.
    #[error("formula, at character {at}: expected {expected}, found {found}")]
    Text {
        /// Position of the character, from 1.
        at: usize,
        /// What should have stood there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The text has more than is accepted of something.
    #[error("formula: expected at most {most} {of}, found more")]
    TooLarge {
        /// Of what.
        of: &'static str,
        /// How many are accepted.
        most: usize,
    },
    /// A window of time holds no step.
    #[error("formula: expected a step of {dt_secs} s in the window [{from_secs}, {to_secs}] s, found none")]
    Window {
        /// Where it begins.
        from_secs: f64,
        /// Where it ends.
        to_secs: f64,
        /// Seconds of a step.
        dt_secs: f64,
    },
    /// No signal has that name.
    #[error(
        "formula: expected one of the signals {}, found {name:?}{}",
        .known.join(", "),
        offnominal_core::suggest::did_you_mean(.name, .known.iter().map(String::as_str))
    )]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
}
