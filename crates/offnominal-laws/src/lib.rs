//! The laws that everything in a catalogue obeys, as checks for the tests of this project's crates and of anybody else's.
//!
//! `offnominal_laws::env(&env, &[])` returns the violations found, each naming its [`Law`]. A thing to which a law
//! cannot apply declares the exemption, with a reason, in its [`Entry`](offnominal_core::Entry). That each law rejects a
//! broken fixture is shown by this crate's tests. No shipped program depends on this crate.

mod anomaly;
mod detector;
mod env;
#[cfg(test)]
mod fixtures;
mod image_detector;
mod mock_ensemble;
mod policy;
mod recorder;

pub use anomaly::{AnomalyCase, Touches, anomaly};
pub use detector::{detector, detector_with, nominal_episodes};
pub use env::env;
pub use image_detector::image_detector;
pub use mock_ensemble::MockEnsemble;
pub use policy::policy;

use offnominal_core::law::Law;
use std::fmt;

/// A law that was broken.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// What was expected and what was found.
    pub finding: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.finding)
    }
}

/// Panics with every violation, so that a catalogue's test is one line.
///
/// # Panics
/// If there is any violation.
pub fn assert_lawful(id: &str, violations: &[Violation]) {
    let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(list.is_empty(), "{id} breaks {} law(s):\n  {}", list.len(), list.join("\n  "));
}

/// Collects violations of the laws that are not exempted.
struct Verdicts<'e> {
    exempt: &'e [(Law, &'static str)],
    found: Vec<Violation>,
}

impl<'e> Verdicts<'e> {
    fn new(exempt: &'e [(Law, &'static str)]) -> Self {
        Verdicts { exempt, found: Vec::new() }
    }

    fn require(&mut self, law: Law, holds: bool, finding: impl FnOnce() -> String) {
        if !holds && !self.exempt.iter().any(|(e, _)| *e == law) {
            self.found.push(Violation { law, finding: finding() });
        }
    }
}

/// What the README shows is code that runs.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
