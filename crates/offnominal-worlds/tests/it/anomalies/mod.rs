//! The anomalies: laws, values known in advance, statistics, and refusals.

mod held;
mod swinging;

use offnominal_core::prelude::*;
use offnominal_laws::{AnomalyCase, Touches, anomaly as laws, assert_lawful};
use offnominal_worlds::anomaly::{self, ALL, Class};
use offnominal_worlds::env::{self, body::BODIES};
use serde_json::{Value, json};

fn environment() -> Box<dyn Env> {
    env::catalogue().build("sap-goal0", &json!({})).unwrap()
}

/// An anomaly fitted to the particle environment, active.
fn begun(id: &str, params: Value) -> Box<dyn Anomaly> {
    let mut env = environment();
    let mut anomaly = anomaly::catalogue().build(id, &params).unwrap();
    anomaly.fit(env.spec()).unwrap();
    anomaly.begin(env.as_mut(), &mut Rng::new(0));
    anomaly
}

/// What becomes of a constant observation in so many steps; channel 0.
fn observed(id: &str, params: Value, value: f32, steps: usize) -> Vec<f32> {
    let (mut anomaly, mut rng) = (begun(id, params), Rng::new(1));
    let mut obs = vec![0.0; environment().spec().obs_width()];
    let mut look = |_| {
        obs.fill(value);
        anomaly.on_observation(&mut obs, &mut rng);
        obs[0]
    };
    (0..steps).map(&mut look).collect()
}

fn acted(id: &str, params: Value, actions: &[f32]) -> Vec<[f32; 2]> {
    let (mut anomaly, mut rng) = (begun(id, params), Rng::new(1));
    let disturb = |&c: &f32| {
        let mut action = [c, -c];
        anomaly.on_action(&mut action, &mut rng);
        action
    };
    actions.iter().map(disturb).collect()
}

fn case_of<'a>(id: &'a str, env: &'a dyn Env, from: &'a Catalogue<dyn Anomaly>) -> AnomalyCase<'a> {
    let kind = anomaly::kind(id).unwrap();
    let search = anomaly::searches(env.spec(), id, &anomaly::Deviations::default()).unwrap()[0];
    let touches = match kind.class {
        Class::Observation => Touches::Observation,
        Class::Action => Touches::Action,
        Class::Dynamics => Touches::Environment,
        Class::Camera => unreachable!("{id} changes no episode"),
    };
    // Strong, but not so strong that the episode ends at once; a delay of 3 steps is strong, and a limit must lie below
    // what the laws' policy actions, 0.3 of full speed.
    let gross = match id {
        "obs-delay" | "act-delay" => 3.0,
        // Where actions are choices, few lost readings change none.
        "obs-dropout" | "act-dropout" => 0.9,
        // More grip changes nothing where there is enough of it.
        "dyn-grip" => 0.2 * search.neutral,
        // A little debris lies where nobody drives.
        "dyn-debris" => env.spec().parameter("debris").expect("it has debris").high,
        "dyn-robot-speed" => 0.1 * search.neutral,
        "dyn-max-speed" | "dyn-max-torque" => 0.05 * search.neutral,
        _ => search.neutral + 4.0 * search.step,
    };
    AnomalyCase { id, from, env, touches, neutral: search.neutral, gross }
}

/// Images make long episodes, and bodies have many sizes: of their anomalies, the quick tests take a few of each sort.
fn is_due(environment: &str, id: &str) -> bool {
    const FEW: [&str; 7] = [
        "obs-noise",
        "img-gaussian-noise",
        "img-motion-blur",
        "img-pixelate",
        "act-delay",
        "dyn-ball-speed",
        "dyn-screen-pixelate",
    ];
    let slow = std::env::var_os("RUN_SLOW_TESTS").is_some();
    // Each size of a limb builds the body anew; the quick tests take those of one limb.
    let is_size = id.ends_with("-length") || id.ends_with("-width");
    let due = !(BODIES.contains(&environment) && is_size) || id.starts_with("dyn-torso-");
    slow || due && (environment != "pong" || FEW.contains(&id))
}

#[test]
fn every_anomaly_obeys_the_laws_in_every_environment() {
    // Two threads share the environments; a failure in one of them is that of the test.
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || env::ENVS.iter().skip(half).step_by(2).for_each(obeys_the_laws));
        }
    });
}

fn obeys_the_laws(entry: &Entry<dyn Env>) {
    let env = match (entry.build)(&json!({})) {
        Err(BuildError::Missing(why)) => {
            return skips::skip(&format!("environment {}", entry.id), format!("anomalies: {why}"));
        }
        built => built.unwrap(),
    };
    let from = anomaly::catalogue();
    for id in anomaly::ids_for(env.spec()).into_iter().filter(|id| is_due(entry.id, id)) {
        let case = case_of(&id, env.as_ref(), &from);
        assert_lawful(&format!("{id} in {}", entry.id), &laws(&case, &[]));
    }
}

#[test]
fn several_at_once_act_in_their_order() {
    let mut env = environment();
    let spec =
        |anomaly: &str, params| AnomalySpec { anomaly: anomaly.into(), params, schedule: Schedule::WHOLE };
    let offset_then_scaled = spec(
        "obs-offset+obs-scaling+dyn-mass",
        json!([{"magnitude": 0.5}, {"magnitude": 2}, {"magnitude": 3}]),
    );
    let mut anomaly = offset_then_scaled.build(&anomaly::catalogue(), env.as_ref()).unwrap();
    anomaly.begin(env.as_mut(), &mut Rng::new(0));
    let mut obs = vec![1.0; env.spec().obs_width()];
    anomaly.on_observation(&mut obs, &mut Rng::new(0));
    assert!(obs.iter().all(|&o| o == 3.0), "{obs:?}");
    let refused = |anomaly, params| {
        spec(anomaly, params).build(&anomaly::catalogue(), environment().as_ref()).err().unwrap().to_string()
    };
    let error = refused("obs-offset+dyn-mas", json!([{"magnitude": 0.5}, {"magnitude": 1}]));
    assert!(error.contains("did you mean \"dyn-mass\"?"), "{error}");
}

#[test]
fn closed_forms() {
    assert_eq!(observed("obs-scaling", json!({"magnitude": 2.5}), 2.0, 2), [5.0, 5.0]);
    assert_eq!(observed("obs-offset", json!({"magnitude": -0.5}), 2.0, 2), [1.5, 1.5]);
    assert_eq!(observed("obs-drift", json!({"magnitude": 0.25}), 2.0, 3), [2.25, 2.5, 2.75]);
    assert_eq!(observed("obs-quantization", json!({"magnitude": 0.5}), 1.75, 1), [1.5]);
    assert_eq!(observed("obs-quantization", json!({"magnitude": 0.5}), -1.75, 1), [-2.0]);
    assert_eq!(acted("act-offset", json!({"magnitude": 0.25}), &[0.5]), [[0.75, -0.25]]);
    assert_eq!(
        acted("act-scaling", json!({"magnitude": 0.5, "channels": ["force_y"]}), &[0.5]),
        [[0.5, -0.25]]
    );
    let late = acted("act-delay", json!({"magnitude": 2}), &[0.1, 0.2, 0.3, 0.4]);
    assert_eq!(late.iter().map(|a| a[0]).collect::<Vec<_>>(), [0.1, 0.1, 0.1, 0.2]);
}

#[test]
fn magnitudes_count_in_the_unit_of_each_channel() {
    let env = environment();
    let disturbed = |id: &str, params: serde_json::Value, value: f32| {
        let mut anomaly = anomaly::catalogue().build(id, &params).unwrap();
        anomaly.fit(env.spec())?;
        let mut action = [value; 2];
        anomaly.on_action(&mut action, &mut Rng::new(0));
        Ok::<_, offnominal_core::anomaly::AnomalyError>(action)
    };
    let of = |params| disturbed("act-offset", params, 0.5);
    assert_eq!(of(json!({"magnitude": 2.0, "units": [0.25, 0.125]})).unwrap(), [1.0, 0.75]);
    // What never changes has no unit.
    assert_eq!(of(json!({"magnitude": 2.0, "units": [0.25, 0.0]})).unwrap(), [1.0, 0.5]);
    let refused =
        |found: Result<[f32; 2], offnominal_core::anomaly::AnomalyError>| found.unwrap_err().to_string();
    assert!(refused(of(json!({"magnitude": 1.0, "units": [1.0]}))).contains("expected 2 finite numbers"));
    assert!(refused(of(json!({"magnitude": 1.0, "units": [1.0, -1.0]}))).contains("from 0 on"));
    let delay = disturbed("act-delay", json!({"magnitude": 1, "units": [1.0, 1.0]}), 0.5);
    assert!(refused(delay).contains("units: expected none"));
}

#[test]
fn a_delay_remembers_the_actions_before_the_onset() {
    let mut env = environment();
    let mut delay = anomaly::catalogue().build("act-delay", &json!({"magnitude": 2})).unwrap();
    delay.fit(env.spec()).unwrap();
    (1..=5).for_each(|t| delay.watch(&[t as f32, 0.0]));
    delay.begin(env.as_mut(), &mut Rng::new(0));
    let mut action = [6.0, 0.0];
    delay.on_action(&mut action, &mut Rng::new(0));
    assert_eq!(action[0], 4.0);
}

#[test]
fn drift_and_wandering_noise_begin_anew_after_a_pause() {
    for (id, params) in [
        ("obs-drift", json!({"magnitude": 0.25})),
        ("obs-temporal-noise", json!({"magnitude": 1.0, "correlation": 0.99})),
    ] {
        let (mut env, mut anomaly) = (environment(), begun(id, params));
        let mut first = |anomaly: &mut dyn Anomaly| {
            let mut obs = vec![0.0; env.spec().obs_width()];
            anomaly.begin(env.as_mut(), &mut Rng::new(0));
            anomaly.on_observation(&mut obs, &mut Rng::new(5));
            obs
        };
        let before = first(anomaly.as_mut());
        let mut obs = before.clone();
        (0..20).for_each(|_| anomaly.on_observation(&mut obs, &mut Rng::new(6)));
        assert_eq!(first(anomaly.as_mut()), before, "{id}");
    }
}

fn mean(xs: &[f64]) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

/// Variance around zero, and correlation from step to step.
fn moments(xs: &[f32]) -> (f64, f64) {
    let xs: Vec<f64> = xs.iter().map(|&x| f64::from(x)).collect();
    let variance = mean(&xs.iter().map(|x| x * x).collect::<Vec<_>>());
    let lagged: Vec<f64> = xs.windows(2).map(|w| w[0] * w[1]).collect();
    (variance, mean(&lagged) / variance)
}

#[test]
fn white_noise_has_its_variance_and_no_memory() {
    let n = 100_000;
    let (variance, correlation) = moments(&observed("obs-noise", json!({"magnitude": 0.3}), 0.0, n));
    // Standard errors √(2/n) of the relative variance and 1/√n of the correlation; four of them.
    let error = 4.0 / (n as f64).sqrt();
    assert!((variance / 0.09 - 1.0).abs() < error * 2.0_f64.sqrt(), "{variance}");
    assert!(correlation.abs() < error, "{correlation}");
}

#[test]
fn wandering_noise_has_its_stationary_variance_and_correlation() {
    let (n, phi) = (200_000, 0.8_f64);
    let params = json!({"magnitude": 0.3, "correlation": phi});
    let (variance, correlation) = moments(&observed("obs-temporal-noise", params, 0.0, n));
    // Bartlett: relative variance has the standard error √(2 (1 + φ²) / (1 − φ²) / n), correlation √((1 − φ²) / n).
    let want = 0.09 / (1.0 - phi * phi);
    let error = 4.0 * (2.0 * (1.0 + phi * phi) / (1.0 - phi * phi) / n as f64).sqrt();
    assert!((variance / want - 1.0).abs() < error, "expected {want}, found {variance}");
    assert!((correlation - phi).abs() < 4.0 * ((1.0 - phi * phi) / n as f64).sqrt(), "{correlation}");
}

#[test]
fn wandering_noise_begins_with_its_first_innovation() {
    // Over many seeds, n₀ = ε₀ has the variance of ε, not the stationary one.
    let first = |seed| {
        let mut anomaly = begun("obs-temporal-noise", json!({"magnitude": 0.5}));
        let mut obs = vec![0.0; environment().spec().obs_width()];
        anomaly.on_observation(&mut obs, &mut Rng::new(seed));
        f64::from(obs[0]).powi(2)
    };
    let variance = mean(&(0..2000).map(first).collect::<Vec<_>>());
    assert!((variance / 0.25 - 1.0).abs() < 4.0 * (2.0 / 2000.0_f64).sqrt(), "{variance}");
}

#[track_caller]
fn refuses(id: &str, params: Value, want: &str) {
    let schedule = Schedule { onset: Onset::At(0), extent: Extent::ToEnd };
    let anomaly_spec = AnomalySpec { anomaly: id.into(), params, schedule };
    let error = anomaly_spec
        .build(&anomaly::catalogue(), environment().as_ref())
        .err()
        .expect("must be refused")
        .to_string();
    assert!(error.contains(want), "{error}");
}

#[test]
fn bad_recipes_are_refused_with_what_was_expected_and_found() {
    refuses(
        "obs-noise",
        json!({"magnitude": -0.1}),
        "expected a magnitude from 0 to 1e30 (beyond, 32-bit signals stop being finite), found -0.1",
    );
    refuses("obs-noise", json!({}), "missing field `magnitude`");
    refuses("obs-noise", json!({"magnitude": 1, "chanels": [0]}), "unknown field `chanels`");
    refuses("obs-noise", json!({"magnitude": 1, "channels": ["agent_z"]}), "did you mean \"agent_");
    refuses("obs-noise", json!(3), "invalid type");
    refuses("act-delay", json!({"magnitude": 1.5}), "a whole number from 0 to 10000, found 1.5");
    refuses("act-delay", json!({"magnitude": 1e18}), "a whole number from 0 to 10000");
    refuses("obs-quantization", json!({"magnitude": -1}), "a magnitude from 0 to 1e30");
    for id in ["act-temporal-noise", "obs-ar-noise"] {
        let params = json!({"magnitude": 1, "correlation": 1});
        refuses(id, params, "between -1 and 1, both excluded, found 1");
    }
    refuses("act-sine-drift", json!({"magnitude": 1, "period": 2}), "a finite period above 2 steps, found 2");
    refuses("obs-stuck", json!({"magnitude": 0.5}), "a whole number from 0 to 10000, found 0.5");
    refuses("obs-dropout", json!({"magnitude": 1.5}), "expected a magnitude from 0 to 1, found 1.5");
    refuses("obs-dropout", json!({"magnitude": 0.5, "fill": "nan"}), "unknown variant `nan`");
    refuses(
        "obs-noise",
        json!({"magnitude": 1, "channels": "some"}),
        "\"one\" or a list of channels, found \"some\"",
    );
    refuses("dyn-mas", json!({"magnitude": 2}), "did you mean \"dyn-mass\"?");
    refuses(
        "dyn-mass",
        json!({"magnitude": 0}),
        "parameter mass of sap-goal0: expected a value in [0.01, 1000], found 0",
    );
    refuses("dyn-mass", json!(3), "invalid type");
    refuses("obs-nose", json!({"magnitude": 1}), "did you mean \"obs-noise\"?");
}

#[test]
fn every_entry_says_what_it_is() {
    for a in ALL {
        let k = a.kind;
        assert!(
            [k.equation, k.magnitude, k.imitates, k.shows].iter().all(|t| !t.is_empty()),
            "{}",
            a.entry.id
        );
        assert!(k.reach.is_empty() == (k.class == Class::Dynamics), "{}", a.entry.id);
    }
}
