//! Anomalies that hold a value: stuck channels and lost readings.

use super::{acted, begun, environment, observed};
use offnominal_core::prelude::*;
use offnominal_worlds::anomaly;
use serde_json::{Value, json};

const RAMP: [f32; 7] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// What becomes of a ramp in channel 0 of the actions.
fn ramp(id: &str, params: Value) -> Vec<f32> {
    acted(id, params, &RAMP).iter().map(|a| a[0]).collect()
}

#[test]
fn a_stuck_channel_moves_only_when_it_is_renewed() {
    let stuck = |d: u32| ramp("act-stuck", json!({ "magnitude": d }));
    assert_eq!(stuck(0), RAMP);
    assert_eq!(stuck(1), [1.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0]);
    assert_eq!(stuck(2), [1.0, 1.0, 3.0, 3.0, 3.0, 6.0, 6.0]);
    assert_eq!(stuck(1000), [1.0; 7]);
}

#[test]
fn what_is_held_first_is_the_value_before_the_onset() {
    for (id, params) in [("obs-stuck", json!({"magnitude": 9})), ("obs-dropout", json!({"magnitude": 1}))] {
        let mut env = environment();
        let mut anomaly = anomaly::catalogue().build(id, &params).unwrap();
        anomaly.fit(env.spec()).unwrap();
        let mut obs = vec![5.0; env.spec().observation.len()];
        anomaly.watch_observation(&obs);
        for (true_before_pause, held) in [(5.0, 5.0), (8.0, 8.0)] {
            obs.fill(true_before_pause);
            anomaly.watch_observation(&obs);
            anomaly.begin(env.as_mut(), &mut Rng::new(0));
            obs.fill(6.0);
            anomaly.on_observation(&mut obs, &mut Rng::new(0));
            assert!(obs.iter().all(|&o| o == held), "{id}: {obs:?}");
            anomaly.end(env.as_mut());
        }
    }
}

#[test]
fn in_an_episode_the_reading_of_the_onset_stays() {
    let (env, width) = (environment(), environment().spec().observation.len());
    let steer = |_: &[f32], action: &mut [f32]| action.fill(0.3);
    for onset in [0, 3] {
        let schedule = Schedule { onset: Onset::At(onset), extent: Extent::Window { steps: 4 } };
        let anomaly_spec =
            AnomalySpec { anomaly: "obs-stuck".into(), params: json!({"magnitude": 99}), schedule };
        let trial = Trial::new(env.as_ref(), &steer);
        let (episode, twin) = trial.with_twin(Seed(1), &anomaly_spec, &anomaly::catalogue()).unwrap();
        let seen: Vec<&[f32]> = episode.observations.chunks_exact(width).collect();
        let onset = onset as usize;
        assert!(seen[onset..=onset + 4].iter().all(|o| *o == seen[onset]), "onset {onset}");
        // The window is over: actions were those of the twin, so the readings are too.
        assert_eq!(seen[onset + 5], &twin.observations[(onset + 5) * width..][..width]);
    }
}

#[test]
fn lost_values_are_held_or_zero() {
    let lost = |fill: &str, p: f64| ramp("act-dropout", json!({"magnitude": p, "fill": fill}));
    assert_eq!((lost("hold", 0.0), lost("zero", 0.0)), (RAMP.to_vec(), RAMP.to_vec()));
    assert_eq!(lost("hold", 1.0), [1.0; 7]);
    assert_eq!(lost("zero", 1.0), [0.0; 7]);
    let (some, mut last) = (lost("hold", 0.5), 1.0);
    for (k, &value) in some.iter().enumerate() {
        assert!(value == RAMP[k] || value == last, "{some:?}");
        last = value;
    }
}

#[test]
fn values_are_lost_as_often_as_the_magnitude_says() {
    let n = 40_000;
    let zeros = |p: f64| {
        let params = json!({"magnitude": p, "fill": "zero", "channels": [0]});
        let lost = observed("obs-dropout", params, 1.0, n).iter().filter(|&&o| o == 0.0).count();
        lost as f64 / n as f64
    };
    for p in [0.1, 0.35] {
        // Binomial: four standard errors √(p (1 − p) / n).
        assert!((zeros(p) - p).abs() < 4.0 * (p * (1.0 - p) / n as f64).sqrt(), "{p}: {}", zeros(p));
    }
}

/// Share of steps in which both of two channels are lost or neither is.
fn agreement(together: bool) -> f64 {
    let params = json!({"magnitude": 0.5, "fill": "zero", "together": together});
    let (mut anomaly, mut rng, n) = (begun("act-dropout", params), Rng::new(3), 4000);
    let mut agrees = || {
        let mut action = [1.0, 1.0];
        anomaly.on_action(&mut action, &mut rng);
        action[0] == action[1]
    };
    (0..n).filter(|_| agrees()).count() as f64 / f64::from(n)
}

#[test]
fn a_lost_message_takes_all_channels_with_it() {
    assert_eq!(agreement(true), 1.0);
    assert!((agreement(false) - 0.5).abs() < 4.0 * 0.5 / 4000.0_f64.sqrt());
}
