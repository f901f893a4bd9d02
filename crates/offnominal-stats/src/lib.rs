//! What judges: metrics, thresholds, intervals, root finding.
