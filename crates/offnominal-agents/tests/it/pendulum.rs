//! Does it learn? A short run on every machine, the whole swing-up in the slow tier.

use crate::worlds::{Pendulum, Point};
use offnominal_agents::{Evaluation, TrainConfig, Trainer};
use offnominal_core::Seed;

fn last_evaluation(mut run: Trainer) -> Evaluation {
    let mut last = None;
    while !run.is_done() {
        last = run.advance(1000).evaluation.or(last);
    }
    last.expect("a run ends with an evaluation")
}

/// Random commands succeed in about 15 % of the episodes.
#[track_caller]
fn learns_to_come_to_the_origin(algorithm: &str) {
    let point = TrainConfig::for_env("point").with_algorithm(algorithm).unwrap();
    let recipe = TrainConfig {
        steps: 2_500,
        hidden: vec![32, 32],
        batch: 64,
        lr: 3e-3,
        gamma: 0.95,
        eval_every: 2_500,
        eval_episodes: 40,
        ..point
    };
    let found = last_evaluation(Trainer::new(recipe, &Point::new(), Seed(1)).unwrap());
    assert!(found.success.unwrap() >= 0.9, "{algorithm}: {found:?}");
}

#[test]
fn tqc_brings_a_point_to_the_origin() {
    learns_to_come_to_the_origin("tqc");
}

#[test]
fn sac_brings_a_point_to_the_origin() {
    learns_to_come_to_the_origin("sac");
}

#[test]
fn td3_brings_a_point_to_the_origin() {
    learns_to_come_to_the_origin("td3");
}

/// A perfect swing-up has a mean return of about −145, resting about −1200.
#[track_caller]
fn swings_up_within_20_000_steps(algorithm: &str) {
    if std::env::var_os("RUN_SLOW_TESTS").is_none() {
        return eprintln!("skipped: set RUN_SLOW_TESTS=1 to train on the pendulum");
    }
    let pendulum = TrainConfig::for_env("pendulum").with_algorithm(algorithm).unwrap();
    let recipe = TrainConfig {
        steps: 20_000,
        learning_starts: 1_000,
        hidden: vec![64, 64],
        batch: 128,
        lr: 1e-3,
        eval_every: 20_000,
        ..pendulum
    };
    let found = last_evaluation(Trainer::new(recipe, &Pendulum::new(), Seed(1)).unwrap());
    assert!(found.mean_return >= -200.0, "{algorithm}: {found:?}");
}

#[test]
fn tqc_swings_the_pendulum_up() {
    swings_up_within_20_000_steps("tqc");
}

#[test]
fn sac_swings_the_pendulum_up() {
    swings_up_within_20_000_steps("sac");
}

#[test]
fn td3_swings_the_pendulum_up() {
    swings_up_within_20_000_steps("td3");
}
