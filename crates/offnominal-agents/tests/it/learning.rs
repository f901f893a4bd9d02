//! Does it learn? A short run on every machine, swing-up and balance in the slow tier.

use crate::environments::{Cartpole, Pendulum, Point};
use offnominal_agents::{ALL, Evaluation, TrainConfig, Trainer};
use offnominal_core::prelude::*;

fn last_evaluation(mut run: Trainer) -> Evaluation {
    let mut last = None;
    while !run.is_done() {
        last = run.advance(1000).evaluation.or(last);
    }
    last.expect("a run ends with an evaluation")
}

/// Random actions succeed in about 15 % of the episodes.
#[track_caller]
fn learns_to_come_to_the_origin(algorithm: &str) {
    let point = TrainConfig::for_env("point").with_algorithm(algorithm).unwrap();
    comes_to_the_origin(point);
}

#[track_caller]
fn comes_to_the_origin(point: TrainConfig) {
    let algorithm = ALL.iter().find(|a| a.id == point.algorithm).unwrap();
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
    let found = last_evaluation(Trainer::new(recipe, &Point::for_algorithm(algorithm), Seed(1)).unwrap());
    assert!(found.success.unwrap() >= 0.9, "{}: {found:?}", algorithm.id);
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

#[test]
fn ddpg_brings_a_point_to_the_origin() {
    learns_to_come_to_the_origin("ddpg");
}

#[test]
fn dqn_brings_a_point_to_the_origin() {
    let point = TrainConfig::for_env("point").with_algorithm("dqn").unwrap();
    comes_to_the_origin(TrainConfig { epsilon_steps: 1_000, double: true, ..point });
}

#[test]
fn policies_that_drop_units_or_weights_bring_a_point_to_the_origin() {
    let point = |algorithm: &str| TrainConfig::for_env("point").with_algorithm(algorithm).unwrap();
    comes_to_the_origin(TrainConfig { epsilon_steps: 1_000, dropconnect: 0.05, ..point("dqn") });
    comes_to_the_origin(TrainConfig { dropout: 0.05, ..point("ddpg") });
}

#[test]
fn advice_reaches_where_no_demonstration_was() {
    let recipe = TrainConfig {
        steps: 1_500,
        hidden: vec![32, 32],
        lr: 3e-3,
        demonstrations: 100,
        imitation: 100.0,
        advice: true,
        ..TrainConfig::for_env("point")
    };
    let always: fn(&[f32], &mut [f32]) = |_, action| action[0] = 0.8;
    let mut run = Trainer::new(recipe, &Point::new(), Seed(1)).unwrap().demonstrated_by(Box::new(always));
    run.advance(1_500);
    for x in [-2.5, 0.0, 2.5] {
        let mut action = [0.0];
        run.actor().act(&[x, 0.0], &mut action, &mut Rng::new(1));
        assert!((action[0] - 0.8).abs() < 0.2, "at {x}: {action:?}");
    }
}

/// A perfect swing-up has a mean return of about −145, resting about −1200.
#[track_caller]
fn swings_up_within_20_000_steps(algorithm: &str) {
    let pendulum = TrainConfig::preset("sap").unwrap().with_algorithm(algorithm).unwrap();
    swings_up(TrainConfig { learning_starts: 1_000, ..pendulum });
}

#[track_caller]
fn swings_up(pendulum: TrainConfig) {
    if !skips::is_slow_tier("training in environments that take time") {
        return;
    }
    let recipe = TrainConfig {
        steps: 20_000,
        hidden: vec![64, 64],
        batch: 128,
        lr: 1e-3,
        eval_every: 20_000,
        ..pendulum
    };
    let words = format!("{recipe:?}");
    let found = last_evaluation(Trainer::new(recipe, &Pendulum::new(), Seed(1)).unwrap());
    assert!(found.mean_return >= -200.0, "{found:?} with {words}");
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

#[test]
fn ddpg_swings_the_pendulum_up_with_and_without_dropout() {
    let pendulum = TrainConfig::preset("pendulum").unwrap();
    swings_up(TrainConfig { learning_starts: 1_000, ..pendulum.clone() });
    swings_up(TrainConfig { learning_starts: 1_000, dropout: 0.05, ..pendulum });
}

/// The best evaluation counts, as it does for the policy of a run: DQN forgets and learns again.
#[track_caller]
fn balances(cartpole: TrainConfig) {
    if !skips::is_slow_tier("training in environments that take time") {
        return;
    }
    let words = format!("{cartpole:?}");
    let mut run = Trainer::new(cartpole, &Cartpole::new(), Seed(1)).unwrap();
    while !run.is_done() {
        run.advance(1_000);
    }
    let (best, _) = run.best().unwrap();
    assert!(best.mean_return >= 475.0, "{best:?} with {words}");
}

#[test]
fn dqn_balances_the_pole() {
    balances(TrainConfig::preset("cartpole").unwrap());
}

#[test]
fn double_dqn_balances_the_pole() {
    balances(TrainConfig { double: true, ..TrainConfig::preset("cartpole").unwrap() });
}

/// What drops units learns more slowly, and needs a lower rate.
#[test]
fn dqn_with_dropout_balances_the_pole() {
    let cartpole = TrainConfig::preset("cartpole").unwrap();
    balances(TrainConfig { dropout: 0.05, lr: 1e-3, steps: 100_000, ..cartpole });
}
