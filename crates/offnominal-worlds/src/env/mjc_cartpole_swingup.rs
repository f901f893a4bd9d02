//! Swinging up a pole that hangs from a cart, and holding it.
//!
//! reward = exp(−|p − g|² / 0.36) − 0.01 |a|², with the pole's tip p = (x − 0.6 sin θ, −0.6 cos θ) and the goal
//! g = (0, 0.6): the tip upright above the middle of the rail.
//!
//! | symbol | meaning                            | unit |
//! |--------|------------------------------------|------|
//! | x      | position of the cart               | m    |
//! | θ      | angle of the pole; 0 = hanging     | rad  |
//! | a      | action of the motor               | 1    |
//!
//! Reference: the environment `Mujoco-CartpoleSwingup` of Anomaly-Gym (2025), after Chua et al., NeurIPS 2018.

use super::DIVERGED;
use super::mjc::{Design, Rig, delegate_to, squared_length};
use offnominal_core::prelude::*;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "mjc-cartpole-swingup",
    summary: "swing up a pole by moving the cart it hangs from (MuJoCo)",
    build: |params| Ok(Box::new(CartpoleSwingup { rig: Rig::build(design(), params)? })),
    exempt: &[],
};

/// The rail, and its marks at every half metre.
const RAIL: &[&str] = &[
    "rail", "mark0", "mark1", "mark2", "mark3", "mark4", "mark5", "mark6", "mark7", "mark8", "mark9",
    "mark10",
];

/// Length of the pole.
const POLE_M: f64 = 0.6;

#[derive(Clone)]
struct CartpoleSwingup {
    rig: Rig,
}

impl CartpoleSwingup {
    /// Squared distance between the tip and the goal.
    fn squared_miss(&self) -> f64 {
        let (x, theta) = (self.rig.sim.qpos()[0], self.rig.sim.qpos()[1]);
        let (across, up) = (x - POLE_M * theta.sin(), -POLE_M * theta.cos() - POLE_M);
        across * across + up * up
    }
}

impl Env for CartpoleSwingup {
    delegate_to!(rig);

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.rig.draw(rng)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        &self.rig
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.rig.start(x);
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 4, "length of the observation");
        let state = self.rig.sim.qpos().iter().chain(self.rig.sim.qvel());
        obs.iter_mut().zip(state).for_each(|(o, &s)| *o = s as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        if self.rig.advance(action).is_err() {
            return DIVERGED;
        }
        Step::running((-self.squared_miss() / 0.36).exp() - 0.01 * squared_length(action))
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.squared_miss().sqrt() < 0.025)
    }
}

fn design() -> Design {
    Design {
        xml: include_str!("../../models/mjc_cartpole_swingup.xml"),
        spec: spec(),
        pushed_body: "pole",
        push_direction: [-1.0, 0.0, 0.0],
        most_mass: 20.0,
        classes: &[("rail", RAIL), ("cart", &["cart"]), ("pole", &["pole"])],
    }
}

fn spec() -> EnvSpec {
    EnvSpec {
        source: "Anomaly-Gym (2025), Mujoco-CartpoleSwingup; simulated by MuJoCo 3.17.0. No deviations.".into(),
        observation: vec![
            Channel::unbounded("x", "position of the cart; soft stops at ±2.5", "m"),
            Channel::unbounded("theta", "angle of the pole, not wrapped; 0 = hanging, ±π = upright", "rad"),
            Channel::unbounded("x_velocity", "velocity of the cart", "m/s"),
            Channel::unbounded("theta_velocity", "angular velocity of the pole", "rad/s"),
        ],
        action: vec![Channel::new("drive", "force on the cart, in units of 100 N", "100 N", -3.0, 3.0)],
        dt_secs: 0.04,
        horizon: 200,
        initial: ["x", "theta", "x_velocity", "theta_velocity"].map(String::from).into(),
        reward: "exp(−d² / 0.36) − 0.01 a², where d is the distance in m of the pole's tip from the point 0.6 m above \
                 the middle of the rail, and a the action"
            .into(),
        reset: "the pole hangs at the middle of the rail; every position and velocity gets normal noise of standard \
                deviation 0.1"
            .into(),
        success: "met while the tip is within 0.025 m of the goal; no episode ends before the horizon".into(),
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn environment() -> CartpoleSwingup {
        CartpoleSwingup { rig: Rig::build(design(), &serde_json::json!({})).unwrap() }
    }

    #[test]
    fn masses_are_those_of_the_published_shapes() {
        let capsule = |r: f64, length: f64| 1000.0 * PI * (r * r * length + 4.0 / 3.0 * r.powi(3));
        let environment = environment();
        let mass = environment.rig.sim.model().body_mass();
        assert!((mass[1] - capsule(0.1, 0.2)).abs() < 1e-3 && (mass[1] - 10.47).abs() < 0.01);
        assert!((mass[2] - capsule(0.049, 0.6)).abs() < 1e-3 && (mass[2] - 5.02).abs() < 0.01);
    }

    #[test]
    fn upright_is_the_goal_and_hanging_is_not() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&[0.0, PI, 0.0, 0.0], &mut rng);
        assert_eq!(environment.goal_met(), Some(true));
        let reward = environment.step(&[0.0], &mut rng).reward;
        assert!((reward - 1.0).abs() < 1e-3, "{reward}");
        environment.start(&[0.0; 4], &mut rng);
        assert_eq!(environment.goal_met(), Some(false));
        // 1.2 m away from the goal, and the penalty of an action of 2.
        let reward = environment.step(&[2.0], &mut rng).reward;
        assert!((reward - ((-4.0_f64).exp() - 0.04)).abs() < 2e-3, "{reward}");
    }

    #[test]
    fn the_pole_falls_to_the_side_that_the_formula_says() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&[0.3, 0.5, 0.0, 0.0], &mut rng);
        let sim = &environment.rig.sim;
        let pole = 3 * sim.model().id(offnominal_mujoco::ObjectType::Body, "pole").unwrap();
        assert!((sim.xpos()[pole] - 0.3).abs() < 1e-12);
        // The centre of mass lies between the hinge and the tip at x − 0.6 sin θ.
        let centre = sim.xipos()[pole];
        assert!((centre - (0.3 - 0.3 * 0.5_f64.sin())).abs() < 2e-3, "{centre}");
    }

    #[test]
    fn numbers_that_are_none_end_the_episode_with_finite_readings() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&[0.0; 4], &mut rng);
        assert_eq!(environment.step(&[f32::NAN], &mut rng), DIVERGED);
        let mut obs = [f32::NAN; 4];
        environment.observe(&mut obs);
        assert!(obs.iter().all(|o| o.is_finite()));
    }

    #[test]
    fn parameters_survive_a_start() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.set_parameter("force", 20.0).unwrap();
        environment.start(&[0.0; 4], &mut rng);
        environment.step(&[0.0], &mut rng);
        assert!(environment.rig.sim.qpos()[0] < -1e-4, "the push goes along −x");
    }
}
