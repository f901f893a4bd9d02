//! Scores against those of other implementations, stored with the version that made them.

use offnominal_core::Rng;
use offnominal_core::detector::{Signals, Transition};
use offnominal_detectors::catalogue;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    made_by: String,
    width: usize,
    train: Vec<f32>,
    probe: Vec<f32>,
    scores: Vec<f64>,
}

/// Between two seeds of scikit-learn with 1,000 trees the rank correlation is 0.9986 and the largest difference 0.010.
#[test]
fn isolation_forest_ranks_like_scikit_learn() {
    let reference: Reference = serde_json::from_str(include_str!("data/isolation_forest.json")).unwrap();
    let actions = vec![0.0; reference.train.len() / reference.width - 1];
    let nominal = Signals::new(&reference.train, &actions, reference.width, 1);
    let recipe = catalogue().build("isolation-forest", &serde_json::json!({"trees": 1000})).unwrap();
    let mut monitor = recipe.fit(&[nominal], &[], &mut Rng::new(1)).unwrap();
    let rows = reference.probe.chunks_exact(reference.width);
    let scores: Vec<f64> =
        rows.map(|row| monitor.score(&Transition { obs: row, action: &[0.0], next_obs: row })).collect();
    let rank_correlation = correlation(&ranks(&scores), &ranks(&reference.scores));
    assert!(rank_correlation > 0.996, "{rank_correlation} with {}", reference.made_by);
    for (found, want) in scores.iter().zip(&reference.scores) {
        assert!((found - want).abs() < 0.025, "expected {want}, found {found}");
    }
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
