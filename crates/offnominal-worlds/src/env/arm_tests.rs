//! What is where in the images of the three arms, and what their joints can and cannot do.

use super::catalogue;
use super::mjc_tests::Image;
use offnominal_core::prelude::*;

const HOME: [f64; 3] = [-0.131, 0.299, 0.153];

fn reacher(target: [f64; 3]) -> Image {
    Image::of("mjc-reacher3d", &target)
}

fn reach(goal: [f64; 3]) -> Image {
    Image::of("urm-reach", &[goal; 4].concat())
}

fn carrier(block: [f64; 3], goal: [f64; 3]) -> Image {
    Image::of("urm-pnp", &[block, goal].concat())
}

#[track_caller]
fn has_shares(image: &Image, wanted: &[(&str, f64, f64)]) {
    for &(class, least, most) in wanted {
        let share = image.share(class);
        assert!((least..most).contains(&share), "{class}: {share}");
    }
}

#[test]
fn every_class_of_the_arms_has_its_share() {
    has_shares(
        &reacher([0.3, 0.25, 0.1]),
        &[
            ("floor", 0.8, 0.95),
            ("shoulder", 0.04, 0.12),
            ("upper-arm", 0.01, 0.05),
            ("forearm", 0.008, 0.03),
            ("hand", 0.003, 0.015),
            ("target", 0.001, 0.006),
        ],
    );
    has_shares(
        &carrier([0.1, 0.35, 0.1], [0.1, 0.3, 0.2]),
        &[
            ("table", 0.2, 0.35),
            ("arm", 0.05, 0.12),
            ("gripper", 0.008, 0.03),
            ("goal", 0.0005, 0.005),
            ("block", 0.004, 0.02),
        ],
    );
}

#[test]
fn the_reachers_target_is_where_it_was_put() {
    let [here, right, up] =
        [[0.3, 0.3, 0.1], [0.4, 0.3, 0.1], [0.3, 0.3, 0.2]].map(|t| reacher(t).centroid("target"));
    assert!(right.0 > here.0 + 5.0 && (right.1 - here.1).abs() < 1.0, "{here:?} {right:?}");
    assert!(up.1 < here.1 - 3.0 && (up.0 - here.0).abs() < 1.0, "{here:?} {up:?}");
}

#[test]
fn the_front_camera_looks_at_the_robot_so_left_and_right_are_swapped() {
    let [here, left, up] =
        [[0.0, 0.3, 0.1], [0.1, 0.3, 0.1], [0.0, 0.3, 0.2]].map(|g| reach(g).centroid("goal"));
    assert!(left.0 < here.0 - 5.0 && (left.1 - here.1).abs() < 1.0, "{here:?} {left:?}");
    assert!(up.1 < here.1 - 5.0 && (up.0 - here.0).abs() < 2.0, "{here:?} {up:?}");
    let image = carrier([0.1, 0.35, 0.1], HOME);
    assert!(image.centroid("block").0 < image.centroid("gripper").0);
    assert!(image.centroid("arm").1 < image.centroid("gripper").1, "the gripper hangs below the arm");
}

#[test]
fn a_carried_block_rises_in_the_image_with_the_gripper() {
    let mut environment = catalogue().build("urm-pnp", &serde_json::json!({})).unwrap();
    let mut policy = crate::demonstrator::of("urm-pnp").unwrap();
    let (mut obs, mut action, mut rng) = ([0.0; 17], [0.0; 4], Rng::new(0));
    environment.start(&[0.0, 0.3, 0.0, 0.0, 0.3, 0.2], &mut rng);
    let before = Image::now(environment.as_mut());
    for _ in 0..120 {
        environment.observe(&mut obs);
        policy.act(&obs, &mut action, &mut rng);
        environment.step(&action, &mut rng);
    }
    let after = Image::now(environment.as_mut());
    let (lay, hangs, gripper) =
        (before.centroid("block"), after.centroid("block"), after.centroid("gripper"));
    assert!(hangs.1 < lay.1 - 10.0, "{lay:?} {hangs:?}");
    assert!((hangs.0 - gripper.0).abs() < 3.0 && gripper.1 < hangs.1, "{hangs:?} {gripper:?}");
}

/// Observations of an environment under actions that depend on the time only.
fn readings(id: &str, steps: usize, action: impl Fn(usize, usize) -> f32) -> Vec<Vec<f32>> {
    let mut environment = catalogue().build(id, &serde_json::json!({})).unwrap();
    let x = environment.draw(&mut Rng::new(1));
    environment.start(&x, &mut Rng::new(1));
    let (mut obs, width) = (vec![0.0; environment.spec().observation.len()], environment.spec().action.len());
    let mut look = |t: usize| {
        let action: Vec<f32> = (0..width).map(|i| action(t, i)).collect();
        environment.step(&action, &mut Rng::new(1));
        environment.observe(&mut obs);
        obs.clone()
    };
    (0..steps).map(&mut look).collect()
}

#[test]
fn without_torque_the_weightless_arm_rests() {
    let last = readings("mjc-reacher3d", 100, |_, _| 0.0).pop().unwrap();
    assert!(last[..7].iter().chain(&last[10..]).all(|&v| v == 0.0), "{last:?}");
}

#[test]
fn joints_stop_at_their_limits() {
    // Every joint is pushed one way for four seconds, then the other way.
    const LIMITS: [(usize, f32, f32); 4] =
        [(1, -std::f32::consts::FRAC_PI_6, 1.3963), (2, -3.9, 0.8), (3, -2.3213, 0.0), (5, -2.094, 0.0)];
    for sign in [1.0, -1.0] {
        for seen in readings("mjc-reacher3d", 400, |t, _| if t < 200 { sign } else { -sign }) {
            for (joint, low, high) in LIMITS {
                assert!((low - 0.1..high + 0.1).contains(&seen[joint]), "joint {joint} at {}", seen[joint]);
            }
        }
    }
}

#[test]
fn dampers_take_the_energy_away() {
    // A push for half a second, and then nothing: the joints only slow down.
    let seen = readings("mjc-reacher3d", 150, |t, i| if t < 25 { [0.5, -0.5, 0.2][i % 3] } else { 0.0 });
    let speed = |t: usize| seen[t][10..].iter().map(|v| v * v).sum::<f32>().sqrt();
    assert!(speed(24) > 0.2 && speed(149) < 0.05 * speed(24), "{} {}", speed(24), speed(149));
}

#[test]
fn forks_of_the_arms_have_the_same_future_in_other_threads() {
    for id in ["mjc-reacher3d", "urm-reach", "urm-pnp"] {
        let mut environment = catalogue().build(id, &serde_json::json!({})).unwrap();
        let x = environment.draw(&mut Rng::new(5));
        environment.start(&x, &mut Rng::new(5));
        let action = vec![0.7; environment.spec().action.len()];
        (0..20).for_each(|_| _ = environment.step(&action, &mut Rng::new(5)));
        let future = |mut environment: Box<dyn Env>| -> Vec<f64> {
            (0..40)
                .map(|t| {
                    environment.step(&vec![(0.7 * t as f32).cos(); action.len()], &mut Rng::new(6)).reward
                })
                .collect()
        };
        let fork = environment.fork().unwrap();
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| future(fork)).join().unwrap());
        assert_eq!(future(environment), elsewhere, "{id}");
    }
}
