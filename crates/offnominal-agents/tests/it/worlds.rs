//! Two worlds small enough to be understood at a glance.

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
        classes: vec![],
        cameras: vec![],
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
}

impl Env for Point {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

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
        self.v += 0.1 * f64::from(action[0]) + 0.01 * rng.normal();
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

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
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
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

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

    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}
