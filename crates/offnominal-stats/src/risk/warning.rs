//! Why importance weights are not to be trusted.

/// Failures below which a normal approximation means nothing.
pub(super) const FEWEST_FAILURES: usize = 5;

/// Why weights are not to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Too few failures for a normal approximation.
    #[error("only {found} failures were seen, expected at least {FEWEST_FAILURES}")]
    FewFailures {
        /// How many there were.
        found: usize,
    },
    /// One failure is most of the estimate.
    #[error("one failure makes up {:.0} % of the estimate", 100.0 * share)]
    OneWeight {
        /// Its share.
        share: f64,
    },
    /// The failures say as little as a few of equal weight.
    #[error("the failures say as little as {effective:.1} of equal weight")]
    FewEffective {
        /// Their effective number.
        effective: f64,
    },
    /// One experiment has most of the weight.
    #[error("one experiment has {:.0} % of all weight", 100.0 * share)]
    OneExperiment {
        /// Its share.
        share: f64,
    },
    /// Weights do not average to one.
    #[error("the mean weight is {found:.3}, expected 1: the predictor is too sharp, or a constant is wrong")]
    MeanWeight {
        /// The mean weight.
        found: f64,
    },
    /// Larger weights are likely to come.
    #[error("the weights have a heavy tail (Pareto shape {shape:.2}): larger ones are likely to come")]
    HeavyTail {
        /// The shape.
        shape: f64,
    },
    /// Both halves of the sample disagree.
    #[error("the halves of the sample differ by {errors:.1} standard errors")]
    Drift {
        /// The difference in standard errors.
        errors: f64,
    },
    /// What was counted without weights lies elsewhere.
    #[error(
        "plain experiments say {low:.1e} to {high:.1e} (99.9 %), which lies outside: a region of failures was not met"
    )]
    Denied {
        /// The lower end of what they say.
        low: f64,
        /// The upper end.
        high: f64,
    },
}
