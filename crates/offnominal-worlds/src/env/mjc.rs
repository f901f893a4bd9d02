//! What all MuJoCo environments share: a simulation, its physical parameters, noise at the reset, and images.
//!
//! Parameters are kept beside the simulation and applied again at each start, because starting resets everything.

use super::mjc_image::Painter;
use offnominal_core::prelude::*;
use offnominal_mujoco::{Diverged, Model, MujocoError, ObjectType, Simulation};
use serde_json::Value;
use std::sync::Arc;

/// The methods of [`Env`] that an environment leaves to the part that holds its simulation, its card and its parameters.
macro_rules! delegate_to {
    ($part:ident) => {
        fn spec(&self) -> &EnvSpec {
            self.$part.spec()
        }

        fn parameter(&self, name: &str) -> Option<f64> {
            self.$part.parameter(name)
        }

        fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
            self.$part.set_parameter(name, value)
        }

        fn fork(&self) -> Option<Box<dyn Env>> {
            Some(Box::new(self.clone()))
        }

        fn render(&mut self, camera: Camera, frame: &mut Frame) {
            self.$part.render(camera, frame);
        }
    };
}
pub(super) use delegate_to;

/// What differs between MuJoCo environments, apart from observation and reward.
pub(super) struct Design {
    /// The MJCF text.
    pub xml: &'static str,
    /// The card, without what the model or every MuJoCo environment adds: parameters, classes and cameras.
    pub spec: EnvSpec,
    /// The body that the parameter `force` pushes.
    pub pushed_body: &'static str,
    /// The direction of that force in the environment.
    pub push_direction: [f64; 3],
    /// Largest factor on masses; heavier bodies only stand still.
    pub most_mass: f64,
    /// The classes of the mask other than the background, each with the geoms that belong to it.
    pub classes: &'static [(&'static str, &'static [&'static str])],
}

/// A MuJoCo environment in progress. Cloning copies the state; model and card are shared until a parameter is changed.
#[derive(Clone)]
pub(super) struct Rig {
    pub sim: Simulation,
    spec: Arc<EnvSpec>,
    frame_skip: usize,
    pushed_body: usize,
    push_direction: [f64; 3],
    force_n: f64,
    nominal_mass: Arc<[f64]>,
    nominal_friction: Arc<[f64]>,
    painter: Painter,
    /// Means of the numbers of an initial condition, each normal with the deviation [`RESET_SD`].
    pub reset: Arc<[f64]>,
}

/// Standard deviation of every number of an initial condition.
const RESET_SD: f64 = 0.1;

impl Rig {
    /// Compiles the model; there are no options.
    pub(super) fn build(design: Design, params: &Value) -> Result<Rig, BuildError> {
        super::no_options(params)?;
        Rig::new(design).map_err(|e| BuildError::Missing(Box::new(e)))
    }

    fn new(design: Design) -> Result<Rig, MujocoError> {
        let model = Model::from_xml(design.xml)?;
        let added = parameters(&design);
        let mut spec = design.spec;
        spec.parameters.extend(added);
        let painter = Painter::with_card(&model, design.classes, &mut spec)?;
        Ok(Rig {
            frame_skip: (spec.dt_secs / model.timestep_secs()).round() as usize,
            pushed_body: model.id(ObjectType::Body, design.pushed_body)?,
            push_direction: design.push_direction,
            force_n: 0.0,
            nominal_mass: model.body_mass().into(),
            nominal_friction: model.dof_frictionloss().into(),
            painter,
            spec: Arc::new(spec),
            reset: reference(&model),
            sim: Simulation::new(model)?,
        })
    }

    pub(super) fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    /// An initial condition: its means plus normal noise.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.reset.iter().map(|mean| mean + RESET_SD * rng.normal()).collect()
    }

    /// Begins an episode at the given positions and velocities.
    pub(super) fn start(&mut self, x: &[f64]) {
        assert_eq!(x.len(), self.spec.initial.len(), "length of the initial condition of {}", self.spec.id);
        self.start_where(|sim| {
            let (qpos, qvel) = x.split_at(sim.qpos().len());
            sim.qpos_mut().copy_from_slice(qpos);
            sim.qvel_mut().copy_from_slice(qvel);
        });
    }

    /// Begins an episode in the state that `place` makes of the reference configuration at rest.
    pub(super) fn start_where(&mut self, place: impl FnOnce(&mut Simulation)) {
        self.sim.reset();
        place(&mut self.sim);
        self.push();
        // An initial condition that is no state shows as divergence in the first step.
        let _ = self.sim.forward();
    }

    /// Advances by one environment step under the given controls.
    pub(super) fn advance(&mut self, action: &[f32]) -> Result<(), Diverged> {
        assert_eq!(action.len(), self.spec.action.len(), "length of the action of {}", self.spec.id);
        for (control, &a) in self.sim.ctrl_mut().iter_mut().zip(action) {
            *control = f64::from(a);
        }
        self.sim.step(self.frame_skip)
    }

    pub(super) fn parameter(&self, name: &str) -> Option<f64> {
        let (model, heavy) = (self.sim.model(), self.pushed_body);
        Some(match name {
            "mass" => model.body_mass()[heavy] / self.nominal_mass[heavy],
            "friction" => model.dof_frictionloss()[0] - self.nominal_friction[0],
            "force" => self.force_n,
            _ => return None,
        })
    }

    pub(super) fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "mass" => self.scale_masses(value),
            "friction" => self.add_friction(value),
            _ => {
                self.force_n = value;
                self.push();
            }
        }
        Ok(())
    }

    pub(super) fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.painter.draw(&mut self.sim, camera, frame);
    }

    fn scale_masses(&mut self, factor: f64) {
        let model = self.sim.model_mut();
        for (mass, nominal) in model.body_mass_mut().iter_mut().zip(&*self.nominal_mass) {
            *mass = factor * nominal;
        }
        model.recompute_constants().expect("masses in the parameter's range make a valid model");
    }

    fn add_friction(&mut self, extra: f64) {
        let friction = self.sim.model_mut().dof_frictionloss_mut();
        for (loss, nominal) in friction.iter_mut().zip(&*self.nominal_friction) {
            *loss = nominal + extra;
        }
    }

    fn push(&mut self) {
        let at = 6 * self.pushed_body;
        for (applied, direction) in self.sim.xfrc_applied_mut()[at..].iter_mut().zip(self.push_direction) {
            *applied = self.force_n * direction;
        }
    }
}

impl FailureSearch for Rig {
    fn normals(&self) -> usize {
        self.reset.len()
    }

    fn of_normals(&self, z: &[f64], _: &mut Rng) -> Option<Vec<f64>> {
        Some(self.reset.iter().zip(z).map(|(mean, z)| mean + RESET_SD * z).collect())
    }
}

/// The reference configuration, at rest.
fn reference(model: &Model) -> Arc<[f64]> {
    let at_rest = std::iter::repeat_n(0.0, model.dof_frictionloss().len());
    model.qpos0().iter().copied().chain(at_rest).collect()
}

/// The parameters of every MuJoCo environment.
fn parameters(design: &Design) -> [Parameter; 3] {
    let (body, [x, y, z]) = (design.pushed_body, design.push_direction);
    let mass = "factor on the mass of every body; moments of inertia stay";
    let push = format!(
        "constant force at the centre of mass of the body {body}, along ({x}, {y}, {z}) in the environment"
    );
    let friction = "dry friction added to every degree of freedom (N on slides, N m on hinges)";
    [
        Parameter::new("mass", mass, "1", 1.0, 0.1, design.most_mass),
        Parameter::new("force", &push, "N", 0.0, -500.0, 500.0),
        Parameter::new("friction", friction, "N or N m", 0.0, 0.0, 200.0),
    ]
}

/// The reward's penalty: the squared length of the action, as commanded (the actuators clamp it, the penalty does not).
pub(super) fn squared_length(action: &[f32]) -> f64 {
    action.iter().map(|&a| f64::from(a).powi(2)).sum()
}
