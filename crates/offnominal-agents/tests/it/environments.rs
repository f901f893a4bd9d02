//! Environments small enough to be understood at a glance.

use offnominal_agents::{Actions, Algorithm};
use offnominal_core::prelude::*;
use std::f64::consts::PI;

fn spec(id: &str, obs: &[&str], torque: f64, initial: &[&str], horizon: u32) -> EnvSpec {
    EnvSpec {
        id: id.into(),
        summary: "a test".into(),
        source: "none".into(),
        observation: obs.iter().map(|n| Channel::unbounded(n, "", "1")).collect(),
        action: vec![Channel::new("u", "force", "N", -torque, torque)],
        dt_secs: 0.05,
        horizon,
        parameters: vec![],
        initial: initial.iter().map(|n| n.to_string()).collect(),
        reward: "see step".into(),
        reset: "uniform".into(),
        success: "see step".into(),
        ..EnvSpec::default()
    }
}

/// A noisy point on a line that should come to the origin; it fails beyond ±3.
#[derive(Clone)]
pub struct Point {
    spec: EnvSpec,
    x: f64,
    v: f64,
}

impl Point {
    pub fn new() -> Point {
        Point { spec: spec("point", &["x", "v"], 2.0, &["x"], 30), x: 0.0, v: 0.0 }
    }

    /// The same pushed left, not at all, or right.
    pub fn with_choices() -> Point {
        let mut point = Point::new();
        point.spec.action = vec![Channel::choice("push", "left, none, right", 3)];
        point
    }

    /// The one whose actions an algorithm can learn.
    pub fn for_algorithm(algorithm: &Algorithm) -> Point {
        match algorithm.actions {
            Actions::Real => Point::new(),
            Actions::Choice => Point::with_choices(),
        }
    }

    fn force(&self, action: f32) -> f64 {
        match self.spec.action[0].is_choice() {
            true => 2.0 * (f64::from(action) - 1.0),
            false => f64::from(action),
        }
    }
}

impl Env for Point {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.range(-2.0, 2.0)]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        (self.x, self.v) = (x[0], 0.0);
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.copy_from_slice(&[self.x as f32, self.v as f32]);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.v += 0.1 * self.force(action[0]) + 0.01 * rng.normal();
        self.x += 0.1 * self.v;
        let status = if self.x.abs() > 3.0 { Status::Failed } else { Status::Running };
        Step { reward: -self.x * self.x, status }
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.x.abs() < 0.3)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }
}

/// The swing-up of a torque-limited pendulum, with the constants of Gymnasium's `Pendulum-v1`.
#[derive(Clone)]
pub struct Pendulum {
    spec: EnvSpec,
    angle: f64,
    rate: f64,
}

impl Pendulum {
    pub fn new() -> Pendulum {
        let spec = spec("pendulum-test", &["cos", "sin", "rate"], 2.0, &["angle", "rate"], 200);
        Pendulum { spec, angle: 0.0, rate: 0.0 }
    }
}

impl Env for Pendulum {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.range(-PI, PI), rng.range(-1.0, 1.0)]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        (self.angle, self.rate) = (x[0], x[1]);
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.copy_from_slice(&[self.angle.cos() as f32, self.angle.sin() as f32, self.rate as f32]);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let torque = f64::from(action[0]);
        let wrapped = (self.angle + PI).rem_euclid(2.0 * PI) - PI;
        let cost = wrapped * wrapped + 0.1 * self.rate * self.rate + 0.001 * torque * torque;
        self.rate = (self.rate + (15.0 * self.angle.sin() + 3.0 * torque) * 0.05).clamp(-8.0, 8.0);
        self.angle += self.rate * 0.05;
        Step::running(-cost)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }
}

/// A pole on a cart that is pushed left or right, with the constants of Gymnasium's `CartPole-v1`.
#[derive(Clone)]
pub struct Cartpole {
    spec: EnvSpec,
    /// Position, speed, angle, rate.
    state: [f64; 4],
}

impl Cartpole {
    pub fn new() -> Cartpole {
        let names = ["x", "v", "angle", "rate"];
        let mut spec = spec("cartpole-test", &names, 1.0, &names, 500);
        spec.action = vec![Channel::choice("push", "left, right", 2)];
        Cartpole { spec, state: [0.0; 4] }
    }
}

impl Env for Cartpole {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        (0..4).map(|_| rng.range(-0.05, 0.05)).collect()
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.state.copy_from_slice(x);
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.iter_mut().zip(self.state).for_each(|(o, s)| *o = s as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let [x, v, angle, rate] = self.state;
        let (sin, cos) = angle.sin_cos();
        let push = (20.0 * f64::from(action[0]) - 10.0 + 0.05 * rate * rate * sin) / 1.1;
        let turn = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1));
        let slide = push - 0.05 * turn * cos / 1.1;
        self.state = [x + 0.02 * v, v + 0.02 * slide, angle + 0.02 * rate, rate + 0.02 * turn];
        let fallen = self.state[0].abs() > 2.4 || self.state[2].abs() > 12.0_f64.to_radians();
        Step { reward: 1.0, status: if fallen { Status::Failed } else { Status::Running } }
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }
}

/// A bright dot on an image of 6 × 6 that should come to the middle columns; seen twice, as it was and as it is.
#[derive(Clone)]
pub struct Dot {
    spec: EnvSpec,
    /// Column of the dot before the last step and after it.
    columns: [usize; 2],
}

impl Dot {
    pub fn new() -> Dot {
        let mut spec = spec("dot", &[], 1.0, &["column"], 12);
        spec.observation = vec![Channel::image("view", "the dot", Image::grey(2, 6, 6))];
        spec.action = vec![Channel::choice("push", "left, none, right", 3)];
        Dot { spec, columns: [0, 0] }
    }
}

impl Env for Dot {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.below(6) as f64]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.columns = [x[0].clamp(0.0, 5.0) as usize; 2];
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.fill(20.0);
        for (frame, column) in self.columns.into_iter().enumerate() {
            obs[36 * frame + 6 * 3 + column] = 250.0;
        }
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let now =
            self.columns[1] as f32 + self.spec.action[0].chosen(action[0]).map_or(0.0, |c| c as f32 - 1.0);
        self.columns = [self.columns[1], now.clamp(0.0, 5.0) as usize];
        Step::running(2.0 - (self.columns[1] as f64 - 2.5).abs().max(0.5) - 1.5)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)
    }
}
