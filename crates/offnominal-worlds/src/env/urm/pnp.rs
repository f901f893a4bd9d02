//! Picking up a block and carrying it to a goal in the air.
//!
//! reward = −(|b − p| + |b − g|) + 0.1 [held] − 1 [pressed]
//!
//! | symbol    | meaning                                             | unit |
//! |-----------|-----------------------------------------------------|------|
//! | b, p, g   | middle of the block, the tool, the goal             | m    |
//! | held      | both pads of the gripper press with more than 10 N  |      |
//! | pressed   | the top of the block is touched with more than 0.5 N |     |

use super::course::NEAR_M;
use super::goal::Goal;
use super::reach::CLASSES;
use super::workcell::{Classes, Workcell};
use super::{DIVERGED, card, distance};
use crate::ur3e::model;
use offnominal_core::prelude::*;

pub(in super::super) const ENTRY: Entry<dyn Env> = Entry {
    id: "urm-pnp",
    summary: "pick up a block with a UR3e and carry it to a goal (MuJoCo)",
    build: |params| Ok(Box::new(PickAndPlace { cell: build(params)? })),
    exempt: &[],
};

/// Where the block lies at first: lowest and highest coordinate along x and y, in m.
const BLOCK_M: [(f64, f64); 2] = [(-0.15, 0.15), (0.2, 0.4)];
/// How far it may be turned about the vertical at first, in rad: turned thus, it is 71 mm wide for the gripper.
const YAW_RAD: f64 = 0.2;
/// Height of its middle when it lies on the table, in m.
const LYING_M: f64 = 0.055;
/// Where the block's position begins in the simulation's positions; its orientation follows.
const BLOCK: usize = 8;
/// Where the readings of the sensors of touch begin: left pad, right pad, top of the block; in N.
const TOUCH: usize = 6;

#[derive(Clone)]
struct PickAndPlace {
    cell: Workcell,
}

fn build(params: &serde_json::Value) -> Result<Workcell, BuildError> {
    let mjcf = model::mjcf_with(include_str!("../../../models/urm_pnp.xml"));
    let block: Classes<'_> = &[("block", &["block"])];
    Workcell::build(&mjcf, card::pnp(), &[CLASSES, block].concat(), params)
}

impl PickAndPlace {
    fn block(&self) -> [f64; 3] {
        std::array::from_fn(|i| self.cell.sim.qpos()[BLOCK + i])
    }

    /// Orientation of the block; of the two quaternions that mean the same, the one with w ≥ 0.
    fn orientation(&self) -> [f64; 4] {
        let q: [f64; 4] = std::array::from_fn(|i| self.cell.sim.qpos()[BLOCK + 3 + i]);
        if q[0] < 0.0 { q.map(|c| -c) } else { q }
    }

    fn reward(&self) -> f64 {
        let touch = &self.cell.sim.sensordata()[TOUCH..];
        let held = touch[0].min(touch[1]) > 10.0;
        let pressed = touch[2] > 0.5;
        let (block, bonus) = (self.block(), 0.1 * f64::from(held) - f64::from(pressed));
        bonus - distance(block, self.cell.tool()) - distance(block, self.cell.goal())
    }
}

impl Env for PickAndPlace {
    fn spec(&self) -> &EnvSpec {
        self.cell.spec()
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let block = BLOCK_M.map(|(low, high)| rng.range(low, high));
        let yaw = rng.range(-YAW_RAD, YAW_RAD);
        block.into_iter().chain([yaw]).chain(Goal::draw(rng)).collect()
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), 6, "length of the initial condition");
        let (sine, cosine) = (0.5 * x[2]).sin_cos();
        let pose = [x[0], x[1], LYING_M, cosine, 0.0, 0.0, sine];
        self.cell.start([x[3], x[4], x[5]], |sim| sim.qpos_mut()[BLOCK..].copy_from_slice(&pose));
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 17, "length of the observation");
        let vectors = [self.cell.tool(), self.cell.tool_velocity(), self.cell.goal()];
        let (opening, block) = ([self.cell.opening()], self.block());
        let numbers = vectors.as_flattened().iter().chain(&opening).chain(&block);
        let orientation = self.orientation();
        obs.iter_mut().zip(numbers.chain(&orientation)).for_each(|(o, &n)| *o = n as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        assert_eq!(action.len(), 4, "length of the action");
        if action[3].abs() > 0.2 {
            self.cell.grip(action[3] > 0.0);
        }
        if self.cell.advance(&action[..3]).is_err() {
            return DIVERGED;
        }
        let reward = self.reward();
        self.cell.move_goal();
        Step::running(reward)
    }

    fn goal_met(&self) -> Option<bool> {
        Some(distance(self.block(), self.cell.goal()) < NEAR_M)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.cell.set_parameter(name, value)
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.cell.render(camera, frame);
    }
}
