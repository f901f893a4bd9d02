//! The kinds of faults, as the page groups them.

use crate::suite::Row;

/// Faults that differ from others in the same way.
pub(super) struct Kind {
    /// Title of its section.
    pub title: &'static str,
    /// What is done.
    pub what: &'static str,
    /// The names of its faults in results.
    pub faults: &'static [&'static str],
}

impl Kind {
    /// Whether a row is of one of its faults.
    pub fn has(&self, row: &Row) -> bool {
        self.faults.contains(&&*row.anomaly)
    }
}

/// What other benchmarks have, for comparison.
pub(super) const REFERENCE: Kind = Kind {
    title: "All channels, to the end",
    what: "The faults of other benchmarks, for comparison: noise and bias of all observations or of all actions.",
    faults: &["obs-noise", "obs-offset", "act-noise", "act-offset"],
};

/// Every kind, in the order of the page.
pub(super) const KINDS: [Kind; 8] = [
    REFERENCE,
    Kind {
        title: "A single channel",
        what: "Noise and bias as above, of one channel that is drawn anew for each episode.",
        faults: &["obs-noise-one", "obs-offset-one", "act-noise-one", "act-offset-one"],
    },
    Kind {
        title: "For a window",
        what: "As above, of all channels, for ten steps. Only these steps are positives of the AUROC; an alarm after them still \
               counts as found.",
        faults: &["obs-noise-window", "obs-offset-window", "act-offset-window"],
    },
    Kind {
        title: "On and off",
        what: "As above, of all channels, for two steps in every ten. Only these steps are positives of the AUROC: a detector \
               that remembers is not rewarded for what it remembers between them.",
        faults: &["obs-noise-intermittent", "obs-offset-intermittent", "act-offset-intermittent"],
    },
    Kind {
        title: "Stuck",
        what: "A value that is held: of one channel for good, or of all channels for four steps after each that is new.",
        faults: &["obs-stuck-one", "obs-stuck", "act-stuck-one", "act-stuck"],
    },
    Kind {
        title: "Dropout",
        what: "Each value is lost with a probability of .1 or .5, and the last one that arrived stands in for it. Monitors are \
               told nothing of it: a monitor that is told reads a missing number.",
        faults: &["obs-dropout", "act-dropout"],
    },
    Kind {
        title: "Swings",
        what: "A bias that follows a sine with a period of twenty steps, as high as the bias above: its mean over a period is zero.",
        faults: &["obs-sine-drift", "act-sine-drift"],
    },
    Kind {
        title: "Correlated noise",
        what: "Noise as wide as above, with a correlation of .95 from step to step: from the noise above it differs in its rhythm only.",
        faults: &["obs-ar-noise", "act-ar-noise"],
    },
];
