//! A particle that is pushed to a goal and must touch nothing on its way.
//!
//! The plane has no walls. The agent (a disc) is driven by a force; objects are discs of the same mass that it can
//! push, hazards are discs that it can enter, and both count as touched once the discs overlap. It senses its own
//! position and velocity, the goal, and a lidar of each kind of obstacle.
//!
//! Cost: a step is linear in the pairs of objects that can touch; nothing is allocated.
//! Reference: Anomaly-Gym (TMLR submission 7913), SAP-Goal{0,1,2}. Deviates: see the `source` of the specification.

mod bodies;
mod card;
mod image;
mod layout;
mod lidar;
mod scene;

use super::vec2::Vec2;
use card::Level;
use lidar::SECTORS;
use offnominal_core::prelude::*;
use scene::{Physics, Scene};
use std::sync::Arc;

/// `sap-goal0`: one object in the way.
pub const GOAL0: Entry<dyn Env> = entry(&card::GOAL0, |params| Sap::build(&card::GOAL0, params));
/// `sap-goal1`: 3 objects, 1 hazard.
pub const GOAL1: Entry<dyn Env> = entry(&card::GOAL1, |params| Sap::build(&card::GOAL1, params));
/// `sap-goal2`: 10 objects, 3 hazards.
pub const GOAL2: Entry<dyn Env> = entry(&card::GOAL2, |params| Sap::build(&card::GOAL2, params));

type Build = fn(&serde_json::Value) -> Result<Box<dyn Env>, BuildError>;

const fn entry(level: &Level, build: Build) -> Entry<dyn Env> {
    Entry { id: level.id, summary: level.summary, build, exempt: &[] }
}

/// One episode of the particle environment.
#[derive(Debug, Clone)]
struct Sap {
    spec: Arc<EnvSpec>,
    scene: Scene,
    physics: Physics,
    has_touched: bool,
}

impl Sap {
    fn build(level: &Level, params: &serde_json::Value) -> Result<Box<dyn Env>, BuildError> {
        super::no_options(params)?;
        Ok(Box::new(Sap::new(level)))
    }

    fn new(level: &Level) -> Sap {
        Sap {
            spec: Arc::new(card::spec(level)),
            scene: Scene::new(level.n_objects, level.n_hazards),
            physics: Physics::default(),
            has_touched: false,
        }
    }

    fn is_success(&self) -> bool {
        self.scene.at_goal() && !self.has_touched
    }

    fn reward(&self, touches: bool) -> f64 {
        let penalty = if touches { -10.0 } else { 0.0 };
        let bonus = if self.is_success() { 5.0 } else { 0.0 };
        -self.scene.to_goal().norm_squared() + penalty + bonus
    }

    fn status(&self) -> Status {
        match (self.scene.at_goal(), self.has_touched) {
            (false, _) => Status::Running,
            (true, false) => Status::Succeeded,
            (true, true) => Status::Failed,
        }
    }
}

impl Env for Sap {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let (n_objects, n_hazards) = (self.scene.objects.len(), self.scene.hazards.len());
        let places =
            if n_hazards == 0 { layout::corridor(rng) } else { layout::ring(n_objects, n_hazards, rng) };
        places.iter().flat_map(|p| [p.x, p.y]).collect()
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "{}: length of the initial condition", self.spec.id);
        self.scene.arrange(x);
        self.has_touched = self.scene.touches();
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), self.spec.observation.len(), "{}: length of the observation", self.spec.id);
        let (body, lidars) = obs.split_at_mut(6);
        let (agent, to_goal) = (&self.scene.agent, self.scene.to_goal());
        for (pair, v) in body.chunks_exact_mut(2).zip([agent.position, agent.velocity, to_goal]) {
            pair[0] = v.x as f32;
            pair[1] = v.y as f32;
        }
        let (objects, hazards) = lidars.split_at_mut(SECTORS);
        lidar::scan(agent.position, self.scene.objects.iter().map(|o| o.position), objects);
        if !hazards.is_empty() {
            lidar::scan(agent.position, self.scene.hazards.iter().copied(), hazards);
        }
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let Some([east, north]) = super::two_actions(&self.spec, action) else { return super::DIVERGED };
        self.scene.advance(Vec2::new(east, north), &self.physics, rng);
        let touches = self.scene.touches();
        self.has_touched |= touches;
        Step { reward: self.reward(touches), status: self.status() }
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.is_success())
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "mass" => self.physics.mass_factor,
            "force" => self.physics.force_n,
            "moving-objects" => self.physics.object_force_n,
            "damping" => self.physics.damping,
            "friction" => self.physics.friction_n,
            _ => return None,
        })
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "mass" => self.physics.mass_factor = value,
            "force" => self.physics.force_n = value,
            "moving-objects" => self.physics.object_force_n = value,
            "damping" => self.physics.damping = value,
            "friction" => self.physics.friction_n = value,
            _ => unreachable!("the specification lists only the parameters above"),
        }
        Ok(())
    }

    fn render(&mut self, _: Camera, frame: &mut Frame) {
        image::draw(&self.scene, frame);
    }
}
