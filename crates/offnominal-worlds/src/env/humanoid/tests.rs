//! The body moves as the suite's does, and what it sees is where it is.

use super::*;
use serde::Deserialize;

/// Written by tests/golden/make_humanoid.py.
#[derive(Deserialize)]
struct Golden {
    mujoco: String,
    episodes: Vec<GoldenEpisode>,
}

#[derive(Deserialize)]
struct GoldenEpisode {
    qpos: Vec<f64>,
    qvel: Vec<f64>,
    steps: Vec<GoldenStep>,
}

#[derive(Deserialize)]
struct GoldenStep {
    action: Vec<f32>,
    n_contacts: usize,
    observation: Vec<f64>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../tests/golden/humanoid.json")).unwrap()
}

fn environment() -> Humanoid {
    Humanoid::new(&Options::default()).unwrap()
}

/// Largest difference between what an environment observes and the golden episodes, and the most contacts.
fn largest_difference(mut environment: Humanoid, golden: &Golden) -> (f64, usize) {
    let (mut largest, mut contacts, mut obs) = (0.0_f64, 0, vec![0.0; card::OBSERVATION]);
    for episode in &golden.episodes {
        environment.rig.start_where(|sim| {
            sim.qpos_mut().copy_from_slice(&episode.qpos);
            sim.qvel_mut().copy_from_slice(&episode.qvel);
        });
        for step in &episode.steps {
            environment.step(&step.action, &mut Rng::new(0));
            environment.observe(&mut obs);
            let off =
                obs.iter().zip(&step.observation).map(|(o, w)| (f64::from(*o) - w).abs() / (1.0 + w.abs()));
            largest = off.fold(largest, f64::max);
            contacts = contacts.max(step.n_contacts);
        }
    }
    (largest, contacts)
}

#[test]
fn the_body_moves_and_sees_as_the_suites_does() {
    let golden = golden();
    assert_eq!(golden.mujoco, offnominal_mujoco::VERSION);
    let (largest, contacts) = largest_difference(environment(), &golden);
    assert!(contacts > 2, "too few contacts");
    // Observations are of single precision.
    assert!(largest < 1e-6, "expected at most 1e-6, found {largest:e}");
}

#[test]
fn a_body_heavier_by_a_thousandth_does_not_pass_for_the_suites() {
    let mut heavy = environment();
    heavy.set_parameter("mass", 1.001).unwrap();
    assert!(largest_difference(heavy, &golden()).0 > 1e-4);
}

#[test]
fn every_drawn_posture_stands_on_the_floor_with_its_head_up() {
    let (mut environment, mut rng) = (environment(), Rng::new(1));
    for _ in 0..200 {
        let x = environment.draw(&mut rng);
        assert!(environment.admits(&x));
        environment.start(&x, &mut rng);
        let lowest = postures::lowest_m(&environment.rig.sim);
        assert!(lowest.abs() < 1e-9, "{lowest}");
        assert!(environment.head_m() > 1.2, "{}", environment.head_m());
    }
}

#[test]
fn without_motors_it_falls_and_the_fall_is_the_failure() {
    let (mut environment, mut rng) = (environment(), Rng::new(1));
    let x = environment.draw(&mut rng);
    environment.start(&x, &mut rng);
    let still = [0.0; 21];
    let ended =
        (1..=200).map(|t| (t, environment.step(&still, &mut rng))).find(|(_, s)| s.status != Status::Running);
    let (t, last) = ended.expect("a limp body does not stand for five seconds");
    assert_eq!(last, Step { reward: FALL_REWARD, status: Status::Failed }, "step {t}");
    assert!(environment.margin().unwrap() <= 0.0 && environment.head_m() > 0.8);
}

#[test]
fn a_lower_limit_lets_it_fall_longer() {
    let steps_to_fall = |fall_m: f64| {
        let (mut environment, mut rng) = (Humanoid::new(&Options { fall_m }).unwrap(), Rng::new(1));
        environment.start(&[0.0; ANGLES + 1], &mut rng);
        (0..400).position(|_| environment.step(&[0.0; 21], &mut rng).status == Status::Failed)
    };
    assert!(steps_to_fall(0.7) > steps_to_fall(1.2));
    let too_high = Humanoid::new(&Options { fall_m: 1.6 }).err().unwrap().to_string();
    assert!(too_high.contains("0.2 to 1.3"), "{too_high}");
}

#[test]
fn features_tell_the_lean() {
    let environment = environment();
    let at = |pitch: f64| {
        let mut x = [0.0; ANGLES + 1];
        x[2] = pitch;
        environment.features(&x)
    };
    let (upright, forward) = (at(0.0), at(2.0));
    assert_eq!(upright.len(), ANGLES + 3);
    assert!(forward[ANGLES] > upright[ANGLES] + 0.02, "{forward:?}");
    assert!((forward[ANGLES + 1] - upright[ANGLES + 1]).abs() < 1e-9);
}

#[test]
fn neighbours_keep_the_distribution_and_stay_near() {
    let (environment, mut rng) = (environment(), Rng::new(2));
    let (mut square, mut moved) = (0.0, 0.0);
    const N: usize = 2000;
    for _ in 0..N {
        let x = environment.draw(&mut rng);
        let near = (0..3).fold(x.clone(), |x, _| environment.vary(&x, &mut rng).unwrap());
        assert!(environment.admits(&near));
        square += near[1..].iter().map(|v| v * v).sum::<f64>() / (N * ANGLES) as f64;
        moved +=
            near[1..].iter().zip(&x[1..]).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / (N * ANGLES) as f64;
    }
    // A squared normal number has variance 2: the mean of 46,000 has a standard error of 0.007.
    assert!((square - 1.0).abs() < 0.03, "{square}");
    assert!((0.02..0.6).contains(&moved), "{moved}");
}
