//! The environment around a body: clock, observation, reward, fall, and what changes the body.

use super::super::DIVERGED;
use super::super::mjc_image::Painter;
use super::built::{self, Built, Factors};
use super::card;
use super::error::BodyError;
use super::ground;
use super::mjcf::{DT_SECS, SUBSTEPS};
use super::options::{Fall, Options};
use super::plan::{Fallen, Plan};
use super::posture::Posture;
use super::sizes;
use offnominal_core::prelude::*;
use offnominal_mujoco::Simulation;
use serde_json::Value;
use std::sync::Arc;

/// Where the target is: a kilometre ahead.
const TARGET_M: f64 = 1000.0;
/// Roboschool's scale of velocities: of the torso, and of joints.
const TORSO_SCALE: f64 = 0.3;
const JOINT_SCALE: f64 = 0.1;
/// A joint whose scaled angle is beyond this is at its limit.
const AT_LIMIT: f64 = 0.99;
/// How far initial angles spread around the reference posture, in rad.
const SPREAD_RAD: f64 = 0.1;

/// A body in progress.
#[derive(Clone)]
pub(super) struct Walker {
    plan: &'static Plan,
    spec: Arc<EnvSpec>,
    options: Arc<Options>,
    numbers: Arc<[f64]>,
    factors: Factors,
    gap_m: f64,
    built: Built,
    painter: Painter,
    /// Mean position of the limbs along x and y, in m.
    middle_m: [f64; 2],
    /// Scaled angles and velocities of the joints, in turn.
    joints: Vec<f64>,
    /// Which feet touch the ground.
    touching: Vec<bool>,
}

impl Walker {
    /// Makes the body that the options describe.
    pub(super) fn build(plan: &'static Plan, params: &Value) -> Result<Walker, BuildError> {
        let options = offnominal_core::catalogue::parse(params)?;
        Walker::new(plan, options).map_err(|e| match e {
            BodyError::Mujoco(missing) => BuildError::Missing(Box::new(missing)),
            other => BuildError::Parameters(other.to_string()),
        })
    }

    fn new(plan: &'static Plan, options: Options) -> Result<Walker, BodyError> {
        let mut spec = card::spec(plan, &options);
        let quantities = sizes::quantities(plan, options.reading);
        let mut numbers: Vec<f64> = quantities.iter().map(|q| q.nominal).collect();
        let mut factors = Factors { mass: 1.0, friction: 1.0, strength: 1.0 };
        for (name, &value) in &options.set {
            spec.check(name, value)?;
            match quantities.iter().position(|q| q.name == *name) {
                Some(i) => numbers[i] = value,
                None => *factors.named(name) = value,
            }
        }
        let gap_m = built::gap_m(plan)?;
        let built = Built::new(plan, &options, &numbers, factors, gap_m)?;
        let painter = Painter::with_card(built.sim.model(), &card::classes(plan), &mut spec)?;
        let (n_joints, n_feet) = (plan.n_joints(), plan.feet.len());
        let mut walker = Walker {
            plan,
            spec: Arc::new(spec),
            options: Arc::new(options),
            numbers: numbers.into(),
            factors,
            gap_m,
            built,
            painter,
            middle_m: [0.0; 2],
            joints: vec![0.0; 2 * n_joints],
            touching: vec![false; n_feet],
        };
        walker.place(&plan.joints().map(|(_, joint)| joint.rest_rad).collect::<Vec<_>>());
        Ok(walker)
    }

    /// The body without the environment.
    pub(super) fn into_simulation(self) -> Simulation {
        self.built.sim
    }

    /// Puts the body into a posture at rest.
    fn place(&mut self, angles: &[f64]) {
        self.built.sim.reset();
        built::pose(&mut self.built.sim, self.plan, self.built.height_m, angles.iter().copied());
        // A posture that is no state shows as divergence in the first step.
        let _ = self.built.sim.forward();
        self.look();
    }

    fn posture(&self) -> Posture {
        Posture::of(self.plan.root, self.built.sim.qpos(), self.built.sim.qvel())
    }

    /// Takes in what observation and reward need beyond the torso's posture; poses must be up to date.
    fn look(&mut self) {
        let shapes = self.built.sim.geom_xpos()[3..].chunks_exact(3);
        let n = self.plan.limbs.len() as f64;
        self.middle_m = shapes.fold([0.0; 2], |[x, y], at| [x + at[0] / n, y + at[1] / n]);
        self.look_at_joints();
        for (touching, &foot) in self.touching.iter_mut().zip(self.plan.feet) {
            *touching = self.built.sim.contacts().any(|pair| pair.contains(&(foot + 1)));
        }
    }

    fn look_at_joints(&mut self) {
        let (q, v) = (self.built.sim.qpos(), self.built.sim.qvel());
        let angles = &q[built::root_width(self.plan.root)..];
        let speeds = &v[v.len() - angles.len()..];
        let moving = self.plan.joints().zip(angles).zip(speeds);
        for (out, (((_, joint), &angle), &speed)) in self.joints.chunks_exact_mut(2).zip(moving) {
            let (low, high) = (joint.low_rad, joint.high_rad);
            out[0] = (2.0 * angle - low - high) / (high - low);
            out[1] = JOINT_SCALE * speed;
        }
    }

    fn distance_m(&self) -> f64 {
        let [x, y] = self.middle_m;
        (TARGET_M - x).hypot(y)
    }

    /// Whether the body is as it should be while it walks.
    fn is_alive(&self) -> bool {
        let knee_down = |k: &usize| {
            let foot = self.plan.feet.iter().position(|f| f == k);
            foot.is_some_and(|i| self.touching[i])
        };
        self.clearance() > 0.0 && !self.plan.knees.iter().any(knee_down)
    }

    /// How far the torso is from what counts as fallen, as a share; zero or less where it has fallen.
    fn clearance(&self) -> f64 {
        let posture = self.posture();
        let own = self.options.fall == Fall::Relative;
        match self.plan.fallen {
            Fallen::Torso { low_m, pitch_rad } => {
                let least = low_m * if own { self.built.height_m / self.plan.height_m } else { 1.0 };
                (posture.height_m / least - 1.0).min(1.0 - posture.pitch_rad.abs() / pitch_rad)
            }
            Fallen::Belly { low_m } if own => {
                let nominal_m = low_m - self.plan.limbs[0].width_m;
                let below = ground::lowest_of(&self.built.sim, self.plan, &self.built.bones, 0);
                (below - nominal_m) / self.built.height_m
            }
            Fallen::Belly { low_m } => posture.height_m / low_m - 1.0,
            Fallen::Never { pitch_rad } => 1.0 - posture.pitch_rad.abs() / pitch_rad,
        }
    }

    fn reward(&self, action: &[f32], progress: f64) -> f64 {
        let n = action.len() as f64;
        let cost = |(a, joint): (&f32, &[f64])| {
            let a = f64::from(a.clamp(-1.0, 1.0));
            2.0 * (a * joint[1]).abs() + 0.1 * a * a
        };
        let electricity: f64 = action.iter().zip(self.joints.chunks_exact(2)).map(cost).sum();
        let at_limit = self.joints.chunks_exact(2).filter(|joint| joint[0].abs() > AT_LIMIT).count();
        let alive = if self.is_alive() { 1.0 } else { -1.0 };
        alive + progress - electricity / n - 0.1 * at_limit as f64
    }

    /// Builds the body anew around the present posture; the lowest point stays as high as it is.
    fn rebuild(&mut self, numbers: Arc<[f64]>, factors: Factors) -> Result<(), BodyError> {
        let mut built = Built::new(self.plan, &self.options, &numbers, factors, self.gap_m)?;
        let before = ground::lowest(&self.built.sim, self.plan, &self.built.bones);
        built.sim.reset();
        built.sim.qpos_mut().copy_from_slice(self.built.sim.qpos());
        built.sim.qvel_mut().copy_from_slice(self.built.sim.qvel());
        built.sim.refresh_poses();
        let sunk = before - ground::lowest(&built.sim, self.plan, &built.bones);
        built.sim.qpos_mut()[built::height_at(self.plan.root)] += sunk;
        let _ = built.sim.forward();
        self.painter = Painter::new(built.sim.model(), &card::classes(self.plan))?;
        (self.built, self.numbers, self.factors) = (built, numbers, factors);
        self.look();
        Ok(())
    }
}

#[cfg(test)]
impl Walker {
    pub(super) fn height_m(&self) -> f64 {
        self.built.height_m
    }

    pub(super) fn lowest_m(&self) -> f64 {
        ground::lowest(&self.built.sim, self.plan, &self.built.bones)
    }

    pub(super) fn mass_kg(&self) -> f64 {
        self.built.sim.model().body_mass().iter().sum()
    }
}

impl Factors {
    /// The factor that a parameter sets.
    fn named(&mut self, name: &str) -> &mut f64 {
        match name {
            "mass" => &mut self.mass,
            "ground-friction" => &mut self.friction,
            _ => &mut self.strength,
        }
    }
}

impl Env for Walker {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let near = |rest: f64| rest + rng.range(-SPREAD_RAD, SPREAD_RAD);
        let rests: Vec<f64> = self.plan.joints().map(|(_, j)| j.rest_rad).map(near).collect();
        let limits = self.plan.joints().map(|(_, j)| (j.low_rad, j.high_rad));
        rests.into_iter().zip(limits).map(|(angle, (low, high))| angle.clamp(low, high)).collect()
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "length of the initial condition of {}", self.spec.id);
        self.place(x);
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), self.spec.observation.len(), "length of the observation of {}", self.spec.id);
        let posture = self.posture();
        let [x, y] = self.middle_m;
        let (sin, cos) = ((-y).atan2(TARGET_M - x) - posture.yaw_rad).sin_cos();
        let [forward, left, up] = posture.own_velocity_mps().map(|v| TORSO_SCALE * v);
        let height = posture.height_m - self.built.height_m;
        let torso = [height, sin, cos, forward, left, up, posture.roll_rad, posture.pitch_rad];
        let touching = self.touching.iter().map(|&touches| f64::from(u8::from(touches)));
        let all = torso.into_iter().chain(self.joints.iter().copied()).chain(touching);
        obs.iter_mut().zip(all).for_each(|(o, value)| *o = value.clamp(-card::CUT, card::CUT) as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        assert_eq!(action.len(), self.spec.action.len(), "length of the action of {}", self.spec.id);
        for (control, &a) in self.built.sim.ctrl_mut().iter_mut().zip(action) {
            *control = f64::from(a);
        }
        let before = self.distance_m();
        if self.built.sim.step(SUBSTEPS).is_err() {
            self.look();
            return DIVERGED;
        }
        self.built.sim.refresh_poses();
        self.look();
        let reward = self.reward(action, (before - self.distance_m()) / DT_SECS);
        let ends = !matches!(self.plan.fallen, Fallen::Never { .. });
        let status = if ends && !self.is_alive() { Status::Failed } else { Status::Running };
        Step { reward, status }
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        let at = self.spec.parameters.iter().position(|p| p.name == name)?;
        let mut factors = self.factors;
        Some(self.numbers.get(at).copied().unwrap_or_else(|| *factors.named(name)))
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.set_parameters(&[(name, value)])
    }

    fn set_parameters(&mut self, values: &[(&str, f64)]) -> Result<(), ParameterError> {
        let (mut numbers, mut factors, mut changed) = (self.numbers.to_vec(), self.factors, None);
        for &(name, value) in values {
            self.spec.check(name, value)?;
            let at = self.spec.parameters.iter().take(numbers.len()).position(|p| p.name == name);
            let place = at.map_or_else(|| factors.named(name), |i| &mut numbers[i]);
            // Building anew forgets the solver's last solution, so a value that is there already changes nothing.
            if std::mem::replace(place, value) != value {
                changed = Some((name, value));
            }
        }
        let Some((name, found)) = changed else { return Ok(()) };
        self.rebuild(numbers.into(), factors).map_err(|why| ParameterError::Refused {
            env: self.spec.id.clone(),
            name: name.into(),
            found,
            why: why.to_string(),
        })
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.painter.draw(&mut self.built.sim, camera, frame);
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Walker {
    /// One joint, drawn anew.
    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        let (mut near, at) = (x.to_vec(), rng.below(x.len()));
        near[at] = self.draw(rng)[at];
        Some(near)
    }

    fn margin(&self) -> Option<f64> {
        let ends = !matches!(self.plan.fallen, Fallen::Never { .. });
        ends.then(|| self.clearance())
    }
}
