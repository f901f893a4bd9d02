//! Anomalies with a rhythm: noise with a memory at the strength of white noise, and slow swings.

use super::{begun, environment, mean, moments, observed};
use offnominal_core::prelude::*;
use serde_json::json;

/// Whether a disturbance of zero has the variance 1 and the correlation φ, within four standard errors of a first-order
/// process: √(2 (1 + φ²) / (1 − φ²) / n) of the variance and √((1 − φ²) / n) of the correlation (Bartlett).
fn is_as_strong_as_white_noise(id: &str, phi: f64) -> bool {
    let n = 100_000;
    let params = json!({"magnitude": 1.0, "correlation": phi, "channels": [0]});
    let (variance, correlation) = moments(&observed(id, params, 0.0, n));
    let (square, n) = (phi * phi, n as f64);
    let variance_fits = (variance - 1.0).abs() < 4.0 * (2.0 * (1.0 + square) / (1.0 - square) / n).sqrt();
    variance_fits && (correlation - phi).abs() < 4.0 * ((1.0 - square) / n).sqrt()
}

#[test]
fn autoregressive_noise_differs_from_white_noise_in_its_memory_only() {
    for phi in [0.95, 0.5, 0.0, -0.95] {
        assert!(is_as_strong_as_white_noise("obs-ar-noise", phi), "correlation {phi}");
    }
    // The law bites: noise with innovations of that strength is stronger.
    assert!(!is_as_strong_as_white_noise("obs-temporal-noise", 0.95));
}

#[test]
fn autoregressive_noise_is_stationary_from_its_first_step() {
    // Over many seeds, the k-th value has the variance of white noise, whatever k.
    let squares = |seed| {
        let mut anomaly = begun("obs-ar-noise", json!({"magnitude": 0.5, "channels": [0]}));
        let (mut obs, mut rng) = (vec![0.0; environment().spec().observation.len()], Rng::new(seed));
        [0, 1, 2].map(|_| {
            obs.fill(0.0);
            anomaly.on_observation(&mut obs, &mut rng);
            f64::from(obs[0]).powi(2)
        })
    };
    let all: Vec<[f64; 3]> = (0..2000).map(squares).collect();
    for k in 0..3 {
        let variance = mean(&all.iter().map(|s| s[k]).collect::<Vec<_>>());
        assert!((variance / 0.25 - 1.0).abs() < 4.0 * (2.0 / 2000.0_f64).sqrt(), "step {k}: {variance}");
    }
}

/// Whether a disturbance of zero repeats after `period` steps, has the amplitude 2, and no mean over a period.
fn swings(id: &str, params: serde_json::Value, period: usize) -> bool {
    let seen = observed(id, params, 0.0, 3 * period);
    let close = |a: f32, b: f32| (a - b).abs() < 1e-5;
    let repeats = seen.iter().zip(&seen[period..]).all(|(&a, &b)| close(a, b));
    let highest = seen.iter().copied().fold(f32::MIN, f32::max);
    repeats && close(highest, 2.0) && close(seen[..period].iter().sum(), 0.0)
}

#[test]
fn a_slow_swing_has_its_period_and_its_amplitude() {
    assert!(swings("obs-sine-drift", json!({"magnitude": 2, "period": 8}), 8));
    assert!(swings("obs-sine-drift", json!({"magnitude": 2}), 100));
    // The law bites: a drift that grows does not come back.
    assert!(!swings("obs-drift", json!({"magnitude": 2}), 8));
    let first = observed("obs-sine-drift", json!({"magnitude": 2, "period": 8}), 1.0, 2);
    assert!((first[0] - (1.0 + 2.0_f32.sqrt())).abs() < 1e-6 && (first[1] - 3.0).abs() < 1e-6);
}
