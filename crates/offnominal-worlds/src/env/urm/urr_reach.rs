//! Reaching four goals in space with a robot at the other end of a link.
//!
//! The task is that of `urm-reach`. An action moves a point, kinematics make a posture of it, and the robot follows
//! the stream of postures. With the option `{"robot": "HOST"}` it is the robot at that address, of which there is only
//! one; without it each copy of the environment has a simulated controller of its own, reached by the same bytes.

use super::goal::Goal;
use super::goals::{GoalSequence, reward};
use super::limits::{DT_SECS, FULL_MPS, WORKSPACE_M, displaced};
use super::workcell::{CLASSES, layout};
use super::{card, distance};
use crate::env::DIVERGED;
use crate::env::mjc_image::Painter;
use crate::env::only_one::OnlyOne;
use offnominal_core::prelude::*;
use offnominal_mujoco::{Model, MujocoError, Simulation};
use offnominal_rtde::link::{Ports, Tcp};
use offnominal_rtde::robot::Servo;
use offnominal_rtde::simulated::{Controller, Loopback};
use offnominal_rtde::ur3e::kinematics::HOME;
use offnominal_rtde::ur3e::{Joints, Pose, inverse, model};
use offnominal_rtde::{Link, LinkError, Robot};
use serde::Deserialize;
use std::sync::Arc;

pub(in super::super) const ENTRY: Entry<dyn Env> = Entry {
    id: "urr-reach",
    summary: "bring the tool of a robot UR3e to one goal after the other (RTDE)",
    build: |params| build(params, Ports::default()),
    exempt: &[],
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Address of the robot; the simulated controller stands in for it if there is none.
    robot: Option<String>,
}

fn build(params: &serde_json::Value, ports: Ports) -> Result<Box<dyn Env>, BuildError> {
    let options: Options = offnominal_core::catalogue::parse(params)?;
    let missing = |link_error: LinkError| BuildError::Missing(Box::new(link_error));
    match options.robot {
        None => {
            let link = Loopback::new(Controller::new().map_err(missing)?);
            Ok(Box::new(Reach { is_home: true, ..Reach::new(Box::new(link))? }))
        }
        Some(host) => {
            let link = Tcp::connect(&host, ports).map_err(missing)?;
            Ok(Box::new(OnlyOne::new(Reach::new(Box::new(link))?)))
        }
    }
}

/// How far a joint may turn in a step, in rad: 2.5 rad/s, below the 3.14 rad/s at which controllers stop the arm.
const MOST_TURN_RAD: f64 = 0.1;

/// How far outside the workspace the tool may be before the episode is ended, in m.
const MARGIN_M: f64 = 0.05;

struct Reach {
    spec: Arc<EnvSpec>,
    robot: Robot,
    goals: GoalSequence,
    goal: Goal,
    goal_speed_mps: f64,
    speed_mps: f64,
    servo: Servo,
    /// Where the tool is sent, in m, and the posture for it.
    commanded_m: [f64; 3],
    posture: Joints,
    is_home: bool,
    /// The robot's time at which the next observation is due, in s.
    due_secs: f64,
    link_error: Option<LinkError>,
    model: Arc<Model>,
    painter: Painter,
    /// What images are drawn of: made for the first one.
    double: Option<Simulation>,
}

impl Reach {
    fn new(link: Box<dyn Link>) -> Result<Reach, BuildError> {
        let robot = Robot::open(link).map_err(|t| BuildError::Missing(Box::new(t)))?;
        Reach::with(robot).map_err(|e| BuildError::Missing(Box::new(e)))
    }

    fn with(robot: Robot) -> Result<Reach, MujocoError> {
        let model = Model::from_xml(&model::mjcf())?;
        let mut spec = card::urr_reach(&ENTRY);
        Ok(Reach {
            painter: Painter::with_card(&model, CLASSES, &mut spec)?,
            model: Arc::new(model),
            spec: Arc::new(spec),
            robot,
            goals: GoalSequence::default(),
            goal: Goal::at([0.0; 3]),
            goal_speed_mps: 0.0,
            speed_mps: FULL_MPS,
            servo: Servo::default(),
            commanded_m: model::tool(&HOME).position_m,
            posture: HOME,
            is_home: false,
            due_secs: 0.0,
            link_error: None,
            double: None,
        })
    }

    /// Brings the robot back to where episodes begin.
    fn go_home(&mut self) -> Result<(), LinkError> {
        if !self.is_home {
            self.robot.travel(&HOME)?;
        }
        self.is_home = true;
        (self.commanded_m, self.posture) = (model::tool(&HOME).position_m, HOME);
        self.due_secs = self.robot.state().time_secs;
        Ok(())
    }

    /// Moves the commanded point, has the robot follow, and waits for the next observation.
    fn advance(&mut self, action: &[f32]) -> Result<(), LinkError> {
        if let Some(bad) = action.iter().find(|a| !a.is_finite()) {
            return Err(LinkError::OutOfReach(format!("expected a finite action, found {bad}")));
        }
        (self.commanded_m, self.posture) = self.next(action);
        self.is_home = false;
        self.robot.follow(&self.posture, self.servo)?;
        self.keep_pace();
        self.robot.wait(self.due_secs)?;
        self.check_place()
    }

    /// Where the tool is sent next, and the posture for it. The way is halved until the arm reaches its end without
    /// hurry; corners of the workspace are out of its reach.
    fn next(&self, action: &[f32]) -> ([f64; 3], Joints) {
        let (at, most) = (self.commanded_m, self.speed_mps * DT_SECS);
        let wanted: [f64; 3] = std::array::from_fn(|i| displaced(at[i], action[i], most, WORKSPACE_M[i]));
        let part_of_the_way = |part: f64| {
            let place = std::array::from_fn(|i| at[i] + part * (wanted[i] - at[i]));
            let there = posture(place, &self.posture)?;
            let turn = there.iter().zip(self.posture).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            (turn <= MOST_TURN_RAD).then_some((place, there))
        };
        let nearer = [1.0, 0.5, 0.25, 0.125].into_iter().find_map(part_of_the_way);
        nearer.unwrap_or((at, self.posture))
    }

    /// Sets the next time. A policy that was too slow for its step is not made up for by shorter ones.
    fn keep_pace(&mut self) {
        let now = self.robot.state().time_secs;
        self.due_secs = if self.due_secs + DT_SECS > now { self.due_secs + DT_SECS } else { now + DT_SECS };
    }

    fn check_place(&self) -> Result<(), LinkError> {
        let outside =
            |(at, (low, high)): (f64, (f64, f64))| !(low - MARGIN_M..=high + MARGIN_M).contains(&at);
        if self.tool().into_iter().zip(WORKSPACE_M).any(outside) {
            return Err(LinkError::LeftWorkspace(format!("its tool is at {:.3?} m", self.tool())));
        }
        Ok(())
    }

    fn tool(&self) -> [f64; 3] {
        model::tool(&self.robot.state().q).position_m
    }

    /// By central differences along the measured rates of the joints.
    fn tool_velocity(&self) -> [f64; 3] {
        const H_SECS: f64 = 1e-4;
        let state = self.robot.state();
        let after = |secs: f64| -> [f64; 3] {
            model::tool(&std::array::from_fn(|i| state.q[i] + secs * state.qd[i])).position_m
        };
        let (ahead, behind) = (after(H_SECS), after(-H_SECS));
        std::array::from_fn(|i| (ahead[i] - behind[i]) / (2.0 * H_SECS))
    }

    fn distance(&self) -> f64 {
        distance(self.tool(), self.goal.position_m)
    }
}

/// The posture that brings the tool, looking down as at home, to a place in the environment.
fn posture(tool_m: [f64; 3], near: &Joints) -> Option<Joints> {
    let world_from_tool = Pose { position_m: tool_m, ..model::tool(&HOME) };
    let tool_from_flange = Pose { position_m: [0.0, 0.0, -model::TOOL_M], ..Pose::IDENTITY };
    let base_from_flange = model::WORLD_FROM_BASE.inverse().then(&world_from_tool).then(&tool_from_flange);
    inverse(&base_from_flange, near)
}

impl Env for Reach {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        GoalSequence::draw(rng)
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.goals = GoalSequence::new(x);
        self.goal = Goal::at(self.goals.first());
        if self.link_error.is_none() {
            // What went wrong shows as divergence in the first step.
            self.link_error = self.go_home().err();
        }
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 9, "length of the observation");
        let numbers = [self.tool(), self.tool_velocity(), self.goal.position_m];
        obs.iter_mut().zip(numbers.as_flattened()).for_each(|(o, &n)| *o = n as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        assert_eq!(action.len(), 3, "length of the action");
        if self.link_error.is_none() {
            self.link_error = self.advance(action).err();
        }
        if self.link_error.is_some() {
            return DIVERGED;
        }
        let reward = reward(self.distance(), action);
        match self.goals.advance(self.distance()) {
            Some(next) => self.goal = Goal::at(next),
            None => self.goal.advance(self.goal_speed_mps * DT_SECS),
        }
        Step::running(reward)
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.goals.is_met(self.distance()))
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "robot-speed" => self.speed_mps,
            "moving-goal" => self.goal_speed_mps,
            "control-latency" => self.servo.latency_secs,
            "control-smoothing" => self.servo.lookahead_secs,
            _ => return None,
        })
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "robot-speed" => self.speed_mps = value,
            "moving-goal" => self.goal_speed_mps = value,
            "control-latency" => self.servo.latency_secs = value,
            _ => self.servo.lookahead_secs = value,
        }
        Ok(())
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(Reach {
            robot: self.robot.fork()?,
            spec: Arc::clone(&self.spec),
            goals: self.goals.clone(),
            model: Arc::clone(&self.model),
            painter: self.painter.clone(),
            link_error: self.link_error.clone(),
            double: None,
            ..*self
        }))
    }

    fn health(&self) -> Result<(), String> {
        self.link_error.as_ref().map_or(Ok(()), |why| Err(why.to_string()))
    }

    /// Draws the model in the measured posture: a robot has no image of itself.
    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        if self.double.is_none() {
            self.double = Simulation::new(Model::clone(&self.model)).ok();
        }
        let Some(double) = &mut self.double else { return };
        double.qpos_mut()[layout::JOINTS].copy_from_slice(&self.robot.state().q);
        double.mocap_pos_mut()[layout::GOAL].copy_from_slice(&self.goal.position_m);
        self.painter.draw(double, camera, frame);
    }
}

#[cfg(test)]
mod tests;
