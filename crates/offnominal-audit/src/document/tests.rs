//! A small audit for tests.

use super::*;
use crate::findings::{FaultStrength, Noticed};
use std::collections::BTreeMap;

fn number(value: f64, half: f64) -> Number {
    Number { value, low: value - half, high: value + half }
}

fn detector(name: &str, auroc: f64, behind: Option<Number>) -> DetectorFound {
    DetectorFound {
        name: name.into(),
        auroc_matched: Some(number(auroc, 0.05)),
        at: BTreeMap::from([("tiny".into(), number(auroc - 0.1, 0.05))]),
        within_20: Some(number(0.6, 0.1)),
        false_alarm_rate: Some(number(0.04, 0.03)),
        control: Some(number(0.5, 0.02)),
        of_nothing: Some(number(0.5, 0.0)),
        behind,
    }
}

fn strength(level: &str, noticed: Noticed) -> FaultStrength {
    let share = if noticed == Noticed::Yes { 0.9 } else { 0.1 };
    FaultStrength {
        strength: level.into(),
        magnitude: Some(0.2),
        in_units: "0.2 m".into(),
        costs: Some(number(0.01, 0.01)),
        missing: None,
        because: None,
        auroc_matched: Some(number(0.8, 0.05)),
        detection_rate: Some(number(share, 0.1)),
        delay_median: (noticed == Noticed::Yes).then_some(7.0),
        noticed,
    }
}

/// An audit in which one fault is noticed and another one is not.
pub(crate) fn sample() -> Audit {
    let fault = |id: &str, noticed| Fault {
        anomaly: id.into(),
        class: "observation".into(),
        summary: "a fault".into(),
        imitates: "a real fault".into(),
        magnitude_is: "how strong".into(),
        strengths: vec![strength("tiny", Noticed::No), strength("strong", noticed)],
    };
    Audit {
        format: FORMAT,
        env: "w".into(),
        policy: PolicyFound {
            name: "p".into(),
            digest: "00".into(),
            mean_return: number(10.0, 1.0),
            random_return: number(1.0, 0.5),
            success: None,
        },
        depth: Depth::Glance,
        counts: Depth::Glance.effort().counts,
        faults_tried: [2, 9],
        alpha: 0.05,
        choice: Choice { recommended: "residual-views".into(), default: "residual-views".into(), gain: None },
        detectors: vec![
            detector("clock", 0.5, Some(number(-0.35, 0.1))),
            detector("knn", 0.8, Some(number(-0.05, 0.1))),
            detector("residual-views", 0.85, None),
        ],
        faults: vec![fault("obs-noise", Noticed::Yes), fault("obs-stuck", Noticed::No)],
        in_deviations: vec![],
        channels: vec![SizedFault {
            name: "x".into(),
            magnitude: "0.2 m".into(),
            detection_rate: Some(number(0.1, 0.1)),
            auroc_matched: Some(number(0.55, 0.05)),
            noticed: Noticed::No,
        }],
        monitor: MonitorFound {
            file: "audit.monitor".into(),
            detector: "residual-views".into(),
            train_episodes: 40,
            calibration_episodes: 40,
            promised: 0.05,
            realised: Some(number(0.04, 0.03)),
        },
        failures: FailuresFound {
            rule: "it falls".into(),
            counts_failures: true,
            episodes: 60,
            failures: 2,
            counted: Some(Number { value: 0.033, low: 0.004, high: 0.09 }),
            by_swarms: None,
            searched: None,
            kinds: vec![],
            refused: vec![],
        },
        advice: vec![],
        left_out: vec!["Something.".into()],
        requirements: vec![],
        made: Provenance::default(),
    }
}

#[test]
fn nothing_is_said_of_a_risk_where_nothing_counts_as_a_failure() {
    let known = sample().failures;
    assert_eq!(known.best().map(|n| n.value), Some(0.033));
    assert_eq!(FailuresFound { counts_failures: false, ..known }.best(), None);
}

#[test]
fn the_narrower_interval_is_the_one_that_is_judged() {
    let swarms = Number { value: 0.01, low: 0.008, high: 0.012 };
    let both = FailuresFound { by_swarms: Some(swarms), ..sample().failures };
    assert_eq!(both.best(), Some(swarms));
}
