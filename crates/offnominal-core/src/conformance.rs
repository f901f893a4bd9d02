//! The laws that everything in a catalogue obeys, for this project's crates and for anybody else's.
//!
//! `conformance::env("my-world", &world, &[])` returns the violations found, each naming the law. A thing to which a
//! law cannot apply declares the exemption, with a reason, in its [`Entry`](crate::Entry). That each law bites is
//! shown by a broken fixture in this module's tests.

mod anomaly;
mod chorus;
mod detector;
mod env;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod fixtures_detector;
mod policy;
mod witness;

pub use anomaly::{AnomalyCase, Touches, anomaly};
pub use chorus::Chorus;
pub use detector::{detector, detector_with, nominal_episodes};
pub use env::env;
pub use policy::policy;

use std::fmt;

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Law {
    /// The same seed gives the same bits.
    SameSeedSameBits,
    /// A fork has the same future as the original, and does not disturb it.
    ForkSharesFuture,
    /// Observations stay within the bounds of their channels.
    StaysInBounds,
    /// Every number is finite.
    IsFinite,
    /// No channel is constant.
    EveryChannelVaries,
    /// Different seeds start differently.
    StartVaries,
    /// Channel and parameter names are unique, nominal values lie in their ranges, and texts are not empty.
    SpecIsSound,
    /// Unknown parameters and values outside the physical range are refused, and leave the world unchanged.
    RefusesBadParameters,
    /// Setting a parameter to its nominal value changes nothing.
    NominalIsNeutral,
    /// Setting a parameter to another value changes the future.
    ParameterBites,
    /// A command that is a choice is rounded to the nearest one and clipped; what is no number makes the world diverge.
    RoundsChoices,
    /// The margin is zero or less exactly where the world has failed.
    MarginTellsFailure,
    /// `reset` makes a monitor forget the episode before.
    ResetForgets,
    /// Streamed scores equal those of a whole episode.
    StreamedEqualsBatch,
    /// Scores of several episodes equal those of each alone.
    TogetherEqualsAlone,
    /// A channel that is constant in training changes no score.
    IgnoresConstantChannels,
    /// A gross fault scores higher than nominal data.
    SeesGrossFaults,
    /// Bad training data is refused.
    RefusesBadData,
    /// A monitor that was kept and brought back gives the same bits. One that says that it cannot be kept obeys too.
    LoadsAsSaved,
    /// Commands stay within the bounds of their channels.
    CommandsInBounds,
    /// What a policy tells about itself has the shape it declares and is finite, and the same seed gives the same bits.
    SamplesAreSound,
    /// Until the onset an anomalous episode is its nominal twin, bit for bit.
    SilentBeforeOnset,
    /// An anomaly changes only the channels it was told to change.
    TouchesOnlyChosen,
    /// Told to change one channel, an anomaly changes the same one throughout an episode, and not the same in all.
    DrawsOneChannel,
    /// An anomaly of neutral magnitude changes nothing.
    NeutralChangesNothing,
    /// An anomaly of gross magnitude changes the future.
    MagnitudeBites,
    /// When an anomaly ends, signals and parameters are nominal again.
    EndRestores,
    /// A recipe survives being written as JSON and read again.
    RecipeRoundTrips,
    /// The recorded action is the policy's own command.
    RecordsTheCommand,
    /// A step is labelled exactly if the anomaly is active in it.
    LabelsTellActivity,
}

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
