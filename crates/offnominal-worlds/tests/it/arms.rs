//! Steps of the three arms against the official Python package of MuJoCo (`golden/make_arms.py`).

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    mujoco: String,
    episodes: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    environment: String,
    initial: Vec<f64>,
    actions: Vec<Vec<f32>>,
    steps: Vec<Want>,
}

/// What is seen after so many steps, and the reward of the last one.
#[derive(Deserialize)]
struct Want {
    after: usize,
    reward: f64,
    observation: Vec<f32>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/arms.json")).unwrap()
}

/// Largest difference of an observation or a reward, for an environment in which `change` was made.
fn largest_difference(case: &Case, change: impl Fn(&mut dyn Env)) -> f64 {
    let (mut environment, mut rng) =
        (catalogue().build(&case.environment, &serde_json::json!({})).unwrap(), Rng::new(0));
    change(environment.as_mut());
    environment.start(&case.initial, &mut rng);
    let mut obs = vec![0.0; environment.spec().observation.len()];
    let (mut largest, mut wanted) = (0.0_f64, case.steps.iter());
    for (t, action) in case.actions.iter().enumerate() {
        let step = environment.step(action, &mut rng);
        if (t + 1) % 6 == 0 {
            let want = wanted.next().unwrap();
            assert_eq!(want.after, t + 1);
            environment.observe(&mut obs);
            let off = obs.iter().zip(&want.observation).map(|(a, b)| f64::from((a - b).abs()));
            largest = off.fold(largest.max((step.reward - want.reward).abs()), f64::max);
        }
    }
    largest
}

#[test]
fn the_arms_move_as_in_the_independent_computation() {
    let golden = golden();
    assert_eq!(golden.mujoco, offnominal_mujoco::VERSION);
    assert_eq!(golden.episodes.len(), 3);
    for case in &golden.episodes {
        let off = largest_difference(case, |_| ());
        assert!(off < 1e-6, "{}: off by {off:e}", case.environment);
    }
}

#[test]
fn a_changed_arm_does_not_pass() {
    let changes = [("mass", 1.001), ("robot-friction", 1.01), ("robot-friction", 1.01)];
    for (case, (name, value)) in golden().episodes.iter().zip(changes) {
        let off = largest_difference(case, |environment| environment.set_parameter(name, value).unwrap());
        assert!(off > 1e-6, "{}: {name} = {value} passes", case.environment);
    }
}

#[test]
fn the_scripted_carrier_holds_the_block_in_the_golden_episode() {
    let golden = golden();
    let last = &golden.episodes[2].steps.last().unwrap().observation;
    // Channel 12 is the height of the block: an episode in which it lay on the table would test little.
    assert!(last[12] > 0.1, "the block is at {} m", last[12]);
}
