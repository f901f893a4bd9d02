//! Why there is no number.

/// What was expected of the data, and what was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There is too little to estimate from.
    #[error("{what}: expected at least {needed} {unit}, found {found}")]
    TooFew {
        /// What was to be estimated.
        what: &'static str,
        /// How many are needed.
        needed: usize,
        /// What is counted.
        unit: &'static str,
        /// How many there are.
        found: usize,
    },
    /// Recordings of a stream have too few whole blocks.
    #[error(
        "run length: expected at least {needed} blocks of {block} nominal steps, found {found}: scores depend on one another \
         for about so long, and no block spans two recordings, of which the longest has {longest} steps"
    )]
    TooFewBlocks {
        /// How many are needed.
        needed: usize,
        /// Steps of a block.
        block: usize,
        /// How many there are.
        found: usize,
        /// Steps of the longest recording.
        longest: usize,
    },
    /// Nominal episodes are too short together for a rate.
    #[error(
        "{per_hour} false alarms an hour: expected at least {} h of nominal calibration episodes, found {} h: record more, or \
         accept {} an hour or more; for a stream, the rule run-length can promise rarer alarms than once in its calibration",
        rounded(*.needed), rounded(*.found), rounded(1.0005 / *.found)
    )]
    TooShort {
        /// The rate.
        per_hour: f64,
        /// Hours that are needed.
        needed: f64,
        /// Hours that there are.
        found: f64,
    },
    /// Nominal episodes are so long that each may have an alarm.
    #[error(
        "{per_hour} false alarms an hour: expected a rate below {}, one alarm an episode, as an episode counts one alarm at most; \
         cut episodes into shorter ones, or ask for fewer alarms",
        rounded(*.most)
    )]
    TooOften {
        /// The rate.
        per_hour: f64,
        /// One alarm an episode, as a rate.
        most: f64,
    },
    /// A ranking metric needs anomalous and nominal steps.
    #[error("expected anomalous and nominal steps, found only {only} ones ({n})")]
    OneClass {
        /// The class that is present.
        only: &'static str,
        /// How many steps there are.
        n: usize,
    },
    /// A score is NaN or infinite.
    #[error("episode {episode}, step {step}{}: expected a finite score, found {found}", if *.twin { " of the twin" } else { "" })]
    NotFinite {
        /// Position of the episode in the input.
        episode: usize,
        /// Position of the score in the episode.
        step: usize,
        /// Whether the score belongs to the nominal twin.
        twin: bool,
        /// The value that was given.
        found: f64,
    },
    /// A metric of pixels needs unknown and known ones.
    #[error("expected unknown and known pixels, found {unknown} unknown and {known} known ones")]
    NoContrast {
        /// Unknown pixels.
        unknown: u64,
        /// Known pixels.
        known: u64,
    },
    /// The score of a pixel is NaN or infinite.
    #[error("pixel {at}: expected a finite score, found {found}")]
    PixelNotFinite {
        /// Position of the pixel in the image, row by row.
        at: usize,
        /// The value that was given.
        found: f32,
    },
    /// Two lists that belong together have different lengths.
    #[error("{what}: expected {expected} values, found {found}")]
    Length {
        /// Which list.
        what: String,
        /// The length that was expected.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// A setting is outside its range.
    #[error("{what}: expected {expected}, found {found}")]
    OutOfRange {
        /// The setting.
        what: &'static str,
        /// The rule in words.
        expected: &'static str,
        /// The value that was given.
        found: f64,
    },
    /// At most half of the anomalies are detected, so there is no finite median.
    #[error("the median is not reached: {detected} of {n} anomalies were detected")]
    MedianNotReached {
        /// Anomalies that were detected.
        detected: usize,
        /// All anomalies.
        n: usize,
        /// Lower end of the median's interval; ∞ if the data exclude every finite median.
        low: f64,
    },
}

/// Four digits, for a person.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

impl StatsError {
    /// An error if fewer than `needed` were found.
    pub(crate) fn require(
        what: &'static str,
        needed: usize,
        unit: &'static str,
        found: usize,
    ) -> Result<(), StatsError> {
        if found >= needed { Ok(()) } else { Err(StatsError::TooFew { what, needed, unit, found }) }
    }

    /// An error unless the value is in the range that `expected` describes.
    pub(crate) fn within(
        holds: bool,
        what: &'static str,
        expected: &'static str,
        found: f64,
    ) -> Result<(), StatsError> {
        if holds { Ok(()) } else { Err(StatsError::OutOfRange { what, expected, found }) }
    }

    /// An error unless the value lies strictly between 0 and 1.
    pub(crate) fn within_unit(what: &'static str, found: f64) -> Result<(), StatsError> {
        StatsError::within(found > 0.0 && found < 1.0, what, "a number between 0 and 1", found)
    }

    /// An error unless two lists are equally long.
    pub(crate) fn same_length(
        what: impl Into<String>,
        expected: usize,
        found: usize,
    ) -> Result<(), StatsError> {
        if expected == found {
            Ok(())
        } else {
            Err(StatsError::Length { what: what.into(), expected, found })
        }
    }
}
