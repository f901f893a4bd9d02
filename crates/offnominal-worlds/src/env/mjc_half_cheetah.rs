//! Running forward on two legs in a plane.
//!
//! reward = v − 0.1 |a|², with the mean forward velocity v = (x′ − x) / dt over the step.
//!
//! | symbol | meaning                           | unit |
//! |--------|-----------------------------------|------|
//! | x, x′  | position before and after         | m    |
//! | a      | actions of the six motors `[6]`  | 1    |
//!
//! Reference: the environment `Mujoco-HalfCheetah` of Anomaly-Gym (2025); the body is that of Gymnasium's HalfCheetah.

use super::DIVERGED;
use super::mjc::{Design, Rig, delegate_to, squared_length};
use offnominal_core::prelude::*;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "mjc-half-cheetah",
    summary: "run forward as fast as possible on two legs in a plane (MuJoCo)",
    build: |params| Ok(Box::new(HalfCheetah::new(params)?)),
    exempt: &[],
};

/// Positions in the order of the model.
const JOINTS: [(&str, &str, &str); 9] = [
    ("x", "position of the torso along the track", "m"),
    ("z", "height of the torso above its reference", "m"),
    ("pitch", "pitch of the torso", "rad"),
    ("back_thigh", "angle of the back thigh", "rad"),
    ("back_shin", "angle of the back shin", "rad"),
    ("back_foot", "angle of the back foot", "rad"),
    ("front_thigh", "angle of the front thigh", "rad"),
    ("front_shin", "angle of the front shin", "rad"),
    ("front_foot", "angle of the front foot", "rad"),
];

/// Torque of each leg motor at full action, in N m.
const GEAR_NM: [u32; 6] = [120, 90, 60, 120, 60, 30];

#[derive(Clone)]
struct HalfCheetah {
    rig: Rig,
    /// Mean forward velocity over the last step; at the start, the velocity of the torso.
    forward_mps: f64,
}

impl HalfCheetah {
    fn new(params: &serde_json::Value) -> Result<HalfCheetah, BuildError> {
        Ok(HalfCheetah { rig: Rig::build(design(), params)?, forward_mps: 0.0 })
    }
}

impl Env for HalfCheetah {
    delegate_to!(rig);

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.rig.draw(rng)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        &self.rig
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.rig.start(x);
        self.forward_mps = self.rig.sim.qvel()[0];
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 18, "length of the observation");
        obs[0] = self.forward_mps as f32;
        let state = self.rig.sim.qpos()[1..].iter().chain(self.rig.sim.qvel());
        obs[1..].iter_mut().zip(state).for_each(|(o, &s)| *o = s as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let before = self.rig.sim.qpos()[0];
        if self.rig.advance(action).is_err() {
            self.forward_mps = 0.0;
            return DIVERGED;
        }
        self.forward_mps = (self.rig.sim.qpos()[0] - before) / self.rig.spec().dt_secs;
        Step::running(self.forward_mps - 0.1 * squared_length(action))
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.forward_mps >= 10.0)
    }
}

fn design() -> Design {
    Design {
        xml: include_str!("../../models/mjc_half_cheetah.xml"),
        spec: spec(),
        pushed_body: "ffoot",
        push_direction: [-1.0, 0.0, 0.0],
        most_mass: 20.0,
        classes: &[
            ("floor", &["floor"]),
            ("torso", &["torso"]),
            ("head", &["head"]),
            ("front-leg", &["fthigh", "fshin", "ffoot"]),
            ("back-leg", &["bthigh", "bshin", "bfoot"]),
        ],
    }
}

fn spec() -> EnvSpec {
    EnvSpec {
        source: "Anomaly-Gym (2025), Mujoco-HalfCheetah, with the body of Gymnasium's HalfCheetah; simulated by MuJoCo \
                 3.17.0. Deviation: the first observation of an episode shows the torso's velocity where later ones \
                 show the mean velocity over the step."
            .into(),
        observation: observation(),
        action: action(),
        dt_secs: 0.05,
        horizon: 200,
        initial: JOINTS.iter().map(|j| j.0.to_string()).chain(JOINTS.iter().map(|j| velocity(j.0))).collect(),
        reward: "mean forward velocity over the step in m/s − 0.1 |a|², where a are the six actions".into(),
        reset: "the reference posture above the ground, at rest; every position and velocity gets normal noise of \
                standard deviation 0.1"
            .into(),
        success: "met while the mean forward velocity over the step is at least 10 m/s; no episode ends before the \
                  horizon"
            .into(),
        ..EnvSpec::new(ENTRY.id, ENTRY.summary)
    }
}

fn velocity(joint: &str) -> String {
    format!("{joint}_velocity")
}

fn observation() -> Vec<Channel> {
    let forward = Channel::unbounded("forward", "mean forward velocity over the last step", "m/s");
    let positions = JOINTS[1..].iter().map(|(name, meaning, unit)| Channel::unbounded(name, meaning, unit));
    let velocities = JOINTS.iter().map(|(name, meaning, unit)| {
        Channel::unbounded(&velocity(name), &format!("rate of change of the {meaning}"), &format!("{unit}/s"))
    });
    std::iter::once(forward).chain(positions).chain(velocities).collect()
}

fn action() -> Vec<Channel> {
    let motors = JOINTS[3..].iter().zip(GEAR_NM);
    let channel = |((name, _, _), gear): (&(&str, _, _), u32)| {
        let meaning = format!("torque of the {} motor, in units of {gear} N m", name.replace('_', " "));
        Channel::new(name, &meaning, &format!("{gear} N m"), -1.0, 1.0)
    };
    motors.map(channel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Written by tests/golden/make_half_cheetah.py.
    #[derive(Deserialize)]
    struct Golden {
        mujoco: String,
        episodes: Vec<GoldenEpisode>,
    }

    #[derive(Deserialize)]
    struct GoldenEpisode {
        qpos: Vec<f64>,
        qvel: Vec<f64>,
        n_contacts: u32,
        steps: Vec<GoldenStep>,
    }

    #[derive(Deserialize)]
    struct GoldenStep {
        action: Vec<f32>,
        qpos: Vec<f64>,
        qvel: Vec<f64>,
        reward: f64,
    }

    fn golden() -> Golden {
        serde_json::from_str(include_str!("../../tests/golden/half_cheetah.json")).unwrap()
    }

    fn environment() -> HalfCheetah {
        HalfCheetah::new(&serde_json::json!({})).unwrap()
    }

    /// Largest difference in state or reward between an environment and the golden episodes.
    fn largest_difference(mut environment: HalfCheetah, golden: &Golden) -> f64 {
        let (mut largest, mut rng) = (0.0_f64, Rng::new(0));
        for episode in &golden.episodes {
            environment.start(&[episode.qpos.as_slice(), &episode.qvel].concat(), &mut rng);
            for step in &episode.steps {
                let reward = environment.step(&step.action, &mut rng).reward;
                let found =
                    environment.rig.sim.qpos().iter().chain(environment.rig.sim.qvel()).chain([&reward]);
                let wanted = step.qpos.iter().chain(&step.qvel).chain([&step.reward]);
                largest = found.zip(wanted).map(|(f, w)| (f - w).abs()).fold(largest, f64::max);
            }
        }
        largest
    }

    #[test]
    fn the_model_moves_as_gymnasiums_does() {
        let golden = golden();
        assert_eq!(golden.mujoco, offnominal_mujoco::VERSION);
        assert!(golden.episodes.iter().filter(|e| e.n_contacts > 0).count() > 20, "too few with contacts");
        let largest = largest_difference(environment(), &golden);
        assert!(largest < 1e-8, "expected at most 1e-8, found {largest:e}");
    }

    #[test]
    fn a_body_heavier_by_a_millionth_does_not_pass_for_gymnasiums() {
        let mut heavy = environment();
        heavy.set_parameter("mass", 1.0 + 1e-6).unwrap();
        assert!(largest_difference(heavy, &golden()) > 1e-8);
    }

    #[test]
    fn the_goal_is_a_speed() {
        let (mut environment, mut rng) = (environment(), Rng::new(0));
        let mut x = [0.0; 18];
        for (speed, met) in [(9.9, false), (10.1, true)] {
            x[9] = speed;
            environment.start(&x, &mut rng);
            assert_eq!(environment.goal_met(), Some(met));
        }
    }

    #[test]
    fn masses_scale_and_inertia_stays() {
        let mut environment = environment();
        let total = |w: &HalfCheetah| w.rig.sim.model().body_mass().iter().sum::<f64>();
        assert!((total(&environment) - 14.0).abs() < 1e-12);
        environment.set_parameter("mass", 1.5).unwrap();
        assert!((total(&environment) - 21.0).abs() < 1e-12);
    }
}
