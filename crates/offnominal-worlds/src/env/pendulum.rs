//! Swinging up a pendulum with a motor too weak to lift it.
//!
//! A uniform rod of mass m and length l turns about its end, θ = 0 upright, under the torque u:
//!
//! ```text
//! θ̇′ = θ̇ + (3g / (2l) sin θ + 3 / (m l²) u) Δt,   θ′ = θ + θ̇′ Δt
//! reward = −(wrap(θ)² + 0.1 θ̇² + 0.001 u²), of the state before the step
//! ```
//!
//! The speed is limited before the angle moves (`clipped`); with `integrator = "legacy"` the angle moves by the speed
//! before the limit, as it did until Gym 0.20.
//!
//! Reference: Gymnasium's Pendulum-v1, whose bits these are; rewards may differ in the last bit, because a square here
//! is a product and there a call of `pow`.

use super::motion::{Environment, Motion};
use super::{DIVERGED, classic_image};
use offnominal_core::catalogue::parse;
use offnominal_core::frame::Frame;
use offnominal_core::prelude::*;
use serde::Deserialize;
use std::f64::consts::{PI, TAU};

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "pendulum",
    summary: "swing up a pendulum with a weak motor (Pendulum-v1)",
    build: |params| {
        let Options { integrator } = parse(params)?;
        let motion = Pendulum { integrator, ..Pendulum::default() };
        Ok(Box::new(Environment::new(spec(), motion, &[PI, 0.0])))
    },
    exempt: &[],
};

/// What can be chosen when the environment is built.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Options {
    integrator: Integrator,
}

/// By which speed the angle moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// By the new speed within its limits: Gym 0.21 and later, and Gymnasium.
    #[default]
    Clipped,
    /// By the new speed before it is limited: Gym until 0.20.
    Legacy,
}

/// Seconds per step.
const DT_SECS: f64 = 0.05;
/// Angle (rad) and speed (rad/s) within which the pendulum counts as upright and at rest.
const UPRIGHT: [f64; 2] = [0.2, 0.5];

with_defaults! {
    /// The law of motion of the pendulum.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Pendulum {
        gravity: f64 = 10.0,
        mass: f64 = 1.0,
        length: f64 = 1.0,
        max_speed: f64 = 8.0,
        max_torque: f64 = 2.0,
        integrator: Integrator = Integrator::Clipped,
    }
}

/// Angle, not wrapped, and angular velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swing {
    theta: f64,
    omega: f64,
}

/// The angle in [−π, π).
fn wrapped(theta: f64) -> f64 {
    (theta + PI).rem_euclid(TAU) - PI
}

impl Pendulum {
    /// The angular velocity after a step, before its limit. The order of operations is that of the reference.
    fn accelerated(&self, s: &Swing, torque: f64) -> f64 {
        let fall = 3.0 * self.gravity / (2.0 * self.length) * s.theta.sin();
        let drive = 3.0 / (self.mass * (self.length * self.length)) * torque;
        s.omega + (fall + drive) * DT_SECS
    }
}

impl Motion for Pendulum {
    type State = Swing;

    /// Angle (rad) and speed (rad/s).
    const RESET: &'static [f64] = &[PI, 1.0];

    fn state(x: &[f64]) -> Swing {
        Swing { theta: x[0], omega: x[1] }
    }

    fn numbers(s: &Swing) -> Vec<f64> {
        vec![s.theta, s.omega]
    }

    fn advance(&self, s: &mut Swing, action: f32) -> Step {
        if action.is_nan() {
            return DIVERGED;
        }
        let torque = f64::from(action).clamp(-self.max_torque, self.max_torque);
        let error = wrapped(s.theta);
        let cost = error * error + 0.1 * (s.omega * s.omega) + 0.001 * (torque * torque);
        let free = self.accelerated(s, torque);
        let limited = free.clamp(-self.max_speed, self.max_speed);
        let moving = if self.integrator == Integrator::Legacy { free } else { limited };
        *s = Swing { theta: s.theta + moving * DT_SECS, omega: limited };
        Step::running(-cost)
    }

    fn observe(&self, s: &Swing, obs: &mut [f32]) {
        obs.copy_from_slice(&[s.theta.cos() as f32, s.theta.sin() as f32, s.omega as f32]);
    }

    fn is_met(&self, s: &Swing) -> bool {
        wrapped(s.theta).abs() <= UPRIGHT[0] && s.omega.abs() <= UPRIGHT[1]
    }

    fn render(&self, s: &Swing, frame: &mut Frame) {
        classic_image::pendulum(s.theta, self.length, frame);
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        Some(match parameter {
            "gravity" => self.gravity,
            "mass" => self.mass,
            "length" => self.length,
            "max-speed" => self.max_speed,
            "max-torque" => self.max_torque,
            _ => return None,
        })
    }

    fn set(&mut self, parameter: &str, value: f64) {
        match parameter {
            "gravity" => self.gravity = value,
            "mass" => self.mass = value,
            "length" => self.length = value,
            "max-speed" => self.max_speed = value,
            "max-torque" => self.max_torque = value,
            _ => unreachable!("the specification lists only the parameters above"),
        }
    }
}

fn spec() -> EnvSpec {
    EnvSpec {
        source: "Gymnasium 1.1.1, Pendulum-v1, bit for bit where sine and cosine are those of the C library (rewards to \
                 the last bit). Option `integrator`: `clipped` moves the angle by the speed after its limit, `legacy` \
                 by the speed before, as Gym did until 0.20. Actions keep their range of ±2 whatever `max-torque` is, \
                 as a policy that was trained with it does: a larger `max-torque` therefore changes nothing and is a \
                 null control"
            .into(),
        observation: vec![
            Channel::new("cos_theta", "cosine of the angle; 1 = upright", "1", -1.0, 1.0),
            Channel::new("sin_theta", "sine of the angle", "1", -1.0, 1.0),
            Channel::new("theta_velocity", "angular velocity; a larger `max-speed` exceeds the range", "rad/s", -8.0, 8.0),
        ],
        action: vec![Channel::new("torque", "torque of the motor, limited by `max-torque`", "N m", -2.0, 2.0)],
        dt_secs: DT_SECS,
        horizon: 200,
        parameters: parameters(),
        initial: ["theta", "theta_velocity"].map(String::from).into(),
        reward: "−(θ² + 0.1 θ̇² + 0.001 u²) with the angle wrapped to [−π, π), of the state before the step".into(),
        reset: "angle uniform in [−π, π], angular velocity uniform in [−1, 1]".into(),
        success: "met while the pendulum is within 0.2 rad of upright and slower than 0.5 rad/s; no episode ends before \
                  the horizon"
            .into(),
        classes: classic_image::PENDULUM.map(String::from).into(),
        cameras: vec!["side".into()],
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::new("gravity", "acceleration of free fall", "m/s²", 10.0, 0.0, 1000.0),
        Parameter::new("mass", "mass of the rod", "kg", 1.0, 1e-3, 1000.0),
        Parameter::new("length", "length of the rod", "m", 1.0, 1e-2, 100.0),
        Parameter::new("max-speed", "limit of the angular velocity", "rad/s", 8.0, 0.0, 1000.0),
        Parameter::new("max-torque", "limit of the torque", "N m", 2.0, 0.0, 1000.0),
    ]
}
