//! Episodes per second of the driving environment with its scripted driver, and draws of tracks, on one core.
//!
//! Goal: 500 episodes per second.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::prelude::*;
use offnominal_worlds::{demonstrator, env::catalogue};

fn main() {
    divan::main();
}

fn environment() -> Box<dyn Env> {
    catalogue().build("driving", &serde_json::json!({})).expect("a built-in environment")
}

/// Whole laps, the drawing of the track included.
#[divan::bench]
fn episode(bencher: Bencher<'_, '_>) {
    let mut policy = demonstrator::of("driving").expect("a driver");
    let (mut env, mut rng) = (environment(), Rng::new(1));
    let (mut obs, mut action) = (vec![0.0; env.spec().obs_width()], [0.0; 2]);
    let horizon = env.spec().horizon;
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        let x = env.draw(&mut rng);
        env.start(&x, &mut rng);
        for _ in 0..horizon {
            env.observe(&mut obs);
            policy.act(&obs, &mut action, &mut rng);
            if env.step(black_box(&action), &mut rng).status != Status::Running {
                break;
            }
        }
    });
}

/// Tracks drawn per second.
#[divan::bench]
fn draw(bencher: Bencher<'_, '_>) {
    let (env, mut rng) = (environment(), Rng::new(3));
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| env.draw(&mut rng));
}
