//! Picking up a block and carrying it to a goal in the air.
//!
//! reward = −(|b − p| + |b − g|) + 0.1 [held] − 1 [pressed]
//!
//! | symbol    | meaning                                             | unit |
//! |-----------|-----------------------------------------------------|------|
//! | b, p, g   | middle of the block, the tool, the goal             | m    |
//! | held      | both pads of the gripper press with more than 10 N  |      |
//! | pressed   | the top of the block is touched with more than 0.5 N |     |

use super::goal::Goal;
use super::goals::NEAR_M;
use super::workcell::{CLASSES, Classes, Workcell};
use super::{card, distance};
use crate::env::DIVERGED;
use crate::env::mjc::delegate_to;
use offnominal_core::prelude::*;
use offnominal_rtde::ur3e::model;

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
    Workcell::build(&mjcf, card::pnp(&ENTRY), &[CLASSES, block].concat(), params)
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
    delegate_to!(cell);

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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The block lies straight ahead of the tool's home; the goal is above and to the left.
    const X: [f64; 6] = [0.05, 0.3, 0.15, -0.15, 0.3, 0.18];

    fn started() -> PickAndPlace {
        let mut world = PickAndPlace { cell: build(&serde_json::json!({})).unwrap() };
        world.start(&X, &mut Rng::new(0));
        world
    }

    /// Plays the scripted policy; `watch` sees the environment after each step.
    fn demonstrate(world: &mut PickAndPlace, steps: usize, mut watch: impl FnMut(&PickAndPlace, Step)) {
        let mut policy = crate::demonstrator::of(ENTRY.id).unwrap();
        let (mut obs, mut action, mut rng) = ([0.0; 17], [0.0; 4], Rng::new(0));
        for _ in 0..steps {
            world.observe(&mut obs);
            policy.act(&obs, &mut action, &mut rng);
            let step = world.step(&action, &mut rng);
            watch(world, step);
        }
    }

    /// Moves the tool to a place, as far as it gets in so many steps.
    fn go(world: &mut PickAndPlace, to: [f64; 3], grip: f32, steps: usize) -> Vec<Step> {
        let action = |world: &PickAndPlace| {
            let tool = world.cell.tool();
            let [x, y, z] = [0, 1, 2].map(|i| ((to[i] - tool[i]) / 0.02).clamp(-1.0, 1.0) as f32);
            [x, y, z, grip]
        };
        (0..steps).map(|_| world.step(&action(world), &mut Rng::new(0))).collect()
    }

    #[test]
    fn a_block_that_is_held_neither_slips_nor_is_squeezed_through_the_fingers() {
        let (mut world, mut steps_held) = (started(), 0);
        demonstrate(&mut world, 200, |world, _| {
            if world.block()[2] > LYING_M + 0.01 {
                steps_held += 1;
                let off = distance(world.block(), world.cell.tool());
                assert!(off < 0.01, "the block is {off} m away from the tool");
                // 85 mm are open, and the block is 60 mm wide: 2 · 60 / 85 − 1 = 0.41.
                assert!(
                    world.cell.opening() > 0.35,
                    "the pads have sunk into the block: {}",
                    world.cell.opening()
                );
            }
            assert!(world.block()[2] > LYING_M - 1.5e-3, "the block has sunk into the table");
        });
        assert!(steps_held > 100 && world.goal_met() == Some(true), "held for {steps_held} steps");
    }

    #[test]
    fn holding_is_rewarded() {
        let (mut world, mut last) = (started(), 0.0);
        demonstrate(&mut world, 200, |_, step| last = step.reward);
        let [to_tool, to_goal] = [world.cell.tool(), world.cell.goal()].map(|p| distance(world.block(), p));
        assert!((last - (0.1 - to_tool - to_goal)).abs() < 1e-9, "{last}");
    }

    #[test]
    fn pressing_on_the_block_costs_one_and_does_not_pierce_it() {
        let mut world = started();
        // A finger, 46 mm beside the tool, comes down on the middle of the block.
        go(&mut world, [0.05 + 0.046, 0.3, 0.15], -1.0, 40);
        let steps = go(&mut world, [0.05 + 0.046, 0.3, 0.05], -1.0, 40);
        let touch = world.cell.sim.sensordata()[TOUCH + 2];
        assert!(touch > 0.5 && steps[39].reward < -1.0, "{touch} N, {}", steps[39].reward);
        // Fingers end 16 mm below the tool, and the block's top is 85 mm high. The controller pushes with thousands of
        // newtons; a real one would stop. Even then the finger sinks in by less than a centimetre.
        assert!(world.cell.tool()[2] > 0.085 + 0.016 - 0.01, "the finger is at {:?}", world.cell.tool());
    }

    #[test]
    fn a_block_that_is_let_go_falls_back_on_the_table() {
        let mut world = started();
        demonstrate(&mut world, 150, |_, _| ());
        assert!(world.block()[2] > 0.15);
        go(&mut world, X[3..].try_into().unwrap(), -1.0, 40);
        assert!((world.block()[2] - LYING_M).abs() < 2e-3, "{:?}", world.block());
    }

    #[test]
    fn the_gripper_keeps_going_until_told_otherwise() {
        let mut world = started();
        let mut opening_after = |grip: f32| {
            (0..12).for_each(|_| _ = world.step(&[0.0, 0.0, 0.0, grip], &mut Rng::new(0)));
            world.cell.opening()
        };
        let [open, closed, still_closed, reopened] = [0.19, 0.21, -0.19, -0.21].map(&mut opening_after);
        assert!(open > 0.99 && closed < -0.8 && still_closed < closed && reopened > 0.8);
    }

    #[test]
    fn an_episode_does_not_depend_on_the_one_before() {
        let future = |mut world: PickAndPlace| {
            let mut rewards = vec![];
            demonstrate(&mut world, 120, |_, step| rewards.push(step.reward));
            rewards
        };
        let mut used = started();
        demonstrate(&mut used, 90, |_, _| ());
        assert!(used.block()[2] > 0.1, "it was stopped with the block in the air");
        used.start(&X, &mut Rng::new(9));
        assert_eq!(future(used), future(started()));
    }

    #[test]
    fn a_fork_in_mid_air_has_the_same_future() {
        let mut world = started();
        demonstrate(&mut world, 70, |_, _| ());
        let mut copy = world.clone();
        let (mut ours, mut theirs) = (vec![], vec![]);
        demonstrate(&mut copy, 40, |_, step| theirs.push(step.reward));
        demonstrate(&mut world, 40, |_, step| ours.push(step.reward));
        assert_eq!(ours, theirs);
    }
}
