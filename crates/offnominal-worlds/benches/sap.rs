//! Steps per second of the particle environments, observation included, on one core.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;

fn main() {
    divan::main();
}

const STEPS: usize = 1000;

/// A started environment and a table of actions to drive it with.
fn setting(id: &str) -> (Box<dyn Env>, Vec<f64>, Vec<[f32; 2]>) {
    let mut env = catalogue().build(id, &serde_json::json!({})).expect("a built-in environment");
    let mut rng = Rng::new(1);
    let x = env.draw(&mut rng);
    env.start(&x, &mut rng);
    let actions = (0..STEPS).map(|_| [rng.range(-1.0, 1.0) as f32, rng.range(-1.0, 1.0) as f32]).collect();
    (env, x, actions)
}

/// Steps with observation, with a new start where an episode ends or after 50 steps.
#[divan::bench(args = ["sap-goal0", "sap-goal1", "sap-goal2"])]
fn step_and_observe(bencher: Bencher<'_, '_>, id: &str) {
    let (mut env, x, actions) = setting(id);
    let (mut rng, mut obs) = (Rng::new(2), vec![0.0; env.spec().obs_width()]);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        for (t, action) in actions.iter().enumerate() {
            let step = env.step(black_box(action), &mut rng);
            env.observe(&mut obs);
            if step.status != Status::Running || t % 50 == 49 {
                env.start(&x, &mut rng);
            }
        }
        black_box(obs[0])
    });
}

/// Initial conditions per second.
#[divan::bench(args = ["sap-goal0", "sap-goal1", "sap-goal2"])]
fn draw(bencher: Bencher<'_, '_>, id: &str) {
    let (env, ..) = setting(id);
    let mut rng = Rng::new(3);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| env.draw(&mut rng));
}

/// Images per second at 128 × 128.
#[divan::bench(args = ["sap-goal0", "sap-goal2"])]
fn render(bencher: Bencher<'_, '_>, id: &str) {
    let (mut env, ..) = setting(id);
    let mut frame = Frame::new(128, 128);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| env.render(Camera::default(), &mut frame));
}
