//! What can go wrong: a file that is not what it should be, and a step that cannot be scored.

use offnominal_core::archive::ArchiveError;
use offnominal_core::catalogue::BuildError;
use offnominal_stats::StatsError;
use std::path::PathBuf;

/// Why a monitor cannot be opened or cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// The file cannot be read.
    #[error("cannot read {}: {why}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// The file is not one of a monitor that this engine can bring back.
    #[error("monitor {}: {why}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: FileError,
    },
    /// A step cannot be scored.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Why bytes are not a monitor that this engine can bring back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The bytes are not in the format.
    #[error("expected a file written by `offnominal fit`, found {found}")]
    Format {
        /// What the reader says.
        found: String,
    },
    /// The format has another version.
    #[error(
        "expected version {expected} of the file format, found {found}; fit the monitor again, or open it with a program of its version"
    )]
    Version {
        /// The version of this engine.
        expected: u32,
        /// The version of the file.
        found: u32,
    },
    /// What is in the file is not what was written.
    #[error("the file is damaged or was edited: expected SHA-256 {expected}, found {found}")]
    Edited {
        /// The digest in the file.
        expected: String,
        /// The digest of its contents.
        found: String,
    },
    /// The header cannot be right.
    #[error("header, {place}: expected {expected}, found {found}")]
    Header {
        /// Which field.
        place: &'static str,
        /// What is needed.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The detector looks inside the policy, which cannot be had.
    #[error("the detector looks inside the policy {id:?}: {why}")]
    Policy {
        /// Name of the policy.
        id: String,
        /// Why it cannot be had.
        why: String,
    },
    /// There is no such detector, or its parameters are wrong.
    #[error(transparent)]
    Detector(#[from] BuildError),
    /// The numbers are not those of the detector.
    #[error(transparent)]
    Numbers(#[from] ArchiveError),
}

/// Why an episode cannot begin as one of a group. The monitor is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("group: expected {}, found {found:?}{hint}", expected(.known))]
pub struct UnknownGroup {
    /// The name that was given.
    pub found: String,
    /// The groups of the monitor; none if it was fitted without.
    pub known: Vec<String>,
    /// The nearest of them, in words.
    pub hint: String,
}

fn expected(known: &[String]) -> String {
    match known {
        [] => "none, as the monitor was fitted without groups".into(),
        known => format!("one of {}", known.join(", ")),
    }
}

/// Why a threshold does not follow a nominal episode. It is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfirmError {
    /// The rule promises no share of nominal episodes.
    #[error(
        "expected a threshold that promises a share of false alarms (conformal, band, cusum or martingale), found {rule}"
    )]
    NoPromise {
        /// The rule.
        rule: String,
    },
    /// No step of the episode was judged, or it was confirmed already.
    #[error("expected an episode with at least one step since the last reset, not confirmed yet; found none")]
    NoEpisode,
    /// It is a copy of one that the monitor knows.
    #[error(
        "expected an episode that is new to the monitor, found the numbers of one that it learned from, that set its threshold or \
         that was confirmed"
    )]
    Known,
    /// A setting is wrong, or there are too few nominal episodes.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

/// Why a step cannot be scored. The monitor is as it was before the step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// There are too many or too few numbers.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Width {
        /// `obs`, `action` or `next_obs`.
        what: &'static str,
        /// How many the detector reads.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A number is beyond what single precision holds.
    #[error(
        "{what}, channel {channel}: expected a number within {:e} of {reference}, found {found:e}",
        f32::MAX
    )]
    Beyond {
        /// `obs`, `action` or `next_obs`.
        what: &'static str,
        /// Name of the channel.
        channel: String,
        /// Its reference.
        reference: f64,
        /// The number.
        found: f64,
    },
    /// A transition does not begin where the one before it ended.
    #[error(
        "obs, channel {channel}: expected {expected}, where the transition before ended, found {found}{}; \
         a step is missing, or a reset",
        less(*.reference)
    )]
    Gap {
        /// Name of the first channel that differs.
        channel: String,
        /// The value after the transition before.
        expected: f32,
        /// The value before this one.
        found: f32,
        /// The reference of the channel, which both are less.
        reference: f64,
    },
}

fn less(reference: f64) -> String {
    if reference == 0.0 { String::new() } else { format!(", both less the reference {reference}") }
}
