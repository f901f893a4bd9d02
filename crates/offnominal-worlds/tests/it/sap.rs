//! The particle environments: rewards, endings and parameters.

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;
use serde_json::json;

fn environment(id: &str) -> Box<dyn Env> {
    catalogue().build(id, &json!({})).unwrap()
}

/// An environment started at the given places.
fn started(id: &str, x: &[f64]) -> Box<dyn Env> {
    let mut env = environment(id);
    env.start(x, &mut Rng::new(0));
    env
}

fn observed(env: &dyn Env) -> Vec<f32> {
    let mut obs = vec![f32::NAN; env.spec().obs_width()];
    env.observe(&mut obs);
    obs
}

#[test]
fn widths_are_those_of_the_card() {
    let widths = |id| {
        let spec = environment(id).spec().clone();
        (spec.obs_width(), spec.action.len(), spec.initial.len())
    };
    assert_eq!(widths("sap-goal0"), (14, 2, 6));
    assert_eq!(widths("sap-goal1"), (22, 2, 12));
    assert_eq!(widths("sap-goal2"), (22, 2, 30));
}

#[test]
fn reaching_the_goal_untouched_succeeds() {
    // 0.25 m east of the goal, the object far away. One full step west: v = −0.5, x = 0.2 − … < goal radius.
    let mut env = started("sap-goal0", &[0.24, 0.0, 0.0, 0.0, 5.0, 5.0]);
    let step = env.step(&[-1.0, 0.0], &mut Rng::new(0));
    assert_eq!(step.status, Status::Succeeded);
    assert!((step.reward - (5.0 - 0.19_f64.powi(2))).abs() < 1e-12, "{step:?}");
    assert_eq!(env.goal_met(), Some(true));
}

#[test]
fn reaching_the_goal_after_a_touch_fails() {
    // The object touches the agent at the start and is pushed away; the goal is then reached all the same.
    let mut env = started("sap-goal0", &[0.5, 0.0, 0.0, 0.0, 0.64, 0.0]);
    let mut rng = Rng::new(0);
    let rewards: Vec<Step> = (0..10)
        .map(|_| env.step(&[-1.0, 0.0], &mut rng))
        .take_while(|s| s.status == Status::Running)
        .collect();
    assert!(rewards.len() < 9, "the goal was never reached");
    assert_eq!(env.goal_met(), Some(false));
}

#[test]
fn a_hazard_costs_ten_and_does_not_resist() {
    let x = [0.0, 0.0, 2.0, 0.0, 5.0, 5.0, 6.0, 6.0, 7.0, 7.0, 0.1, 0.0];
    let mut env = started("sap-goal1", &x);
    let step = env.step(&[0.0, 0.0], &mut Rng::new(0));
    assert_eq!((step.reward, step.status), (-4.0 - 10.0, Status::Running));
    assert_eq!(observed(env.as_ref())[..4], [0.0; 4]);
}

#[test]
fn actions_are_clipped_and_a_non_number_diverges() {
    let x = [0.0, 0.0, 2.0, 0.0, 5.0, 5.0];
    let after = |action: [f32; 2]| {
        let mut env = started("sap-goal0", &x);
        (env.step(&action, &mut Rng::new(0)), observed(env.as_ref()))
    };
    assert_eq!(after([7.0, f32::NEG_INFINITY]), after([1.0, -1.0]));
    assert_eq!(after([f32::NAN, 0.0]).0.status, Status::Diverged);
    assert!(after([f32::NAN, 0.0]).1.iter().all(|v| v.is_finite()));
}

#[test]
fn a_force_is_an_action_offset_unless_the_action_is_clipped() {
    let x = [0.0, 0.0, 2.0, 0.0, 5.0, 5.0];
    let pushed = |force: f64, action: [f32; 2]| {
        let mut env = started("sap-goal0", &x);
        env.set_parameter("force", force).unwrap();
        env.step(&action, &mut Rng::new(0));
        observed(env.as_ref())
    };
    assert_eq!(pushed(2.5, [0.25, -0.5]), pushed(0.0, [0.75, 0.0]));
    assert_ne!(pushed(2.5, [-1.0, 1.0]), pushed(0.0, [-0.5, 1.5]));
}

#[test]
fn objects_move_only_when_told_to_and_differently_each_time() {
    let x = [0.0, 0.0, 2.0, 0.0, 0.5, 0.5];
    let lidar = |bound: f64, seed: u64| {
        let mut env = started("sap-goal0", &x);
        env.set_parameter("moving-objects", bound).unwrap();
        let mut rng = Rng::new(seed);
        (0..5).for_each(|_| {
            env.step(&[0.0, 0.0], &mut rng);
        });
        observed(env.as_ref())[6..].to_vec()
    };
    assert_eq!(lidar(0.0, 1), lidar(0.0, 2));
    assert_ne!(lidar(3.0, 1), lidar(3.0, 2));
    assert_ne!(lidar(3.0, 1), lidar(0.0, 1));
}

#[test]
fn options_and_bad_names_are_refused_with_a_hint() {
    let refused = |id: &str, params| catalogue().build(id, &params).err().unwrap().to_string();
    assert!(refused("sap-goal3", json!({})).contains("did you mean \"sap-goal"));
    assert!(refused("sap-goal0", json!({"mass": 2})).contains("unknown field `mass`"));
    let error = environment("sap-goal0").set_parameter("masss", 1.0).unwrap_err().to_string();
    assert!(error.contains("did you mean \"mass\"?"), "{error}");
}
