//! Tests of findings on rows that were made by hand.

use super::*;
use offnominal_engine::subject::Subject;

pub(super) fn row(
    detector: &str,
    anomaly: &str,
    strength: &str,
    metric: &str,
    threshold: &str,
    value: f64,
) -> Row {
    Row {
        campaign: "audit".into(),
        env: "sap-goal0".into(),
        modality: "vector".into(),
        policy: "p".into(),
        anomaly_class: if anomaly == "none" { "none" } else { "observation" }.into(),
        anomaly: anomaly.into(),
        strength: strength.into(),
        magnitude: 0.1,
        detector: detector.into(),
        seed: 0,
        episodes: 20,
        metric: metric.into(),
        threshold: threshold.into(),
        value,
        low: value - 0.05,
        high: value + 0.05,
    }
}

fn results() -> Results {
    let mut rows = Vec::new();
    for (name, add) in [("clock", -0.3), ("knn", 0.0), ("residual-views", 0.1)] {
        for (i, anomaly) in ["obs-noise", "obs-offset", "obs-drift"].iter().enumerate() {
            let value = 0.7 + add + 0.02 * i as f64;
            rows.push(row(name, anomaly, "tiny", "auroc_matched", "", value));
            rows.push(row(name, anomaly, "tiny", "detection_rate", "conformal", value));
        }
        rows.push(row(name, "none", "", "auroc_matched", "", 0.5));
    }
    Results { rows, ..Results::default() }
}

#[test]
fn detectors_have_their_distance_to_the_recommended_one() {
    let names = ["clock", "knn", "residual-views"].map(String::from);
    let found = detectors(&results(), &names, "residual-views");
    let gap = found[1].behind.unwrap();
    assert!((gap.value + 0.1).abs() < 1e-9 && gap.high < 0.0, "{gap:?}");
    assert!(found[2].behind.is_none() && found[2].control.is_some_and(|c| c.value == 0.5));
}

#[test]
fn a_fault_is_noticed_where_the_whole_interval_lies_above_one_half() {
    let share = |value| Noticed::of(Some(Number { value, low: value - 0.1, high: value + 0.1 }));
    assert_eq!([0.9, 0.55, 0.2].map(share), [Noticed::Yes, Noticed::Uncertain, Noticed::No]);
    assert_eq!(Noticed::of(None), Noticed::NotTried);
}

#[test]
fn magnitudes_have_the_units_of_what_they_change() {
    let subject = Subject::new("sap-goal1", "random").unwrap();
    let spec = subject.env.spec();
    assert!(in_units("dyn-mass", 1.5, spec).contains("(nominal "));
    assert_eq!(in_units("act-delay", 3.0, spec), "3 steps");
    assert_eq!(in_units("obs-scaling", 1.5, spec), "1.5");
}
