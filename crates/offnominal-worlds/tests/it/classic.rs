//! Cartpole and pendulum against Gymnasium, transition by transition (`golden/make_classic.py`), and against themselves
//! in a batch.

use offnominal_core::prelude::*;
use offnominal_worlds::env::{Batch, Cartpole, Motion, Pendulum, catalogue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Golden {
    gymnasium: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    environment: String,
    parameters: BTreeMap<String, f64>,
    options: Value,
    /// State, action, next state, reward, whether the episode ended.
    rows: Vec<Vec<f64>>,
}

impl Case {
    fn environment(&self) -> Box<dyn Env> {
        let mut env = catalogue().build(&self.environment, &self.options).unwrap();
        for (name, value) in &self.parameters {
            env.set_parameter(name, *value).unwrap();
        }
        env
    }

    /// Steps that differ from the golden ones.
    fn differing(&self) -> usize {
        let mut env = self.environment();
        self.rows.iter().filter(|row| !self.agrees(env.as_mut(), row)).count()
    }

    /// Whether a step gives the golden reward and, through what is observed, the golden state.
    fn agrees(&self, env: &mut dyn Env, row: &[f64]) -> bool {
        let n = (row.len() - 3) / 2;
        let (before, action, after) = (&row[..n], row[n], &row[n + 1..=2 * n]);
        let [reward, ended] = [row[2 * n + 1], row[2 * n + 2]];
        env.start(before, &mut Rng::new(0));
        let step = env.step(&[action as f32], &mut Rng::new(0));
        let is_over = step.status == Status::Failed;
        bits(&self.environment, env, after) && close(step.reward, reward) && is_over == (ended == 1.0)
    }
}

/// Whether the environment is at `state` to the last bit of every observation.
fn bits(environment: &str, env: &dyn Env, state: &[f64]) -> bool {
    let mut seen = vec![0.0; env.spec().obs_width()];
    env.observe(&mut seen);
    let want: Vec<f32> = match environment {
        "cartpole" => state.iter().map(|&s| s as f32).collect(),
        _ => vec![state[0].cos() as f32, state[0].sin() as f32, state[1] as f32],
    };
    seen == want
}

/// One unit in the last place: a square here is a product, there a call of `pow`.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2.0 * f64::EPSILON * b.abs()
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/classic.json")).unwrap()
}

#[test]
fn every_transition_is_that_of_gymnasium() {
    let golden = golden();
    assert_eq!((golden.gymnasium.as_str(), golden.cases.len()), ("1.1.1", 36));
    for case in &golden.cases {
        assert!(case.rows.len() > 12, "{:?}", case.parameters);
        assert_eq!(case.differing(), 0, "{} {:?} {}", case.environment, case.parameters, case.options);
    }
}

/// The law of motion itself, in double precision: whole rollouts, so that an error of one bit would grow.
#[track_caller]
fn same_states<M: Motion>(motion: M, case: &Case) {
    let mut motion = motion;
    case.parameters.iter().for_each(|(name, &value)| motion.set(name, value));
    for row in &case.rows {
        let n = (row.len() - 3) / 2;
        let mut state = M::state(&row[..n]);
        motion.advance(&mut state, row[n] as f32);
        assert_eq!(M::numbers(&state), row[n + 1..=2 * n], "{:?}", case.parameters);
    }
}

#[test]
fn states_are_the_same_bits() {
    for case in golden().cases.iter().filter(|c| c.options == json!({})) {
        match case.environment.as_str() {
            "cartpole" => same_states(Cartpole::default(), case),
            _ => same_states(Pendulum::default(), case),
        }
    }
}

#[test]
fn a_wrong_constant_would_be_seen() {
    let notices = |mut case: Case| {
        let gravity = case.environment().spec().parameter("gravity").unwrap().nominal;
        let was = case.parameters.get("gravity").copied().unwrap_or(gravity);
        case.parameters.insert("gravity".into(), was + 0.3);
        case.differing() > 0
    };
    // A pendulum of 5 cm is always at the limit of its speed, whatever pulls.
    let blind = |case: &Case| case.options == json!({}) && case.parameters.get("length") == Some(&0.05);
    assert!(golden().cases.into_iter().all(|case| blind(&case) || notices(case)));
}

/// A batch and single environments, driven by the same actions, observe the same bits.
#[track_caller]
fn batch_equals_singles<M: Motion>(motion: M, id: &str, action: fn(usize) -> f32) {
    let (n, mut rng) = (5, Rng::new(3));
    let mut batch = Batch::new(motion, n, &mut rng.clone());
    let mut singles: Vec<Box<dyn Env>> = (0..n).map(|_| catalogue().build(id, &json!({})).unwrap()).collect();
    for env in &mut singles {
        let x = env.draw(&mut rng);
        env.start(&x, &mut Rng::new(0));
    }
    let width = singles[0].spec().obs_width();
    let (mut steps, mut together, mut alone) = (Vec::new(), vec![0.0; n * width], vec![0.0; width]);
    for t in 0..30 {
        let actions: Vec<f32> = (0..n).map(|i| action(7 * t + i)).collect();
        batch.step(&actions, &mut steps);
        batch.observe(width, &mut together);
        for (i, env) in singles.iter_mut().enumerate() {
            assert_eq!(env.step(&actions[i..=i], &mut Rng::new(0)), steps[i]);
            env.observe(&mut alone);
            assert_eq!(alone, together[i * width..][..width]);
        }
    }
}

#[test]
fn a_batch_moves_through_the_same_bits() {
    batch_equals_singles(Cartpole::default(), "cartpole", |k| (k % 2) as f32);
    batch_equals_singles(Pendulum::default(), "pendulum", |k| (k as f32).sin() * 2.0);
}

#[test]
fn options_are_read_and_wrong_ones_refused() {
    let refused = |id: &str, params| catalogue().build(id, &params).err().unwrap().to_string();
    assert!(refused("pendulum", json!({"integrator": "legasy"})).contains("expected `clipped` or `legacy`"));
    assert!(refused("cartpole", json!({"gravity": 2})).contains("unknown field `gravity`"));
    let mut env = catalogue().build("cartpole", &json!({"sutton_barto_reward": true})).unwrap();
    env.start(&[2.39, 3.0, 0.0, 0.0], &mut Rng::new(0));
    assert_eq!(env.step(&[0.0], &mut Rng::new(0)), Step { reward: -1.0, status: Status::Failed });
    assert_eq!(env.goal_met(), Some(false));
}

#[test]
fn actions_beyond_two_need_a_stronger_motor() {
    let after = |max_torque: f64, action: f32| {
        let mut env = catalogue().build("pendulum", &json!({})).unwrap();
        env.set_parameter("max-torque", max_torque).unwrap();
        env.start(&[1.0, 0.0], &mut Rng::new(0));
        env.step(&[action], &mut Rng::new(0));
        let mut seen = [0.0; 3];
        env.observe(&mut seen);
        seen
    };
    assert_eq!(after(40.0, 2.0), after(2.0, 2.0), "what makes a larger limit a null control");
    assert_eq!(after(0.5, 2.0), after(2.0, 0.5));
}
