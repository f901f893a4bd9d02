//! The lane-keeping environment: what its channels mean, what ends an episode, and that it can be driven.

use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;
use serde_json::json;

const TARGET_MPS: f64 = 50.0 / 3.6;

fn environment() -> Box<dyn Env> {
    catalogue().build("car-lanekeep", &json!({})).unwrap()
}

/// An environment started at position, lane, offset, heading, speed, gap and speed ahead.
fn started(x: [f64; 7]) -> Box<dyn Env> {
    let mut env = environment();
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
    let mut env = environment();
    env.set_parameter(parameter, value).unwrap();
    (0..40).filter(|&seed| driven(env.fork().unwrap().as_mut(), seed).2).count()
}

#[test]
fn a_driver_written_by_hand_keeps_lane_speed_and_distance() {
    let mut total = 0.0;
    for seed in 0..40 {
        let (steps, reward, good) = driven(environment().as_mut(), seed);
        assert!(steps == 500 && good, "seed {seed}: {steps} steps, goal met: {good}");
        total += reward / 40.0;
    }
    println!("mean return {total}");
    assert!(total > -60.0, "{total}");
}

#[test]
fn other_courses_can_be_driven_too() {
    for track in 2..8 {
        let mut env = catalogue().build("car-lanekeep", &json!({ "track": track })).unwrap();
        let (steps, _, good) = driven(env.as_mut(), 1);
        assert!(steps == 500 && good, "track {track}: {steps} steps");
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

#[test]
fn each_channel_means_what_the_card_says() {
    let quiet = observed(started(QUIET).as_ref());
    assert_eq!(quiet, [0.5, 0.5, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0]);
    assert_eq!(observed(with(QUIET, 4, 10.0).as_ref())[0], 0.36);
    assert_eq!(observed(with(QUIET, 3, 0.2).as_ref())[3], 0.2);
    for lane in 0..4 {
        let mut x = QUIET;
        (x[1], x[2]) = (f64::from(lane), -0.4);
        assert!((observed(started(x).as_ref())[4] + 0.4).abs() < 1e-6, "lane {lane}");
    }
}

#[test]
fn the_gap_is_to_the_vehicle_ahead_and_closing_is_negative_when_it_is_slower() {
    let near = with(QUIET, 5, 30.0);
    let mut slow = [QUIET; 2];
    (slow[1][5], slow[1][6]) = (30.0, 5.0);
    let found = observed(started(slow[1]).as_ref());
    assert!((observed(near.as_ref())[5] - 30.0).abs() < 1e-4 && (found[5] - 30.0).abs() < 1e-4);
    assert!(found[6] < -8.0 && found[6] > -12.0, "{}", found[6]);
    let later = after(started(slow[1]).as_mut(), [0.0, 0.0], 20);
    assert!((later[5] - 30.0 - found[6]).abs() < 2.0, "closing in for a second: {}", later[5]);
}

#[test]
fn actions_accumulate_by_tenths_and_saturate() {
    let mut env = started(QUIET);
    let once = after(env.as_mut(), [1.0, -0.5], 1);
    assert!((once[7] - 0.1).abs() < 1e-6 && (once[8] + 0.05).abs() < 1e-6);
    let clipped = after(started(QUIET).as_mut(), [7.0, -9.0], 1);
    assert!((clipped[7] - 0.1).abs() < 1e-6 && (clipped[8] + 0.1).abs() < 1e-6);
    assert_eq!(after(env.as_mut(), [1.0, 0.0], 30)[7], 1.0);
}

#[test]
fn throttle_speeds_up_brakes_slow_down_and_left_is_left() {
    let rolling = after(started(QUIET).as_mut(), [0.0, 0.0], 10);
    let faster = after(started(QUIET).as_mut(), [1.0, 0.0], 10);
    let slower = after(started(QUIET).as_mut(), [-1.0, 0.0], 10);
    assert!(slower[0] < rolling[0] && rolling[0] < faster[0] && slower[2] > 5.0, "{slower:?}");
    let left = after(started(QUIET).as_mut(), [0.0, 0.3], 4);
    let right = after(started(QUIET).as_mut(), [0.0, -0.3], 4);
    assert!(left[3] > 0.0 && right[3] < 0.0 && left[4] > right[4], "{left:?} {right:?}");
}

#[test]
fn the_reward_is_that_of_the_card() {
    let mut env = with(QUIET, 2, 0.5);
    let reward = env.step(&[0.6, -0.8], &mut Rng::new(0)).reward;
    let [speed, target, _, heading, offset, ..] = observed(env.as_ref()).map(f64::from);
    let want = -(speed - target).abs() - 0.1 * (heading.abs() + offset.abs()) - 0.01;
    assert!((reward - want).abs() < 1e-6, "expected {want}, found {reward}");
}

/// The step that ends an episode of a constant action, and its number.
fn end(mut env: Box<dyn Env>, action: [f32; 2]) -> (usize, Step) {
    for t in 0..500 {
        let step = env.step(&action, &mut Rng::new(0));
        if step.status != Status::Running {
            assert_eq!(env.goal_met(), Some(false));
            return (t, step);
        }
    }
    panic!("the episode does not end");
}

#[test]
fn leaving_the_lane_turning_away_and_touching_end_the_episode() {
    let failed = Step { reward: -100.0, status: Status::Failed };
    assert_eq!(end(with(QUIET, 2, 1.51), [0.0, 0.0]), (0, failed));
    assert_eq!(end(with(QUIET, 3, -0.8), [0.0, 0.0]), (0, failed));
    let mut slow = QUIET;
    (slow[5], slow[6]) = (8.0, 2.0);
    let (t, step) = end(started(slow), [0.2, 0.0]);
    // 8 m at 12 m/s and growing: less than a second.
    assert!(step == failed && (8..20).contains(&t), "{t} {step:?}");
    assert_eq!(with(QUIET, 2, 1.4).step(&[0.0, 0.0], &mut Rng::new(0)).status, Status::Running);
}

#[test]
fn an_action_that_is_not_a_number_diverges_and_leaves_readings_finite() {
    for action in [[f32::NAN, 0.0], [0.0, f32::NAN]] {
        let mut env = started(QUIET);
        assert_eq!(env.step(&action, &mut Rng::new(0)).status, Status::Diverged);
        assert!(observed(env.as_ref()).iter().all(|v| v.is_finite()));
    }
}

#[test]
fn every_channel_but_the_target_varies() {
    let mut env = environment();
    let (mut low, mut high) = ([f32::INFINITY; 9], [f32::NEG_INFINITY; 9]);
    for seed in 0..4 {
        let mut rng = Rng::new(seed);
        let x = env.draw(&mut rng);
        env.start(&x, &mut rng);
        for _ in 0..200 {
            let obs = observed(env.as_ref());
            (0..9).for_each(|i| (low[i], high[i]) = (low[i].min(obs[i]), high[i].max(obs[i])));
            env.step(&driver(&obs), &mut rng);
        }
    }
    let constant: Vec<usize> = (0..9).filter(|&i| low[i] == high[i]).collect();
    assert_eq!(constant, [1]);
}

#[test]
fn bad_options_and_names_are_refused_with_a_hint() {
    let refused = catalogue().build("car-lanekeep", &json!({"trakc": 2})).err().unwrap().to_string();
    assert!(refused.contains("unknown field `trakc`") && refused.contains("track"), "{refused}");
    let error = environment().set_parameter("break-gain", 1.0).unwrap_err().to_string();
    assert!(error.contains("did you mean \"brake-gain\"?"), "{error}");
    assert!(environment().set_parameter("tyre-friction", 0.0).is_err());
}

fn shown(env: &mut dyn Env, camera: usize) -> Frame {
    let mut frame = Frame::new(128, 128);
    env.render(Camera(camera), &mut frame);
    frame
}

fn class(name: &str) -> u8 {
    environment().spec().classes.iter().position(|c| c == name).unwrap() as u8
}

#[test]
fn images_show_the_road_below_and_the_vehicle_ahead() {
    let frame = shown(with(QUIET, 5, 12.0).as_mut(), 0);
    assert!((frame.share(class("sky")) - 0.5).abs() < 0.02);
    let (lower_edge, lanes) = (&frame.classes[127 * 128..], [class("road"), class("marking")]);
    assert!(lower_edge.iter().all(|c| lanes.contains(c)), "{lower_edge:?}");
    for name in ["sky", "grass", "shoulder", "road", "marking", "barrier", "vehicle"] {
        assert!(frame.share(class(name)) > 0.0, "no {name}");
    }
    let (column, row) = frame.centroid(class("vehicle")).unwrap();
    assert!((55.0..73.0).contains(&column) && (62.0..80.0).contains(&row), "({column}, {row})");
    // Right ahead, where no other vehicle is.
    let vehicle = class("vehicle");
    let ahead = |frame: &Frame| {
        let is_ahead = |at: &usize| (58..70).contains(&(at % 128)) && frame.classes[*at] == vehicle;
        (0..frame.classes.len()).filter(is_ahead).count()
    };
    let farther = ahead(&shown(with(QUIET, 5, 40.0).as_mut(), 0));
    assert!((1..ahead(&frame) / 2).contains(&farther), "{farther} of {}", ahead(&frame));
}

#[test]
fn a_car_that_points_left_sees_the_vehicle_ahead_on_its_right() {
    let mut x = QUIET;
    (x[3], x[5]) = (0.3, 10.0);
    let turned = shown(started(x).as_mut(), 0).centroid(class("vehicle")).unwrap().0;
    assert!(turned > 75.0, "{turned}");
}

#[test]
fn the_chase_camera_sees_the_car_and_the_bumper_camera_does_not() {
    let mut env = started(QUIET);
    let (column, row) = shown(env.as_mut(), 1).centroid(class("car")).unwrap();
    assert!((column - 63.5).abs() < 1.0 && (64.0..90.0).contains(&row), "({column}, {row})");
    assert_eq!(shown(env.as_mut(), 0).share(class("car")), 0.0);
}

#[test]
fn an_image_shows_the_scene_and_not_the_clock() {
    let mut env = started(QUIET);
    let before = shown(env.as_mut(), 0);
    assert!(before == shown(env.fork().unwrap().as_mut(), 0), "a fork sees the same");
    // Speed, actions and conditions are not in the scene.
    let mut faster = with(QUIET, 4, 20.0);
    faster.set_parameter("tyre-friction", 0.1).unwrap();
    assert!(before == shown(faster.as_mut(), 0));
    env.step(&[0.0, 0.0], &mut Rng::new(0));
    assert!(before != shown(env.as_mut(), 0), "a step moves the scene");
}

#[test]
fn debris_is_seen_by_the_cameras_alone_until_it_is_touched() {
    let (mut clear, mut strewn) = (started(QUIET), started(QUIET));
    strewn.set_parameter("debris", 20.0).unwrap();
    assert_eq!(observed(clear.as_ref()), observed(strewn.as_ref()));
    let debris = class("debris");
    assert_eq!(shown(clear.as_mut(), 0).share(debris), 0.0);
    let (few, many) = (shown(with_debris(3.0).as_mut(), 0), shown(strewn.as_mut(), 0));
    assert!(many.share(debris) > 0.005 && many.share(debris) > few.share(debris) && few.share(debris) > 0.0);
    // An image without it differs where it is seen, and in a few pixels that it shares with others.
    let plain = shown(clear.as_mut(), 0);
    let changed: Vec<usize> =
        (0..plain.classes.len()).filter(|&at| plain.classes[at] != many.classes[at]).collect();
    let elsewhere = changed.iter().filter(|&&at| many.classes[at] != debris).count();
    assert!(!changed.is_empty() && 20 * elsewhere < changed.len(), "{elsewhere} of {}", changed.len());
}

fn with_debris(density: f64) -> Box<dyn Env> {
    let mut env = started(QUIET);
    env.set_parameter("debris", density).unwrap();
    env
}

#[test]
fn denser_debris_is_touched_more_often_and_ends_the_episode() {
    let good = [0.0, 0.5, 4.0].map(|density| good_episodes("debris", density));
    assert!(good[0] == 40 && good[1] < 40 && good[2] < good[1], "{good:?} of 40");
    // Between the lanes there is a way past some of it, but not past all.
    let mut env = with_debris(20.0);
    let last =
        (0..200).map(|_| env.step(&[0.0, 0.0], &mut Rng::new(0))).find(|s| s.status != Status::Running);
    assert!(last.is_some_and(|step| step.status == Status::Failed && step.reward == -100.0));
}

#[test]
fn steps_readings_and_images_allocate_nothing() {
    let (mut env, mut rng, mut obs) = (started(QUIET), Rng::new(0), [0.0; 9]);
    let mut frame = Frame::new(64, 64);
    let mut once = |env: &mut dyn Env| {
        env.step(&[0.01, 0.0], &mut rng);
        env.observe(&mut obs);
        env.render(Camera(1), &mut frame);
    };
    let count = |work: &mut dyn FnMut()| allocation_counter::measure(work).count_total;
    assert!(count(&mut || once(env.as_mut())) > 0, "the first image makes the buffers, so the counter works");
    assert_eq!(count(&mut || (0..50).for_each(|_| once(env.as_mut()))), 0);
}
