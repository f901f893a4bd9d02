//! A row for the unit tests of the report.

use crate::results::Row;

/// A plausible row of `sap-goal0`, with an interval of ±.02.
pub fn row(detector: &str, anomaly: &str, strength: &str, metric: &str, threshold: &str, value: f64) -> Row {
    Row {
        campaign: "sample".into(),
        env: "sap-goal0".into(),
        modality: "vector".into(),
        policy: "tqc".into(),
        anomaly_class: class(anomaly).into(),
        anomaly: anomaly.into(),
        strength: strength.into(),
        magnitude: 0.25,
        detector: detector.into(),
        seed: 0,
        episodes: 50,
        metric: metric.into(),
        threshold: threshold.into(),
        value,
        low: value - 0.02,
        high: value + 0.02,
    }
}

fn class(anomaly: &str) -> &'static str {
    match anomaly.split('-').next() {
        Some("obs") => "observation",
        Some("act") => "action",
        _ => "dynamics",
    }
}
