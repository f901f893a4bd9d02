//! The arm, the controller that moves its tool in space, and the marker of the goal.
//!
//! The controller keeps a commanded point c. An action a moves it by clip(0.01 m · a, ±v dt) along each axis, within
//! the workspace; a soft weld (time constant 0.04 s, critically damped) drags the tool after it, its orientation fixed.
//! All that changes is in the simulation itself, so that a copy of the simulation is a copy of the workcell.

use super::super::mjc_image::Painter;
use super::goal::Goal;
use super::limits::{DT_SECS, FULL_MPS, WORKSPACE_M, displaced};
use offnominal_core::prelude::*;
use offnominal_mujoco::{Diverged, Model, MujocoError, Simulation};
use offnominal_rtde::ur3e::kinematics::HOME;
use serde_json::Value;
use std::sync::Arc;

/// How far a finger moves from open to closed, in m.
const STROKE_M: f64 = 0.0425;

/// Where in the simulation's arrays things are.
pub(super) mod layout {
    use std::ops::Range;
    pub const COMMAND: Range<usize> = 0..3;
    pub const GOAL: Range<usize> = 3..6;
    pub const JOINTS: Range<usize> = 0..6;
    pub const FINGERS: Range<usize> = 6..8;
    pub const TOOL: usize = 0;
    pub const TOOL_VELOCITY: usize = 3;
}

/// The workcell in progress. Cloning copies the state; model and card are shared until a parameter is changed.
#[derive(Clone)]
pub(super) struct Workcell {
    pub sim: Simulation,
    spec: Arc<EnvSpec>,
    painter: Painter,
    substeps: usize,
    goal: Goal,
    goal_speed_mps: f64,
    speed_mps: f64,
    nominal_damping: Arc<[f64]>,
    nominal_friction: Arc<[f64]>,
}

/// The classes of a mask other than the background, each with the geoms that belong to it.
pub(super) type Classes<'a> = &'a [(&'a str, &'a [&'a str])];

/// What the images of both tasks show.
pub(super) const CLASSES: Classes<'_> = &[
    ("floor", &["floor"]),
    ("table", &["table"]),
    (
        "arm",
        &[
            "base",
            "shoulder_column",
            "shoulder",
            "shoulder_cap",
            "upper_arm",
            "elbow_cap",
            "elbow",
            "forearm",
            "wrist_1",
            "wrist_1_cap",
            "wrist_2",
            "wrist_2_cap",
            "wrist_3",
        ],
    ),
    ("gripper", &["gripper", "knuckles", "finger_left", "pad_left", "finger_right", "pad_right"]),
    ("goal", &["goal"]),
];

impl Workcell {
    /// Compiles a model; there are no options.
    pub(super) fn build(
        mjcf: &str,
        spec: EnvSpec,
        classes: Classes<'_>,
        params: &Value,
    ) -> Result<Workcell, BuildError> {
        crate::env::no_options(params)?;
        Workcell::new(mjcf, spec, classes).map_err(|e| BuildError::Missing(Box::new(e)))
    }

    fn new(mjcf: &str, mut spec: EnvSpec, classes: Classes<'_>) -> Result<Workcell, MujocoError> {
        let model = Model::from_xml(mjcf)?;
        Ok(Workcell {
            painter: Painter::with_card(&model, classes, &mut spec)?,
            substeps: (DT_SECS / model.timestep_secs()).round() as usize,
            goal: Goal::at([0.0; 3]),
            goal_speed_mps: 0.0,
            speed_mps: FULL_MPS,
            nominal_damping: model.dof_damping().into(),
            nominal_friction: model.dof_frictionloss().into(),
            spec: Arc::new(spec),
            sim: Simulation::new(model)?,
        })
    }

    pub(super) fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    /// Begins an episode: the arm at home and at rest, the gripper open; `place` may move what else there is.
    pub(super) fn start(&mut self, goal_m: [f64; 3], place: impl FnOnce(&mut Simulation)) {
        self.sim.reset();
        self.sim.qpos_mut()[layout::JOINTS].copy_from_slice(&HOME);
        place(&mut self.sim);
        self.set_goal(goal_m);
        // An initial condition that is no state shows as divergence in the first step.
        let _ = self.sim.forward();
    }

    /// Moves the commanded point, and the arm after it, for one step.
    pub(super) fn advance(&mut self, action: &[f32]) -> Result<(), Diverged> {
        let most = self.speed_mps * DT_SECS;
        let axes = self.sim.mocap_pos_mut()[layout::COMMAND].iter_mut().zip(action).zip(WORKSPACE_M);
        for ((at, &a), bounds) in axes {
            *at = displaced(*at, a, most, bounds);
        }
        self.sim.step(self.substeps)
    }

    /// Position of the tool's centre, in m, as its sensor reads it.
    pub(super) fn tool(&self) -> [f64; 3] {
        self.reading(layout::TOOL)
    }

    /// Velocity of the tool's centre, in m/s, as its sensor reads it.
    pub(super) fn tool_velocity(&self) -> [f64; 3] {
        self.reading(layout::TOOL_VELOCITY)
    }

    fn reading(&self, from: usize) -> [f64; 3] {
        std::array::from_fn(|i| self.sim.sensordata()[from + i])
    }

    /// Closes or opens the gripper.
    pub(super) fn grip(&mut self, closed: bool) {
        self.sim.ctrl_mut()[0] = if closed { STROKE_M } else { 0.0 };
    }

    /// How far the gripper is open: 1 fully, −1 not at all.
    pub(super) fn opening(&self) -> f64 {
        let fingers = &self.sim.qpos()[layout::FINGERS];
        1.0 - fingers.iter().sum::<f64>() / STROKE_M
    }

    pub(super) fn goal(&self) -> [f64; 3] {
        self.goal.position_m
    }

    /// Puts the goal, and its marker, somewhere else.
    pub(super) fn set_goal(&mut self, position_m: [f64; 3]) {
        self.goal = Goal::at(position_m);
        self.mark();
    }

    /// Lets the goal move on for one step, if it moves.
    pub(super) fn move_goal(&mut self) {
        self.goal.advance(self.goal_speed_mps * DT_SECS);
        self.mark();
    }

    fn mark(&mut self) {
        self.sim.mocap_pos_mut()[layout::GOAL].copy_from_slice(&self.goal.position_m);
    }

    pub(super) fn parameter(&self, name: &str) -> Option<f64> {
        let joint = layout::JOINTS.start;
        Some(match name {
            "robot-speed" => self.speed_mps,
            "robot-friction" => self.sim.model().dof_damping()[joint] / self.nominal_damping[joint],
            "moving-goal" => self.goal_speed_mps,
            _ => return None,
        })
    }

    pub(super) fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "robot-speed" => self.speed_mps = value,
            "robot-friction" => self.scale_friction(value),
            _ => self.goal_speed_mps = value,
        }
        Ok(())
    }

    fn scale_friction(&mut self, factor: f64) {
        let model = self.sim.model_mut();
        for i in layout::JOINTS {
            model.dof_damping_mut()[i] = factor * self.nominal_damping[i];
            model.dof_frictionloss_mut()[i] = factor * self.nominal_friction[i];
        }
    }

    pub(super) fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.painter.draw(&mut self.sim, camera, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::FULL_M;
    use super::super::{card, distance, reach};
    use super::*;
    use offnominal_rtde::ur3e::model;

    fn cell() -> Workcell {
        let spec = card::reach(&reach::ENTRY);
        Workcell::build(&model::mjcf(), spec, &[], &serde_json::json!({})).unwrap()
    }

    fn started() -> Workcell {
        let mut cell = cell();
        cell.start([-0.05, 0.3, 0.15], |_| ());
        cell
    }

    /// Where the tool is after so many steps of one action.
    fn after(mut cell: Workcell, action: [f32; 3], steps: usize) -> [f64; 3] {
        (0..steps).for_each(|_| cell.advance(&action).unwrap());
        cell.tool()
    }

    #[test]
    fn an_episode_begins_at_home_and_stays_there_without_an_action() {
        let home = model::tool(&HOME).position_m;
        assert!(distance(started().tool(), home) < 1e-9);
        let later = after(started(), [0.0; 3], 100);
        assert!(distance(later, home) < 1e-3, "{later:?}");
    }

    #[test]
    fn the_tool_follows_at_full_speed_and_stops_at_the_workspace() {
        let (start, moved) = (started().tool(), after(started(), [1.0, 0.0, 0.0], 20));
        let lag = 20.0 * FULL_M - (moved[0] - start[0]);
        assert!((0.0..0.03).contains(&lag), "behind by {lag}");
        let corner = after(started(), [1.0, 1.0, -1.0], 100);
        assert!(distance(corner, [0.2, 0.4, 0.05]) < 5e-3, "{corner:?}");
    }

    #[test]
    fn the_orientation_stays() {
        let mut cell = started();
        (0..40).for_each(|t| cell.advance(&[if t % 20 < 10 { 1.0 } else { -1.0 }, 0.5, 0.5]).unwrap());
        let hand = cell.sim.model().id(offnominal_mujoco::ObjectType::Body, "hand").unwrap();
        let down = cell.sim.xmat()[9 * hand + 8];
        assert!(down < -0.995, "the tool's axis has the vertical component {down}");
    }

    #[test]
    fn a_slower_robot_clips_what_is_beyond_its_speed_only() {
        let moved = |speed: f64, action: f32| {
            let mut cell = started();
            cell.set_parameter("robot-speed", speed).unwrap();
            after(cell, [action, 0.0, 0.0], 25)[0]
        };
        assert_eq!(moved(0.1, 0.3), moved(FULL_MPS, 0.3));
        assert!(moved(0.1, 1.0) < moved(FULL_MPS, 1.0) - 0.1);
    }

    #[test]
    fn friction_makes_the_tool_lag() {
        let moved = |factor: f64| {
            let mut cell = started();
            cell.set_parameter("robot-friction", factor).unwrap();
            after(cell, [1.0, 0.0, 0.0], 5)[0]
        };
        assert!(moved(1.0) > moved(20.0) + 1e-3, "{} {}", moved(1.0), moved(20.0));
        assert!(moved(20.0) > moved(200.0) + 1e-3, "{} {}", moved(20.0), moved(200.0));
    }

    #[test]
    fn an_episode_does_not_depend_on_the_one_before() {
        let mut used = started();
        used.grip(true);
        (0..30).for_each(|_| used.advance(&[-1.0, 1.0, 1.0]).unwrap());
        used.start([-0.05, 0.3, 0.15], |_| ());
        assert_eq!(after(used, [0.3, -0.8, 0.1], 30), after(started(), [0.3, -0.8, 0.1], 30));
    }

    #[test]
    fn numbers_that_are_none_diverge_and_leave_finite_readings() {
        let mut cell = started();
        assert_eq!(cell.advance(&[f32::NAN, 0.0, 0.0]), Err(Diverged));
        assert!(cell.tool().iter().all(|v| v.is_finite()));
        assert_eq!(cell.advance(&[0.0; 3]), Ok(()), "it works again");
    }

    #[test]
    fn the_gripper_opens_and_closes_within_half_a_second() {
        let mut cell = started();
        assert_eq!(cell.opening(), 1.0);
        cell.grip(true);
        (0..20).for_each(|_| cell.advance(&[0.0; 3]).unwrap());
        assert!((cell.opening() + 1.0).abs() < 0.1, "{}", cell.opening());
        cell.grip(false);
        (0..20).for_each(|_| cell.advance(&[0.0; 3]).unwrap());
        assert!((cell.opening() - 1.0).abs() < 0.1, "{}", cell.opening());
    }
}
