//! Options of the recipe that change how a run goes, whatever the algorithm.

use crate::environments::Point;
use offnominal_agents::{Actor, TrainConfig, Trainer};
use offnominal_core::policy::Policy;
use offnominal_core::{Rng, Seed};

/// A run after so many steps, and how many episodes have ended.
fn run(config: TrainConfig, steps: u64) -> (Trainer, u64) {
    let config = TrainConfig { steps: 600, learning_starts: 100, batch: 16, hidden: vec![16], ..config };
    let mut run = Trainer::new(config, &Point::new(), Seed(3)).unwrap();
    let episodes = run.advance(steps).episodes;
    (run, episodes)
}

fn point() -> TrainConfig {
    TrainConfig::for_env("point")
}

/// The action at a few places.
fn actions(mut actor: Actor) -> Vec<f32> {
    let mut rng = Rng::new(0);
    let at = |x: f32| {
        let mut action = [0.0];
        actor.act(&[x, -0.5 * x], &mut action, &mut rng);
        action[0]
    };
    [-1.5, -0.5, 0.4, 1.8].map(at).into()
}

#[test]
fn training_episodes_are_left_for_new_ones() {
    let (_, few) = run(point(), 600);
    let (_, many) = run(TrainConfig { restart_after: 5, ..point() }, 600);
    assert!((80..160).contains(&many) && few < 40, "{few} and {many} episodes");
}

#[test]
fn an_average_lies_behind_and_one_over_a_step_is_the_policy_itself() {
    let of = |average| actions(run(TrainConfig { average, ..point() }, 600).0.actor());
    let (plain, one, long) = (of(0), of(1), of(100_000));
    assert_eq!(plain, one, "the last step of the run enters the average");
    assert_ne!(plain, long);
    let first = actions(run(point(), 100).0.actor());
    let off = |a: &[f32]| a.iter().zip(&first).map(|(a, b)| (a - b).abs()).sum::<f32>();
    assert!(off(&long) < 0.1 * off(&plain), "{first:?} {long:?} {plain:?}");
}
