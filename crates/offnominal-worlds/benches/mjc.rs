//! Steps per second of the environments in MuJoCo: each against a bare loop of `mj_step`, and images of them; and
//! making a body anew.
//!
//! Goals: `env_step_and_observe` reaches 0.95 of `bare_mj_step` for the half-cheetah and 0.9 for arms and bodies
//! (both pass through the same states; an item is a step of the environment), and `render_128` of the half-cheetah
//! stays below 1 ms. On a busy machine compare the fastest samples. `rebuild` stays below 5 ms.

use divan::Bencher;
use divan::counter::ItemsCount;
use offnominal_core::prelude::*;
use offnominal_mujoco::{Model, Simulation};
use offnominal_rtde::ur3e::{kinematics::HOME, model};
use offnominal_worlds::env::body::{self, BODIES};
use offnominal_worlds::env::humanoid;

fn main() {
    divan::main();
}

/// Environment steps per sample.
const STEPS: usize = 40;

const ENVIRONMENTS: [&str; 10] = [
    "mjc-cartpole-swingup",
    "mjc-half-cheetah",
    "mjc-reacher3d",
    "urm-reach",
    "urm-pnp",
    "hopper",
    "walker",
    "ant",
    "half-cheetah-m",
    "humanoid-stand",
];

fn environment(id: &str) -> Box<dyn Env> {
    let mut environment = offnominal_worlds::env::catalogue().build(id, &serde_json::json!({})).unwrap();
    environment.start(&initial(id), &mut Rng::new(1));
    environment
}

fn initial(id: &str) -> Vec<f64> {
    let environment = offnominal_worlds::env::catalogue().build(id, &serde_json::json!({})).unwrap();
    environment.draw(&mut Rng::new(1))
}

/// The same action at every step, so that the simulation can run alone through the same states.
const ACTION: [f32; 8] = [0.6, -0.4, 0.3, -0.5, 0.4, -0.2, 0.1, 0.2];
/// A humanoid that keeps still.
const STILL: [f32; 21] = [0.0; 21];

fn action(id: &str) -> &'static [f32] {
    match id {
        "mjc-cartpole-swingup" => &ACTION[..1],
        "mjc-half-cheetah" => &ACTION[..6],
        "walker" | "half-cheetah-m" => &ACTION[..6],
        "urm-reach" | "hopper" => &ACTION[..3],
        "urm-pnp" => &ACTION[..4],
        "ant" => &ACTION,
        "humanoid-stand" => &STILL,
        _ => &ACTION[..7],
    }
}

/// An environment without the environment: its model, what makes its first state, and how many time steps a step takes.
struct Bare {
    sim: Simulation,
    x: Vec<f64>,
    id: &'static str,
    substeps: usize,
    /// Positions of a body as it stands.
    stance: Vec<f64>,
}

impl Bare {
    fn new(id: &'static str) -> Bare {
        if BODIES.contains(&id) {
            let sim = body::bare(id).unwrap();
            return Bare { stance: sim.qpos().to_vec(), sim, x: initial(id), id, substeps: 4 };
        }
        if id == "humanoid-stand" {
            let x = initial(id);
            let sim = humanoid::bare(&x).unwrap();
            return Bare { stance: sim.qpos().to_vec(), sim, x, id, substeps: 5 };
        }
        let (mjcf, substeps) = match id {
            "mjc-cartpole-swingup" => (include_str!("../models/mjc_cartpole_swingup.xml").to_string(), 2),
            "mjc-half-cheetah" => (include_str!("../models/mjc_half_cheetah.xml").into(), 5),
            "mjc-reacher3d" => (include_str!("../models/mjc_reacher3d.xml").into(), 2),
            "urm-reach" => (model::mjcf(), 20),
            _ => (model::mjcf_with(include_str!("../models/urm_pnp.xml")), 20),
        };
        let sim = Simulation::new(Model::from_xml(&mjcf).unwrap()).unwrap();
        Bare { sim, x: initial(id), id, substeps, stance: vec![] }
    }

    fn start(&mut self) {
        self.sim.reset();
        let (sim, x) = (&mut self.sim, &self.x);
        match self.id {
            "mjc-reacher3d" => sim.mocap_pos_mut().copy_from_slice(x),
            "urm-reach" | "urm-pnp" => {
                sim.qpos_mut()[..6].copy_from_slice(&HOME);
                if self.id == "urm-pnp" {
                    sim.qpos_mut()[8..10].copy_from_slice(&x[..2]);
                }
            }
            "humanoid-stand" => sim.qpos_mut().copy_from_slice(&self.stance),
            _ if !self.stance.is_empty() => {
                let root = self.stance.len() - x.len();
                sim.qpos_mut()[..root].copy_from_slice(&self.stance[..root]);
                sim.qpos_mut()[root..].copy_from_slice(x);
            }
            _ => {
                let (qpos, qvel) = x.split_at(sim.qpos().len());
                sim.qpos_mut().copy_from_slice(qpos);
                sim.qvel_mut().copy_from_slice(qvel);
            }
        }
        sim.forward().unwrap();
    }

    /// Controls stay as they are for the motors; the arm's commanded point moves on.
    fn step(&mut self) {
        if self.id.starts_with("urm") {
            let point = self.sim.mocap_pos_mut().iter_mut().zip(&ACTION[..3]);
            let limits = [(-0.3, 0.2), (0.2, 0.4), (0.05, 0.25)];
            point
                .zip(limits)
                .for_each(|((at, &a), (low, high))| *at = (*at + 0.01 * f64::from(a)).clamp(low, high));
        } else {
            let action = action(self.id);
            self.sim.ctrl_mut().iter_mut().zip(action).for_each(|(control, &c)| *control = f64::from(c));
        }
        self.sim.step(self.substeps).unwrap();
    }
}

/// One reset and then nothing but calls of `mj_step`.
#[divan::bench(args = ENVIRONMENTS, sample_count = 300)]
fn bare_mj_step(bencher: Bencher, id: &'static str) {
    let mut bare = Bare::new(id);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        bare.start();
        (0..STEPS).for_each(|_| bare.step());
    });
}

#[divan::bench(args = ENVIRONMENTS, sample_count = 300)]
fn env_step_and_observe(bencher: Bencher, id: &str) {
    let (mut environment, mut rng, x) = (environment(id), Rng::new(1), initial(id));
    let (mut obs, action) = (vec![0.0; environment.spec().observation.len()], action(id));
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        environment.start(&x, &mut rng);
        for _ in 0..STEPS {
            divan::black_box(environment.step(divan::black_box(action), &mut rng));
            environment.observe(divan::black_box(&mut obs));
        }
    });
}

#[divan::bench(args = ENVIRONMENTS)]
fn fork(bencher: Bencher, id: &str) {
    let environment = environment(id);
    bencher.bench_local(|| environment.fork());
}

/// A body whose last limb has another width.
#[divan::bench(args = BODIES)]
fn rebuild(bencher: Bencher, id: &str) {
    let mut environment = environment(id);
    let sizes = body::quantities(id, body::Reading::True).unwrap();
    let (last, mut wider) = (sizes.last().unwrap(), false);
    bencher.bench_local(|| {
        wider = !wider;
        environment.set_parameter(&last.name, last.nominal * if wider { 1.1 } else { 1.0 }).unwrap();
    });
}

#[divan::bench(args = ENVIRONMENTS)]
fn render_128(bencher: Bencher, id: &str) {
    let (mut environment, mut frame) = (environment(id), Frame::new(128, 128));
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| environment.render(Camera(0), &mut frame));
}
