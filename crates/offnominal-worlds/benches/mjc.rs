//! Steps per second of the half-cheetah: the world against a bare loop of `mj_step`, and pictures of it.
//!
//! Goals: `env_step_and_observe` reaches 0.95 of `bare_mj_step` (both pass through the same states; an item is five
//! time steps), and `render_128` stays below 1 ms. On a busy machine compare the fastest samples.

use divan::Bencher;
use divan::counter::ItemsCount;
use offnominal_core::prelude::*;
use offnominal_mujoco::{Model, Simulation};

fn main() {
    divan::main();
}

/// Environment steps per sample.
const STEPS: usize = 40;

fn world(id: &str) -> Box<dyn Env> {
    let mut world = offnominal_worlds::env::catalogue().build(id, &serde_json::json!({})).unwrap();
    let x = world.draw(&mut Rng::new(1));
    world.start(&x, &mut Rng::new(1));
    world
}

/// The same command at every step, so that the simulation can run alone through the same states.
const COMMAND: [f32; 6] = [0.6, -0.4, 0.3, -0.5, 0.4, -0.2];

/// One reset and then nothing but calls of `mj_step`.
#[divan::bench(sample_count = 2000)]
fn bare_mj_step(bencher: Bencher) {
    let model = Model::from_xml(include_str!("../models/mjc_half_cheetah.xml")).unwrap();
    let x = world("mjc-half-cheetah").draw(&mut Rng::new(1));
    let mut sim = Simulation::new(model).unwrap();
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        sim.reset();
        sim.qpos_mut().copy_from_slice(&x[..9]);
        sim.qvel_mut().copy_from_slice(&x[9..]);
        sim.forward().unwrap();
        sim.ctrl_mut().iter_mut().zip(COMMAND).for_each(|(control, c)| *control = f64::from(c));
        sim.step(5 * STEPS).unwrap();
    });
}

#[divan::bench(sample_count = 2000)]
fn env_step_and_observe(bencher: Bencher) {
    let (mut world, mut rng) = (world("mjc-half-cheetah"), Rng::new(1));
    let (x, mut obs) = (world.draw(&mut Rng::new(1)), [0.0; 18]);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        world.start(&x, &mut rng);
        for _ in 0..STEPS {
            divan::black_box(world.step(divan::black_box(&COMMAND), &mut rng));
            world.observe(divan::black_box(&mut obs));
        }
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
