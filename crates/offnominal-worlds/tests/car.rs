//! The lane-keeping world: what its channels mean, what ends an episode, and that it can be driven.

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;
use serde_json::json;

const TARGET_MPS: f64 = 50.0 / 3.6;

fn world() -> Box<dyn Env> {
    catalogue().build("car-lanekeep", &json!({})).unwrap()
}

/// A world started at position, lane, offset, heading, speed, gap and speed ahead.
fn started(x: [f64; 7]) -> Box<dyn Env> {
    let mut env = world();
    env.start(&x, &mut Rng::new(0));
    env
}

/// In the middle of a lane at 50 km/h, with nobody near.
const QUIET: [f64; 7] = [0.0, 1.0, 0.0, 0.0, TARGET_MPS, 120.0, 14.0];

fn with(mut x: [f64; 7], entry: usize, value: f64) -> Box<dyn Env> {
    x[entry] = value;
    started(x)
}

fn observed(env: &dyn Env) -> [f32; 9] {
    let mut obs = [f32::NAN; 9];
    env.observe(&mut obs);
    obs
}

/// The observation after so many steps of an action.
fn after(env: &mut dyn Env, action: [f32; 2], steps: usize) -> [f32; 9] {
    (0..steps).for_each(|_| {
        env.step(&action, &mut Rng::new(0));
    });
    observed(env)
}

/// A driver written by hand: steers against offset and heading, keeps the speed and the distance.
fn driver(obs: &[f32; 9]) -> [f32; 2] {
    let [speed, target, _, heading, offset, gap, closing, throttle, steering] = *obs;
    let (v, v0) = (speed * 100.0 / 3.6, target * 100.0 / 3.6);
    let follow = 0.2 * (gap - 4.0 - 1.2 * v) + 0.8 * closing;
    let wanted = (0.8 * (v0 - v)).min(follow);
    let pedal = if wanted > -0.2 { (wanted + 0.2) / 3.5 } else { (wanted + 0.2) / 10.0 };
    let wheel = -0.2 * offset - 2.0 * heading;
    [10.0 * (pedal - throttle), 10.0 * (wheel - steering)].map(|a| a.clamp(-1.0, 1.0))
}

/// Lets the hand-written driver drive; returns the number of steps, the return and whether the goal was met.
fn driven(env: &mut dyn Env, seed: u64) -> (usize, f64, bool) {
    let mut rng = Rng::new(seed);
    let x = env.draw(&mut rng);
    env.start(&x, &mut rng);
    let (mut steps, mut total) = (0, 0.0);
    while steps < 500 {
        let step = env.step(&driver(&observed(env)), &mut rng);
        (steps, total) = (steps + 1, total + step.reward);
        if step.status != Status::Running {
            break;
        }
    }
    (steps, total, env.goal_met() == Some(true))
}

/// Episodes, of 40, that the hand-written driver ends with the goal met.
fn good_episodes(parameter: &str, value: f64) -> usize {
    let mut env = world();
    env.set_parameter(parameter, value).unwrap();
    (0..40).filter(|&seed| driven(env.fork().unwrap().as_mut(), seed).2).count()
}

#[test]
fn a_driver_written_by_hand_keeps_lane_speed_and_distance() {
    let mut total = 0.0;
    for seed in 0..40 {
        let (steps, reward, good) = driven(world().as_mut(), seed);
        assert!(steps == 500 && good, "seed {seed}: {steps} steps, goal met: {good}");
        total += reward / 40.0;
    }
    println!("mean return {total}");
    assert!(total > -60.0, "{total}");
}

#[test]
fn other_courses_can_be_driven_too() {
    for course in 2..8 {
        let mut env = catalogue().build("car-lanekeep", &json!({ "course": course })).unwrap();
        let (steps, _, good) = driven(env.as_mut(), 1);
        assert!(steps == 500 && good, "course {course}: {steps} steps");
    }
}

#[test]
fn a_slippery_road_and_weak_wheels_or_brakes_are_felt() {
    for (parameter, value, at_most) in
        [("tyre-friction", 0.1, 20), ("steering-gain", 0.1, 20), ("brake-gain", 0.0, 36)]
    {
        let good = good_episodes(parameter, value);
        assert!(good <= at_most, "{parameter} = {value}: {good} of 40");
    }
}
