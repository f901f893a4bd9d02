//! Balancing a pole on a cart that is pushed left or right.
//!
//! With M = m_c + m_p, half the pole's length l, and the push f = ±F:
//!
//! ```text
//! h  = (f + m_p l θ̇² sin θ) / M
//! θ̈ = (g sin θ − h cos θ) / (l (4/3 − m_p cos² θ / M))
//! ẍ  = h − m_p l θ̈ cos θ / M
//! ```
//!
//! integrated by explicit Euler steps of 0.02 s: positions move by the old velocities.
//!
//! Reference: Barto, Sutton and Anderson, IEEE Trans. SMC 13 (1983); Gymnasium's CartPole-v1, whose bits these are.

use super::motion::{Environment, Motion};
use super::{DIVERGED, classic_image};
use offnominal_core::catalogue::parse;
use offnominal_core::frame::Frame;
use offnominal_core::prelude::*;
use serde::Deserialize;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "cartpole",
    summary: "balance a pole on a cart by pushing it left or right (CartPole-v1)",
    build: |params| {
        let Options { sutton_barto_reward } = parse(params)?;
        let motion = Cartpole { sutton_barto_reward, ..Cartpole::default() };
        Ok(Box::new(Environment::new(spec(), motion, &[0.0; 4])))
    },
    exempt: &[],
};

/// What can be chosen when the environment is built.
#[derive(Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Reward −1 for the step that ends an episode and 0 for all others, instead of 1 for each.
    sutton_barto_reward: bool,
}

/// Seconds per step.
const DT_SECS: f64 = 0.02;
/// Distance from the middle of the track at which an episode ends.
const TRACK_M: f64 = 2.4;
/// Angle from upright at which an episode ends: 12°, as the reference computes it.
const FALLEN_RAD: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
/// The law of motion of cart and pole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cartpole {
    gravity: f64,
    cart_mass: f64,
    pole_mass: f64,
    half_length: f64,
    force: f64,
    sutton_barto_reward: bool,
    /// Of cart and pole together; follows from the constants above.
    total_mass: f64,
    /// Mass of the pole times half its length; follows from the constants above.
    moment: f64,
}

impl Default for Cartpole {
    fn default() -> Self {
        let constants = Cartpole {
            gravity: 9.8,
            cart_mass: 1.0,
            pole_mass: 0.1,
            half_length: 0.5,
            force: 10.0,
            sutton_barto_reward: false,
            total_mass: 0.0,
            moment: 0.0,
        };
        constants.derived()
    }
}

/// Position, velocity, angle and angular velocity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CartState {
    x: f64,
    v: f64,
    theta: f64,
    omega: f64,
}

impl CartState {
    fn has_fallen(&self) -> bool {
        self.x < -TRACK_M || self.x > TRACK_M || self.theta < -FALLEN_RAD || self.theta > FALLEN_RAD
    }
}

impl Cartpole {
    fn derived(self) -> Cartpole {
        let (total_mass, moment) = (self.pole_mass + self.cart_mass, self.pole_mass * self.half_length);
        Cartpole { total_mass, moment, ..self }
    }

    /// Accelerations of the cart and of the pole's angle. The order of operations is that of the reference.
    fn accelerations(&self, s: &CartState, push: f64) -> (f64, f64) {
        let (sin, cos) = (s.theta.sin(), s.theta.cos());
        let shared = (push + self.moment * (s.omega * s.omega) * sin) / self.total_mass;
        let inertia = self.half_length * (4.0 / 3.0 - self.pole_mass * (cos * cos) / self.total_mass);
        let angular = (self.gravity * sin - cos * shared) / inertia;
        (shared - self.moment * angular * cos / self.total_mass, angular)
    }

    fn reward(&self, ended: bool) -> f64 {
        match (self.sutton_barto_reward, ended) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => -1.0,
        }
    }
}

impl Motion for Cartpole {
    type State = CartState;

    const RESET: &'static [f64] = &[0.05; 4];

    fn state(x: &[f64]) -> CartState {
        CartState::from(std::array::from_fn(|i| x[i]))
    }

    fn numbers(s: &CartState) -> Vec<f64> {
        vec![s.x, s.v, s.theta, s.omega]
    }

    fn advance(&self, s: &mut CartState, action: f32) -> Step {
        if action.is_nan() {
            return DIVERGED;
        }
        // The nearest of two choices, clipped.
        let push = if action >= 0.5 { self.force } else { -self.force };
        let (linear, angular) = self.accelerations(s, push);
        *s = CartState {
            x: s.x + DT_SECS * s.v,
            v: s.v + DT_SECS * linear,
            theta: s.theta + DT_SECS * s.omega,
            omega: s.omega + DT_SECS * angular,
        };
        let ended = s.has_fallen();
        Step { reward: self.reward(ended), status: if ended { Status::Failed } else { Status::Running } }
    }

    fn observe(&self, s: &CartState, obs: &mut [f32]) {
        obs.copy_from_slice(&[s.x as f32, s.v as f32, s.theta as f32, s.omega as f32]);
    }

    fn is_met(&self, s: &CartState) -> bool {
        !s.has_fallen()
    }

    fn render(&self, s: &CartState, frame: &mut Frame) {
        classic_image::cartpole(s.x, s.theta, 2.0 * self.half_length, frame);
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        Some(match parameter {
            "gravity" => self.gravity,
            "cart-mass" => self.cart_mass,
            "pole-mass" => self.pole_mass,
            "pole-length" => self.half_length,
            "force" => self.force,
            _ => return None,
        })
    }

    fn set(&mut self, parameter: &str, value: f64) {
        match parameter {
            "gravity" => self.gravity = value,
            "cart-mass" => self.cart_mass = value,
            "pole-mass" => self.pole_mass = value,
            "pole-length" => self.half_length = value,
            "force" => self.force = value,
            _ => unreachable!("the specification lists only the parameters above"),
        }
        *self = self.derived();
    }
}

impl From<[f64; 4]> for CartState {
    fn from([x, v, theta, omega]: [f64; 4]) -> CartState {
        CartState { x, v, theta, omega }
    }
}

fn spec() -> EnvSpec {
    EnvSpec {
        source: "Gymnasium 1.1.1, CartPole-v1 (after Barto, Sutton and Anderson, 1983), bit for bit where sine and cosine \
                 are those of the C library. Deviation: derived constants follow a changed parameter at once, which \
                 those of Gymnasium do not. Option `sutton_barto_reward`: −1 for the step that ends the episode, 0 for \
                 all others"
            .into(),
        observation: vec![
            Channel::new("x", "position of the cart; an episode ends beyond ±2.4", "m", -4.8, 4.8),
            Channel::unbounded("x_velocity", "velocity of the cart", "m/s"),
            Channel::new("theta", "angle of the pole; 0 = upright, positive to the right", "rad", -0.41888, 0.41888),
            Channel::unbounded("theta_velocity", "angular velocity of the pole", "rad/s"),
        ],
        action: vec![Channel::choice("push", "direction of the push; 0 = left, 1 = right", 2)],
        dt_secs: DT_SECS,
        horizon: 500,
        parameters: parameters(),
        initial: ["x", "x_velocity", "theta", "theta_velocity"].map(String::from).into(),
        reward: "1 in each step, the last one included".into(),
        reset: "every position and velocity uniform in [−0.05, 0.05]".into(),
        success: "the pole is up at the horizon; the episode ends with failure once the cart is more than 2.4 m from \
                  the middle or the pole more than 12° from upright. The customary mark is a mean return of 475"
            .into(),
        classes: classic_image::CARTPOLE.map(String::from).into(),
        cameras: vec!["side".into()],
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

fn parameters() -> Vec<Parameter> {
    let length = "half the length of the pole, from hinge to centre";
    vec![
        Parameter::new("gravity", "acceleration of free fall", "m/s²", 9.8, 0.0, 1000.0),
        Parameter::new("cart-mass", "mass of the cart", "kg", 1.0, 1e-3, 1000.0),
        Parameter::new("pole-mass", "mass of the pole", "kg", 0.1, 1e-4, 1000.0),
        Parameter::new("pole-length", length, "m", 0.5, 1e-2, 100.0),
        Parameter::new("force", "size of the push", "N", 10.0, 0.0, 1000.0),
    ]
}
