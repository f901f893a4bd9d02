//! Scores against those of other implementations, stored with the version that made them.

use offnominal_core::Rng;
use offnominal_core::detector::{Nominal, Signals};
use offnominal_core::transition::Transition;
use offnominal_detectors::catalogue;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Reference {
    made_by: String,
    width: usize,
    train: Vec<f32>,
    probe: Vec<f32>,
    scores: Vec<f64>,
}

/// Scores of the probe by a detector that is fitted on the training rows.
fn scores(id: &str, params: &serde_json::Value, reference: &Reference) -> Vec<f64> {
    let actions = vec![0.0; reference.train.len() / reference.width - 1];
    let nominal = Signals::new(&reference.train, &actions, reference.width, 1);
    let recipe = catalogue().build(id, params).unwrap();
    let mut monitor = recipe.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(1)).unwrap();
    let rows = reference.probe.chunks_exact(reference.width);
    rows.map(|row| monitor.score(&Transition { obs: row, action: &[0.0], next_obs: row })).collect()
}

#[track_caller]
fn agrees(id: &str, params: serde_json::Value, json: &str, tolerance: f64) -> (Vec<f64>, Reference) {
    let reference: Reference = serde_json::from_str(json).unwrap();
    let found = scores(id, &params, &reference);
    assert_eq!(found.len(), reference.scores.len());
    for (found, want) in found.iter().zip(&reference.scores) {
        assert!((found - want).abs() < tolerance, "expected {want}, found {found}; {}", reference.made_by);
    }
    (found, reference)
}

/// Between two seeds of scikit-learn with 1,000 trees the rank correlation is 0.9986 and the largest difference 0.010.
#[test]
fn isolation_forest_ranks_like_scikit_learn() {
    let json = include_str!("../data/isolation_forest.json");
    let (found, reference) = agrees("isolation-forest", json!({"trees": 1000}), json, 0.025);
    let rank_correlation = correlation(&ranks(&found), &ranks(&reference.scores));
    assert!(rank_correlation > 0.996, "{rank_correlation} with {}", reference.made_by);
}

#[test]
fn nearest_neighbours_are_those_of_scikit_learn() {
    agrees("knn", json!({"k": 3}), include_str!("../data/knn.json"), 1e-5);
}

#[test]
fn decision_values_are_those_of_libsvm() {
    let json = include_str!("../data/ocsvm.json");
    agrees("ocsvm", json!({"tolerance": 1e-6}), json, 1e-4);
    agrees("ocsvm", json!({}), json, 1e-3);
}

/// The comparison can fail: another ν is another machine.
#[test]
fn another_machine_does_not_agree() {
    let reference: Reference = serde_json::from_str(include_str!("../data/ocsvm.json")).unwrap();
    let found = scores("ocsvm", &json!({"nu": 0.4}), &reference);
    assert!(found.iter().zip(&reference.scores).any(|(a, b)| (a - b).abs() > 1.0));
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: f64| values.iter().filter(|&&w| w < v).count() as f64;
    values.iter().map(|&v| rank(v)).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(x, y)| f(x - mean_a, y - mean_b)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}
