//! Steps per second of cartpole, pendulum and pong on one core: through `Env`, in a batch, and with corrupted images.
//!
//! Goals: 20 million in a batch, 5 million through `Env`, 20,000 of pong with observations. Steps of cartpole and
//! pendulum are dominated by sine and cosine.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use offnominal_core::prelude::*;
use offnominal_worlds::corruption::{ALL, Corruptor};
use offnominal_worlds::env::{Batch, Cartpole, Motion, Pendulum, catalogue};

fn main() {
    divan::main();
}

const STEPS: usize = 1000;
const ENVIRONMENTS: usize = 256;

fn environment(id: &str) -> (Box<dyn Env>, Vec<f64>) {
    let mut env = catalogue().build(id, &serde_json::json!({})).expect("a built-in environment");
    let x = env.draw(&mut Rng::new(1));
    env.start(&x, &mut Rng::new(1));
    (env, x)
}

/// Steps with observation; a new start where an episode ends.
#[divan::bench(args = ["cartpole", "pendulum"])]
fn env_step_and_observe(bencher: Bencher<'_, '_>, id: &str) {
    let ((mut env, x), mut rng) = (environment(id), Rng::new(2));
    let mut obs = vec![0.0; env.spec().obs_width()];
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        for t in 0..STEPS {
            if env.step(black_box(&[(t % 2) as f32]), &mut rng).status != Status::Running {
                env.start(&x, &mut rng);
            }
            env.observe(black_box(&mut obs));
        }
    });
}

fn batch<M: Motion>(bencher: Bencher<'_, '_>, motion: M) {
    let mut rng = Rng::new(1);
    let mut batch = Batch::new(motion, ENVIRONMENTS, &mut rng);
    let (actions, mut steps) = ((0..ENVIRONMENTS).map(|i| (i % 2) as f32).collect::<Vec<_>>(), Vec::new());
    bencher.counter(ItemsCount::new(STEPS / 10 * ENVIRONMENTS)).bench_local(|| {
        for _ in 0..STEPS / 10 {
            batch.step(black_box(&actions), &mut steps);
            for (i, _) in steps.iter().enumerate().filter(|(_, s)| s.status != Status::Running) {
                batch.restart(i, &mut rng);
            }
        }
    });
}

#[divan::bench]
fn batch_cartpole(bencher: Bencher<'_, '_>) {
    batch(bencher, Cartpole::default());
}

#[divan::bench]
fn batch_pendulum(bencher: Bencher<'_, '_>) {
    batch(bencher, Pendulum::default());
}

/// Steps of pong with observations; the paddle moves at random.
#[divan::bench(args = ["none", "screen-gaussian-noise", "screen-motion-blur"])]
fn pong_step_and_observe(bencher: Bencher<'_, '_>, parameter: &str) {
    let ((mut env, x), mut rng) = (environment("pong"), Rng::new(2));
    if parameter != "none" {
        env.set_parameter(parameter, 3.0).expect("a parameter of pong");
    }
    let mut obs = vec![0.0; env.spec().obs_width()];
    bencher.counter(ItemsCount::new(STEPS / 10)).bench_local(|| {
        for _ in 0..STEPS / 10 {
            let action = rng.below(3) as f32;
            if env.step(black_box(&[action]), &mut rng).status != Status::Running {
                env.start(&x, &mut rng);
            }
            env.observe(black_box(&mut obs));
        }
    });
}

/// Images of 84 × 84 corrupted per second, at severity 3.
#[divan::bench(args = ALL.map(|c| c.name()))]
fn corrupt_84(bencher: Bencher<'_, '_>, name: &str) {
    let what = *ALL.iter().find(|c| c.name() == name).expect("a name of the list");
    let (mut corruptor, mut rng) = (Corruptor::new(what, 3.0, 84, 84, 1), Rng::new(1));
    let frame: Vec<u8> = (0..84 * 84).map(|i| (i % 251) as u8).collect();
    let mut work = frame.clone();
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        work.copy_from_slice(&frame);
        corruptor.apply(black_box(&mut work), &mut rng);
    });
}
