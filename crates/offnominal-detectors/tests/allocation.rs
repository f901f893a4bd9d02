//! After warm-up the detectors from inside the policy score without allocating.

use allocation_counter::measure;
use offnominal_core::conformance::Chorus;
use offnominal_core::prelude::*;
use serde_json::json;

const INSIDE: [&str; 4] = ["disagreement", "rnd", "feature-knn", "feature-mahalanobis"];

/// Forty steps of three channels.
fn walk() -> Vec<f32> {
    let mut obs = vec![0.0; 3 * 41];
    Rng::new(1).fill_normal(&mut obs);
    obs
}

/// Allocations of scoring an episode a second time.
fn allocations(id: &str, params: &serde_json::Value) -> u64 {
    let (obs, actions) = (walk(), vec![0.0; 40]);
    let nominal = Signals::new(&obs, &actions, 3, 1);
    let detector = offnominal_detectors::catalogue().build(id, params).unwrap();
    let fitted = detector.fit_with(&Chorus::passes(3), &[nominal], &[nominal], &mut Rng::new(2));
    let mut monitor = fitted.unwrap();
    let mut again = || nominal.transitions().map(|step| monitor.score(&step)).sum::<f64>();
    let first = again();
    measure(|| assert_eq!(again(), first)).count_total
}

#[test]
fn scoring_from_inside_the_policy_does_not_allocate() {
    for id in INSIDE {
        assert_eq!(allocations(id, &json!({})), 0, "{id}");
    }
    for measure in ["vote-entropy", "mutual-information", "best-sd", "relative-sd"] {
        assert_eq!(allocations("disagreement", &json!({ "measure": measure })), 0, "{measure}");
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(std::hint::black_box(vec![0_u8; 100]))).count_total, 1);
}
