//! Closed forms of the signals.

use super::*;
use serde_json::json;

fn signals(chunks: &[(Value, usize)]) -> Vec<(&'static str, Vec<f64>)> {
    let mut found = ChunkSignals::default();
    for (chunk, executed) in chunks {
        found.push(Chunk::of(chunk).unwrap(), *executed).unwrap();
    }
    found.end()
}

fn signal(chunks: &[(Value, usize)], name: &str) -> Vec<f64> {
    signals(chunks).into_iter().find(|(n, _)| *n == name).unwrap().1
}

#[test]
fn the_consistency_error_compares_the_same_moments() {
    // After one executed action, 2 and 3 were foreseen, and 2 and 5 are now said of the same moments.
    let chunks = [(json!([[1], [2], [3]]), 1), (json!([[2], [5], [9]]), 1)];
    assert_eq!(signal(&chunks, "tce"), [0.0, 2.0]);
    // Horizons of three and one overlap in one action, and after all were executed in none.
    let chunks = [(json!([[1], [2], [3]]), 1), (json!([[4]]), 1), (json!([[7], [8]]), 1)];
    assert_eq!(signal(&chunks, "tce"), [0.0, 4.0, 0.0]);
}

#[test]
fn magnitude_and_jerk_are_those_of_executed_actions() {
    let chunks = [(json!([[3, 4], [0, 0]]), 1), (json!([[3, 4], [9, 9]]), 1), (json!([[5, 4]]), 1)];
    assert_eq!(signal(&chunks, "acm")[0], (12.5_f64).sqrt());
    // 3, 3, 5 and 4, 4, 4: second differences 2 and 0.
    assert_eq!(signal(&chunks, "jerk"), [0.0, 0.0, 2.0_f64.sqrt()]);
}

#[test]
fn samples_that_agree_have_no_distance_and_the_least_entropy() {
    let same = json!([[[1, 2], [3, 4]], [[1, 2], [3, 4]]]);
    let next = json!([[[3, 4], [0, 0]], [[3, 4], [0, 0]]]);
    let chunks = [(same, 1), (next, 1)];
    assert_eq!(signal(&chunks, "stac-mmd"), [0.0, 0.0]);
    assert_eq!(signal(&chunks, "stac-energy"), [0.0, 0.0]);
    let least = 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * FLOOR).log2();
    assert!(signal(&chunks, "entropy").iter().all(|bits| (bits - least).abs() < 1e-12));
}

#[test]
fn distances_of_two_samples_have_their_closed_form() {
    // Foreseen were 0 and 0, said are 1 and 3.
    let chunks = [(json!([[[9], [0]], [[9], [0]]]), 1), (json!([[[1]], [[3]]]), 1)];
    // Means of kernels: 1, (1 + e⁻⁴) / 2, and (e⁻¹ + e⁻⁹) / 2.
    let want = 1.0 + (1.0 + (-4.0_f64).exp()) / 2.0 - ((-1.0_f64).exp() + (-9.0_f64).exp());
    assert!((signal(&chunks, "stac-mmd")[1] - want).abs() < 1e-12);
    // 2 · 2 − 0 − 2.
    assert_eq!(signal(&chunks, "stac-energy")[1], 2.0);
}

#[test]
fn one_sample_has_no_distribution() {
    let names: Vec<_> = signals(&[(json!([[1]]), 1)]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["tce", "acm", "jerk"]);
}

#[test]
fn lists_that_are_no_chunk_are_refused_by_name() {
    let error = |value: Value| format!("{:#}", Chunk::of(&value).unwrap_err());
    assert!(error(json!([[1, 2], [3]])).contains("expected lists of 2, found one of 1"));
    assert!(error(json!([1, 2])).contains("found 1 levels"));
    assert!(error(json!([[]])).contains("numbers of an action, found 0"));
    assert!(error(json!([[1], 2])).contains("expected numbers at level 2"));
    assert!(error(json!([[1, "a"]])).contains("expected a finite number, found \"a\""));
    assert!(error(json!([[[[1]]]])).contains("at most three levels"));
    let mut found = ChunkSignals::default();
    found.push(Chunk::of(&json!([[1, 2]])).unwrap(), 1).unwrap();
    let error = found.push(Chunk::of(&json!([[1]])).unwrap(), 1).unwrap_err().to_string();
    assert!(error.contains("expected actions of 2 numbers as before, found 1"), "{error}");
    let error = found.push(Chunk::of(&json!([[1, 2]])).unwrap(), 2).unwrap_err().to_string();
    assert!(error.contains("the 2 actions that are executed, found 1"), "{error}");
}
