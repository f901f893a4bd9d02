//! A humanoid that has to stay on its feet, from a posture that is almost one of another agent.
//!
//! reward = min(h / 1.4, 1), and −10 in the step of a fall, where h is the height of the head in m.
//!
//! The initial condition *is* the posture: which of the stored ones, and how far it is from that in each angle, in
//! standard deviations. The body begins at rest with its lowest point on the floor. Nearly all postures can be held by a
//! trained policy, which makes this an environment for finding rare failures.
//!
//! Cost: a step of the simulator five times, and the poses of all bodies once more, to see where the head is now.
//! Reference: Uesato et al., arXiv 1812.01647, section 4 (Humanoid); body, clock and observation of the DeepMind Control
//! Suite's `humanoid`, task `stand` (Tassa et al. 2018). Deviates: see the `source` of the specification.

mod card;
mod postures;
#[cfg(test)]
mod tests;

use super::DIVERGED;
use super::mjc::{Rig, delegate_to};
use offnominal_core::catalogue::parse;
use offnominal_core::prelude::*;
use offnominal_mujoco::{ObjectType, Simulation};
use postures::{ANGLES, Postures};
use std::sync::Arc;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: card::ID,
    summary: card::SUMMARY,
    build: |params| Ok(Box::new(Humanoid::new(&parse(params)?)?)),
    exempt: &[],
};

with_defaults! {
    /// What can be chosen when the environment is made.
    #[derive(Debug, Clone, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Options {
        /// The height of the head below which the body has fallen, m.
        fall_m: f64 = 1.0,
    }
}

/// From here upwards the head is high enough, m.
const HIGH_M: f64 = 1.4;
const FALL_REWARD: f64 = -10.0;
/// The bodies whose places the observation tells, from the torso.
const EXTREMITIES: [&str; 4] = ["left_hand", "left_foot", "right_hand", "right_foot"];
/// Bodies before the humanoid's first one.
const TORSO: usize = 1;

/// A humanoid in progress.
#[derive(Clone)]
struct Humanoid {
    rig: Rig,
    postures: Arc<Postures>,
    fall_m: f64,
    head: usize,
    extremities: [usize; 4],
}

impl Humanoid {
    fn new(options: &Options) -> Result<Humanoid, BuildError> {
        let fall_m = options.fall_m;
        if !(0.2..=1.3).contains(&fall_m) {
            return Err(BuildError::Parameters(format!("fall_m: expected 0.2 to 1.3 m, found {fall_m}")));
        }
        let rig = Rig::build(card::design(fall_m), &serde_json::json!({}))?;
        let body =
            |name| rig.sim.model().id(ObjectType::Body, name).map_err(|e| BuildError::Missing(Box::new(e)));
        let [a, b, c, d] = EXTREMITIES.map(body);
        let (head, extremities) = (body("head")?, [a?, b?, c?, d?]);
        let postures = Arc::new(Postures::stored(rig.sim.model()));
        let mut humanoid = Humanoid { rig, postures, fall_m, head, extremities };
        humanoid.place(&[0.0; ANGLES + 1]);
        Ok(humanoid)
    }

    fn place(&mut self, x: &[f64]) {
        let angles = self.postures.angles(x);
        self.rig.start_where(|sim| postures::stand(sim, &angles));
    }

    /// Height of the head, m.
    fn head_m(&self) -> f64 {
        self.rig.sim.xpos()[3 * self.head + 2]
    }

    fn room_m(&self) -> f64 {
        self.head_m() - self.fall_m
    }

    /// Where a body is, seen from the torso, m.
    fn beside_torso(&self, body: usize) -> [f64; 3] {
        let (places, turns) = (self.rig.sim.xpos(), &self.rig.sim.xmat()[9 * TORSO..]);
        let way: [f64; 3] = std::array::from_fn(|i| places[3 * body + i] - places[3 * TORSO + i]);
        std::array::from_fn(|axis| (0..3).map(|i| way[i] * turns[3 * i + axis]).sum())
    }
}

impl Env for Humanoid {
    delegate_to!(rig);

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.postures.draw(rng)
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), ANGLES + 1, "length of the initial condition of {}", self.spec().id);
        self.place(x);
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), card::OBSERVATION, "length of the observation");
        let sim = &self.rig.sim;
        let extremities = self.extremities.iter().flat_map(|&body| self.beside_torso(body));
        let vertical = sim.xmat()[9 * TORSO + 6..][..3].iter().copied();
        let joints = sim.qpos()[7..].iter().copied();
        let still = joints.chain([self.head_m()]).chain(extremities).chain(vertical);
        let moving = sim.sensordata().iter().chain(sim.qvel()).copied();
        obs.iter_mut().zip(still.chain(moving)).for_each(|(o, value)| *o = value as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        if self.rig.advance(action).is_err() {
            return DIVERGED;
        }
        self.rig.sim.refresh_poses();
        if self.room_m() <= 0.0 {
            return Step { reward: FALL_REWARD, status: Status::Failed };
        }
        Step::running((self.head_m() / HIGH_M).min(1.0))
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.room_m() > 0.0)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Humanoid {
    /// The posture itself, and how it stands: where the centre of mass is, seen from the feet, and how high the head.
    fn features(&self, x: &[f64]) -> Vec<f64> {
        let angles = self.postures.angles(x);
        let mut sim = self.rig.sim.clone();
        postures::stand(&mut sim, &angles);
        sim.refresh_poses();
        let feet = [self.extremities[1], self.extremities[3]];
        let lean = lean_m(&sim, feet);
        angles.iter().copied().chain(lean).chain([sim.xpos()[3 * self.head + 2]]).collect()
    }

    fn admits(&self, x: &[f64]) -> bool {
        self.postures.admits(x)
    }

    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        Some(self.postures.vary(x, rng))
    }

    fn margin(&self) -> Option<f64> {
        Some(self.room_m())
    }
}

/// The body at an initial condition, without the environment.
///
/// # Errors
/// If MuJoCo cannot be had.
pub fn bare(x: &[f64]) -> Result<Simulation, BuildError> {
    let mut humanoid = Humanoid::new(&Options::default())?;
    humanoid.place(x);
    Ok(humanoid.rig.sim)
}

/// How far the centre of mass is ahead of the middle between the feet, and to its left, m.
fn lean_m(sim: &Simulation, feet: [usize; 2]) -> [f64; 2] {
    let (masses, centres) = (sim.model().body_mass(), sim.xipos());
    let total: f64 = masses.iter().sum();
    std::array::from_fn(|axis| {
        let centre: f64 = masses.iter().zip(centres.chunks_exact(3)).map(|(m, c)| m * c[axis] / total).sum();
        let middle = feet.map(|foot| 0.5 * sim.xpos()[3 * foot + axis]).iter().sum::<f64>();
        centre - middle
    })
}
