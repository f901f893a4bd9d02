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
#[test]
fn a_point_learns_to_come_to_the_origin() {
    let recipe = TrainConfig {
        steps: 2_500,
        hidden: vec![32, 32],
        batch: 64,
        lr: 3e-3,
        gamma: 0.95,
        eval_every: 2_500,
        eval_episodes: 40,
        ..TrainConfig::for_env("point")
    };
    let found = last_evaluation(Trainer::new(recipe, &Point::new(), Seed(1)).unwrap());
    assert!(found.success.unwrap() >= 0.9, "{found:?}");
}

/// A perfect swing-up has a mean return of about −145, resting about −1200.
#[test]
fn the_pendulum_swings_up_within_20_000_steps() {
    if std::env::var_os("RUN_SLOW_TESTS").is_none() {
        return eprintln!("skipped: set RUN_SLOW_TESTS=1 to train on the pendulum");
    }
    let recipe = TrainConfig {
        steps: 20_000,
        hidden: vec![64, 64],
        batch: 128,
        lr: 1e-3,
        eval_every: 20_000,
        ..TrainConfig::for_env("pendulum")
    };
    let found = last_evaluation(Trainer::new(recipe, &Pendulum::new(), Seed(1)).unwrap());
    assert!(found.mean_return > -200.0, "{found:?}");
}
