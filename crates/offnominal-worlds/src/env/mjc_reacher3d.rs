//! Bringing the end of a seven-jointed arm to a marker in space.
//!
//! reward = −|p − g|² − 0.01 |a|²
//!
//! | symbol | meaning                                      | unit |
//! |--------|----------------------------------------------|------|
//! | p      | end of the hand, in closed form of the joints | m    |
//! | g      | position of the marker                       | m    |
//! | a      | actions of the seven motors `[7]`           | 1    |
//!
//! The goal is met while (Σ eᵢ⁴)^½ < 0.1 m², e = p − g: the published test takes the norm of the squared error. Along one
//! axis it allows 0.316 m.
//!
//! Reference: the environment `Mujoco-Reacher3D` of Anomaly-Gym (2025), after Chua et al., NeurIPS 2018.

use super::DIVERGED;
use super::mjc::{Design, Rig, delegate_to, squared_length};
use offnominal_core::prelude::*;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "mjc-reacher3d",
    summary: "bring the end of a seven-jointed arm to a point in space (MuJoCo)",
    build: |params| Ok(Box::new(Reacher3d::new(params)?)),
    exempt: &[],
};

/// The joints from the shoulder to the hand, with what they do.
const JOINTS: [(&str, &str); 7] = [
    ("shoulder_pan", "the shoulder about the vertical"),
    ("shoulder_lift", "the shoulder up and down"),
    ("upper_arm_roll", "the upper arm about itself"),
    ("elbow_flex", "the elbow"),
    ("forearm_roll", "the forearm about itself"),
    ("wrist_flex", "the wrist"),
    ("wrist_roll", "the hand about itself"),
];

/// Where the arm is mounted, in m.
const BASE_M: [f64; 3] = [0.0, -0.188, 0.0];
/// From the axis of the pan to that of the lift, from there to the elbow, to the wrist, and to the end, in m.
const LENGTHS_M: [f64; 4] = [0.1, 0.4, 0.321, 0.16828];
/// Where the marker is on average, in m.
const TARGET_M: [f64; 3] = [0.0, 0.25, 0.0];

#[derive(Clone)]
struct Reacher3d {
    rig: Rig,
}

impl Reacher3d {
    fn new(params: &serde_json::Value) -> Result<Reacher3d, BuildError> {
        let mut rig = Rig::build(design(), params)?;
        rig.reset = TARGET_M.into();
        Ok(Reacher3d { rig })
    }

    fn target(&self) -> [f64; 3] {
        std::array::from_fn(|i| self.rig.sim.mocap_pos()[i])
    }

    /// From the marker to the end of the hand.
    fn miss(&self) -> [f64; 3] {
        let (end, target) = (end(self.rig.sim.qpos()), self.target());
        std::array::from_fn(|i| end[i] - target[i])
    }
}

/// The end of the hand in the environment, in m, for the seven joint angles; the last one does not move it.
fn end(q: &[f64]) -> [f64; 3] {
    let [offset, upper_arm, forearm, hand] = LENGTHS_M;
    let wrist = along_x(forearm, about_y(q[5], [hand, 0.0, 0.0]));
    let elbow = along_x(upper_arm, about_y(q[3], about_x(q[4], wrist)));
    let shoulder = along_x(offset, about_y(q[1], about_x(q[2], elbow)));
    let arm = about_z(q[0], shoulder);
    std::array::from_fn(|i| BASE_M[i] + arm[i])
}

fn along_x(length: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    [x + length, y, z]
}

fn about_x(angle: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let (s, c) = angle.sin_cos();
    [x, c * y - s * z, s * y + c * z]
}

fn about_y(angle: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let (s, c) = angle.sin_cos();
    [c * x + s * z, y, c * z - s * x]
}

fn about_z(angle: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let (s, c) = angle.sin_cos();
    [c * x - s * y, s * x + c * y, z]
}

impl Env for Reacher3d {
    delegate_to!(rig);

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.rig.draw(rng)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        &self.rig
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), 3, "length of the initial condition");
        self.rig.start_where(|sim| sim.mocap_pos_mut().copy_from_slice(x));
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 17, "length of the observation");
        let sim = &self.rig.sim;
        let state = sim.qpos().iter().chain(sim.mocap_pos()).chain(sim.qvel());
        obs.iter_mut().zip(state).for_each(|(o, &s)| *o = s as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        if self.rig.advance(action).is_err() {
            return DIVERGED;
        }
        let squared_miss: f64 = self.miss().iter().map(|e| e * e).sum();
        Step::running(-squared_miss - 0.01 * squared_length(action))
    }

    fn goal_met(&self) -> Option<bool> {
        let fourth_powers: f64 = self.miss().iter().map(|e| e.powi(4)).sum();
        Some(fourth_powers.sqrt() < 0.1)
    }
}

fn design() -> Design {
    Design {
        xml: include_str!("../../models/mjc_reacher3d.xml"),
        spec: spec(),
        pushed_body: "forearm",
        push_direction: [0.0, 0.0, -1.0],
        most_mass: 100.0,
        classes: &[
            ("floor", &["floor"]),
            ("shoulder", &["column", "eye_left", "eye_right", "pupil_left", "pupil_right", "shoulder"]),
            ("upper-arm", &["upper_arm_roll", "upper_arm", "elbow"]),
            ("forearm", &["forearm_roll", "forearm"]),
            ("hand", &["wrist", "palm", "finger_left", "finger_right"]),
            ("target", &["target"]),
        ],
    }
}

fn spec() -> EnvSpec {
    EnvSpec {
        source: "Anomaly-Gym (2025), Mujoco-Reacher3D; simulated by MuJoCo 3.17.0. Deviation: the target is a marker \
                 that is set from outside, not a body on three sliding joints, so that dry friction of joints is that of \
                 the arm alone; its position is observed in the same place."
            .into(),
        observation: observation(),
        action: action(),
        dt_secs: 0.02,
        horizon: 200,
        initial: target_names().into(),
        reward: "−|e|² − 0.01 |a|², where e is the way from the target to the end of the hand in m, and a are the seven \
                 actions"
            .into(),
        reset: "the arm is stretched out along x, at rest; the target is at (0, 0.25, 0) plus normal noise of standard \
                deviation 0.1 m along each axis"
            .into(),
        success: "met while (Σ eᵢ⁴)^½ < 0.1 m², the norm of the elementwise squared error, as published: it allows 0.316 m \
                  along one axis; no episode ends before the horizon"
            .into(),
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

fn target_names() -> [String; 3] {
    ["x", "y", "z"].map(|axis| format!("target_{axis}"))
}

fn observation() -> Vec<Channel> {
    let angle = |(name, what): &(&str, &str)| Channel::unbounded(name, &format!("angle: {what}"), "rad");
    let rate = |(name, what): &(&str, &str)| {
        Channel::unbounded(&format!("{name}_velocity"), &format!("angular velocity: {what}"), "rad/s")
    };
    let target = target_names().map(|name| Channel::unbounded(&name, "position of the target", "m"));
    JOINTS.iter().map(angle).chain(target).chain(JOINTS.iter().map(rate)).collect()
}

fn action() -> Vec<Channel> {
    let motor =
        |(name, what): &(&str, &str)| Channel::new(name, &format!("torque: {what}"), "N m", -1.0, 1.0);
    JOINTS.iter().map(motor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_mujoco::ObjectType;

    fn environment() -> Reacher3d {
        Reacher3d::new(&serde_json::json!({})).unwrap()
    }

    #[test]
    fn the_closed_form_agrees_with_the_model() {
        let (mut environment, mut rng) = (environment(), Rng::new(1));
        let site = 3 * environment.rig.sim.model().id(ObjectType::Site, "end").unwrap();
        for _ in 0..100 {
            let q: [f64; 7] = std::array::from_fn(|_| rng.range(-2.0, 2.0));
            environment.rig.start_where(|sim| sim.qpos_mut().copy_from_slice(&q));
            let off = (0..3)
                .map(|i| (environment.rig.sim.site_xpos()[site + i] - end(&q)[i]).abs())
                .fold(0.0, f64::max);
            assert!(off < 1e-12, "{q:?}: off by {off}");
        }
    }

    #[test]
    fn the_goal_test_is_looser_than_a_distance() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        let stretched = end(&[0.0; 7]);
        for (offset, met) in
            [([0.31, 0.0, 0.0], true), ([0.32, 0.0, 0.0], false), ([0.24; 3], true), ([0.25; 3], false)]
        {
            let target: Vec<f64> = (0..3).map(|i| stretched[i] + offset[i]).collect();
            environment.start(&target, &mut rng);
            assert_eq!(environment.goal_met(), Some(met), "{offset:?}");
        }
    }

    #[test]
    fn reward_at_rest_is_the_squared_distance() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&TARGET_M, &mut rng);
        // The stretched arm ends at x = 0.98928, and there is no gravity to move it.
        let reward = environment.step(&[0.0; 7], &mut rng).reward;
        assert!((reward + 0.98928_f64.powi(2) + 0.438_f64.powi(2)).abs() < 1e-12, "{reward}");
        let costly = environment.step(&[1.0; 7], &mut rng).reward;
        assert!((costly - reward + 0.07).abs() < 5e-3, "{costly}");
    }

    #[test]
    fn a_shoulder_at_full_torque_turns_as_fast_as_its_damping_lets_it() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&TARGET_M, &mut rng);
        let only_pan: [f32; 7] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        (0..150).for_each(|_| _ = environment.step(&only_pan, &mut rng));
        // 1 N m against 10 N m s/rad.
        assert!((environment.rig.sim.qvel()[0] - 0.1).abs() < 2e-3, "{}", environment.rig.sim.qvel()[0]);
    }

    #[test]
    fn a_push_on_the_forearm_lowers_the_hand() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        environment.start(&TARGET_M, &mut rng);
        environment.set_parameter("force", 5.0).unwrap();
        (0..50).for_each(|_| _ = environment.step(&[0.0; 7], &mut rng));
        assert!(end(environment.rig.sim.qpos())[2] < -0.01, "{:?}", end(environment.rig.sim.qpos()));
    }
}
