//! Steps per second of the half-cheetah: the world against the simulation alone, and pictures of it.
//!
//! Goals: `env_step_and_observe` reaches 0.95 of `simulation_alone` (the same model, five time steps per item, same
//! kind of commands), and `render_128` stays below 1 ms.

use divan::Bencher;
use divan::counter::ItemsCount;
use offnominal_core::prelude::*;
use offnominal_mujoco::{Model, Simulation};

fn main() {
    divan::main();
}

/// Environment steps per item of the benchmark: a whole episode.
const STEPS: usize = 200;

fn world(id: &str) -> Box<dyn Env> {
    let mut world = offnominal_worlds::env::catalogue().build(id, &serde_json::json!({})).unwrap();
    let x = world.draw(&mut Rng::new(1));
    world.start(&x, &mut Rng::new(1));
    world
}

/// Commands that keep the legs moving.
fn command(t: usize, motor: usize) -> f32 {
    (0.7 * t as f32 + motor as f32).sin()
}

#[divan::bench]
fn simulation_alone(bencher: Bencher) {
    let model = Model::from_xml(include_str!("../models/mjc_half_cheetah.xml")).unwrap();
    let x = world("mjc-half-cheetah").draw(&mut Rng::new(1));
    let mut sim = Simulation::new(model).unwrap();
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        sim.reset();
        sim.qpos_mut().copy_from_slice(&x[..9]);
        sim.qvel_mut().copy_from_slice(&x[9..]);
        for t in 0..STEPS {
            for (motor, control) in sim.ctrl_mut().iter_mut().enumerate() {
                *control = f64::from(command(t, motor));
            }
            sim.step(5).unwrap();
        }
    });
}

#[divan::bench]
fn env_step_and_observe(bencher: Bencher) {
    let (mut world, mut rng) = (world("mjc-half-cheetah"), Rng::new(1));
    let (x, mut obs) = (world.draw(&mut Rng::new(1)), [0.0; 18]);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        world.start(&x, &mut rng);
        let mut total = 0.0;
        for t in 0..STEPS {
            total +=
                world.step(&std::array::from_fn::<f32, 6, _>(|motor| command(t, motor)), &mut rng).reward;
            world.observe(&mut obs);
        }
        (total, obs)
    });
}

#[divan::bench(args = ["mjc-cartpole-swingup", "mjc-half-cheetah"])]
fn fork(bencher: Bencher, id: &str) {
    let world = world(id);
    bencher.bench_local(|| world.fork());
}

#[divan::bench(args = ["mjc-cartpole-swingup", "mjc-half-cheetah"])]
fn render_128(bencher: Bencher, id: &str) {
    let (mut world, mut frame) = (world(id), Frame::new(128, 128));
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| world.render(Camera(0), &mut frame));
}
