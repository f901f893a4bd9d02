//! Steps and images per second of the lane-keeping environment, on one core.
//!
//! Goals: 50,000 steps per second with a hundred vehicles, observation included, and 100 images per second at
//! 256 × 256.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::prelude::*;
use offnominal_worlds::env::catalogue;

fn main() {
    divan::main();
}

/// Steps of an episode; the actions below keep the car in its lane for so long.
const STEPS: usize = 20;

/// An environment started in the middle of a lane.
fn environment() -> Box<dyn Env> {
    let mut env = catalogue().build("car-lanekeep", &serde_json::json!({})).expect("a built-in environment");
    env.start(&[0.0, 1.0, 0.0, 0.0, 14.0, 60.0, 14.0], &mut Rng::new(1));
    env
}

/// Steps with observation of an environment in progress; a sample begins with a fork, which is not timed.
#[divan::bench]
fn step_and_observe(bencher: Bencher<'_, '_>) {
    let (env, mut rng, mut obs) = (environment(), Rng::new(2), [0.0; 9]);
    let fork = || env.fork().expect("an environment that can be forked");
    bencher.counter(ItemsCount::new(STEPS)).with_inputs(fork).bench_local_values(|mut env| {
        for _ in 0..STEPS {
            let step = env.step(black_box(&[0.01, 0.0]), &mut rng);
            assert!(step.status == Status::Running, "the car left its lane");
            env.observe(black_box(&mut obs));
        }
        env
    });
}

/// Episodes begun per second.
#[divan::bench]
fn start(bencher: Bencher<'_, '_>) {
    let (mut env, mut rng) = (environment(), Rng::new(3));
    let x = env.draw(&mut rng);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| env.start(black_box(&x), &mut rng));
}

/// Images per second at 256 × 256.
#[divan::bench(args = ["bumper", "chase"])]
fn render(bencher: Bencher<'_, '_>, camera: &str) {
    let mut env = environment();
    let camera =
        Camera(env.spec().cameras.iter().position(|c| c == camera).expect("a camera of the environment"));
    let mut frame = Frame::new(256, 256);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| env.render(camera, &mut frame));
}
