//! What spoke in a score: which statistic, of which channel, and what it is compared with.

/// The statistic that decided a score, in the terms of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// What it is, such as `exponentially weighted mean`.
    pub statistic: &'static str,
    /// What it is compared with, such as `the dynamics model`.
    pub against: &'static str,
    /// The channel with the largest part in it: a number of the observation, or, counted on from these, one of the command.
    pub channel: Option<usize>,
    /// For how many steps in a row, the last one among them, it has been among the highest tenth of nominal steps, if that is known.
    pub steps: Option<u64>,
}
