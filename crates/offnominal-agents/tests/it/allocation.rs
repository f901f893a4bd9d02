//! After warm-up neither a gradient step nor acting allocates.

use crate::environments::Point;
use allocation_counter::measure;
use offnominal_agents::{Batch, Dqn, Learner, PASSES, Sac, Td3, Tqc, TrainConfig, Trainer};
use offnominal_core::policy::Policy;
use offnominal_core::{Rng, Seed};

fn config() -> TrainConfig {
    TrainConfig { batch: 32, hidden: vec![40, 40], ..TrainConfig::for_env("point") }
}

/// The fourth step, as TD3 moves its actor only at every second.
fn of_a_gradient_step(mut learner: impl Learner) -> u64 {
    let (mut rng, mut batch, mut action) = (Rng::new(1), Batch::new(32, 7, 2), [0.0; 2]);
    rng.fill_normal(&mut batch.obs);
    for _ in 0..3 {
        learner.update(&batch, 1e-3, &mut rng);
    }
    allocations(|| {
        learner.update(&batch, 1e-3, &mut rng);
        learner.explore(&batch.obs[..7], &mut action, 0, &mut rng);
    })
}

#[test]
fn a_gradient_step_does_not_allocate() {
    let mut rng = Rng::new(1);
    assert_eq!(of_a_gradient_step(Tqc::new(&config(), 7, 2, &mut rng)), 0);
    assert_eq!(of_a_gradient_step(Sac::new(&config(), 7, 2, &mut rng)), 0);
    assert_eq!(of_a_gradient_step(Td3::new(&config(), 7, 2, &mut rng)), 0);
    let dropping = TrainConfig { dropconnect: 0.1, double: true, ..config() };
    assert_eq!(of_a_gradient_step(Td3::ddpg(&dropping, 7, 2, &mut rng)), 0);
    assert_eq!(of_a_gradient_step(Dqn::new(&dropping, None, 7, 3, &mut rng)), 0);
}

#[test]
fn acting_does_not_allocate() {
    let mut actor = Trainer::new(config(), &Point::new(), Seed(1)).unwrap().actor();
    let (mut action, mut rng) = ([0.0], Rng::new(1));
    actor.act(&[0.1, 0.2], &mut action, &mut rng);
    assert_eq!(allocations(|| actor.act(&[0.3, -0.2], &mut action, &mut rng)), 0);
}

#[test]
fn predicting_does_not_allocate() {
    let ddpg = TrainConfig { dropout: 0.1, ..config().with_algorithm("ddpg").unwrap() };
    let actor = Trainer::new(ddpg, &Point::new(), Seed(1)).unwrap().actor();
    let (mut samples, mut rng) = (actor.samples(None).unwrap(), Rng::new(1));
    samples.predict(&[0.1, 0.2], &mut rng);
    let again = || assert_eq!(samples.predict(&[0.3, -0.2], &mut rng).heads.len(), PASSES);
    assert_eq!(allocations(again), 0);
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![0_u8; 100]))), 1);
}

fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}
