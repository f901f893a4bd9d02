//! A model in motion.

use crate::bindings::{mjData, mjModel, mjWARN_BADCTRL, mjWARN_BADQPOS};
use crate::engine_log::guard;
use crate::model::{arrays, size};
use crate::{Model, MujocoError};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// The simulation produced a number that is no number, or exceeded MuJoCo's limits; it was reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the simulation diverged")]
pub struct Diverged;

/// Positions and velocities beyond this count as diverged (MuJoCo's own limit).
const LARGEST: f64 = 1e10;

/// A model in motion. Cloning copies the state; the model is shared until one of the copies edits it.
pub struct Simulation {
    model: Arc<Model>,
    data: NonNull<mjData>,
}

// SAFETY: the data is owned and MuJoCo keeps no thread-local state about it.
unsafe impl Send for Simulation {}
// SAFETY: through a shared reference the data is only read.
unsafe impl Sync for Simulation {}

impl Simulation {
    /// A simulation at the model's reference configuration.
    ///
    /// # Errors
    /// If MuJoCo raises an error.
    pub fn new(model: Model) -> Result<Simulation, MujocoError> {
        let data = Simulation::data_of(&model)?;
        Ok(Simulation { model: Arc::new(model), data })
    }

    /// New data for a model; the caller owns it.
    pub(crate) fn data_of(model: &Model) -> Result<NonNull<mjData>, MujocoError> {
        // SAFETY: the model is valid.
        let data = guard(|| unsafe { (model.api.mj_makeData)(model.raw.as_ptr()) })?;
        NonNull::new(data).ok_or_else(|| MujocoError::Engine("no memory for the data".into()))
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, to be edited; it is copied first if a clone of this simulation shares it.
    pub fn model_mut(&mut self) -> &mut Model {
        Arc::make_mut(&mut self.model)
    }

    pub(crate) fn data(&self) -> *mut mjData {
        self.data.as_ptr()
    }

    fn sizes(&self) -> &mjModel {
        self.model.raw()
    }

    fn raw(&self) -> &mjData {
        // SAFETY: the pointer is valid until `drop`, and changed only through `&mut self`.
        unsafe { self.data.as_ref() }
    }

    arrays! {
        /// Positions (joint coordinates).
        qpos, qpos_mut: nq * 1;
        /// Velocities.
        qvel, qvel_mut: nv * 1;
        /// Controls of the actuators.
        ctrl, ctrl_mut: nu * 1;
        /// Force and torque applied to each body at its centre of mass, in the world's axes, `[nbody, 6]`.
        xfrc_applied, xfrc_applied_mut: nbody * 6;
        /// Forces applied to each degree of freedom.
        qfrc_applied, qfrc_applied_mut: nv * 1;
        /// Accelerations found by the last step.
        qacc: nv * 1;
        /// Position of each body's frame in the world, `[nbody, 3]`, as of the last refresh.
        xpos: nbody * 3;
        /// Rotation `world_from_body` of each body's frame, row by row, `[nbody, 9]`, as of the last refresh.
        xmat: nbody * 9;
        /// Centre of mass of each body in the world, `[nbody, 3]`, as of the last refresh.
        xipos: nbody * 3;
        /// Position of each geom in the world, `[ngeom, 3]`, as of the last refresh.
        geom_xpos: ngeom * 3;
        /// Rotation `world_from_geom` of each geom, row by row, `[ngeom, 9]`, as of the last refresh.
        geom_xmat: ngeom * 9;
        /// Position of each camera in the world, `[ncam, 3]`, as of the last refresh.
        cam_xpos: ncam * 3;
        /// Rotation `world_from_camera` of each camera, row by row, `[ncam, 9]`, as of the last refresh.
        cam_xmat: ncam * 9;
        /// Position of each site in the world, `[nsite, 3]`, as of the last refresh.
        site_xpos: nsite * 3;
        /// Positions of the bodies that are moved from outside, in the order of the model, `[nmocap, 3]`.
        mocap_pos, mocap_pos_mut: nmocap * 3;
        /// Readings of the sensors, in the order of the model. A step leaves them as they were at the beginning of its
        /// last time step.
        sensordata: nsensordata * 1;
    }

    /// Simulated seconds since the reset.
    pub fn time_secs(&self) -> f64 {
        self.raw().time
    }

    /// Number of contacts found by the last step.
    pub fn n_contacts(&self) -> usize {
        usize::try_from(self.raw().ncon).unwrap_or(0)
    }

    /// The two geoms of each contact found by the last step.
    pub fn contacts(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        let contacts = self.raw().contact;
        let geoms = move |i: usize| {
            // SAFETY: MuJoCo filled in `n_contacts` contacts, and `self` is borrowed while they are read.
            unsafe { (*contacts.add(i)).geom }
        };
        (0..self.n_contacts()).map(move |i| geoms(i).map(|id| usize::try_from(id).unwrap_or(usize::MAX)))
    }

    /// Back to the model's reference configuration: no velocity, no control, no applied force.
    pub fn reset(&mut self) {
        // SAFETY: model and data are valid and belong together.
        unsafe { (self.model.api.mj_resetData)(self.model.raw.as_ptr(), self.data()) };
    }

    /// Advances by `n` time steps under the current controls.
    ///
    /// # Errors
    /// If the simulation diverged. It is then reset, so that what is read from it stays finite.
    pub fn step(&mut self, n: usize) -> Result<(), Diverged> {
        let (mj_step, model, data) = (self.model.api.mj_step, self.model.raw.as_ptr(), self.data());
        // SAFETY: model and data are valid and belong together.
        let steps = guard(|| (0..n).for_each(|_| unsafe { mj_step(model, data) }));
        self.settle(steps)
    }

    /// Computes everything that follows from the current state and controls, without advancing.
    ///
    /// # Errors
    /// If the simulation diverged. It is then reset.
    pub fn forward(&mut self) -> Result<(), Diverged> {
        // SAFETY: model and data are valid and belong together.
        let done = guard(|| unsafe { (self.model.api.mj_forward)(self.model.raw.as_ptr(), self.data()) });
        self.settle(done)
    }

    /// Brings the poses of bodies, shapes, sites, cameras and lights up to date with the positions.
    ///
    /// A step leaves them as they were at its beginning. Forces and the solver's warm start are not touched, so
    /// looking at a simulation does not change its future.
    pub fn refresh_poses(&mut self) {
        let (api, model, data) = (self.model.api, self.model.raw.as_ptr(), self.data());
        // SAFETY: model and data are valid and belong together.
        unsafe {
            (api.mj_kinematics)(model, data);
            (api.mj_comPos)(model, data);
            (api.mj_camlight)(model, data);
        }
    }

    fn settle<T>(&mut self, outcome: Result<T, MujocoError>) -> Result<(), Diverged> {
        if outcome.is_ok() && !self.is_bad() {
            return Ok(());
        }
        self.reset();
        Err(Diverged)
    }

    /// Whether MuJoCo noticed a bad number since the reset, or the state has one that it did not see yet.
    fn is_bad(&self) -> bool {
        let warned = &self.raw().warning[mjWARN_BADQPOS as usize..=mjWARN_BADCTRL as usize];
        let sane = |v: &f64| v.abs() <= LARGEST;
        warned.iter().any(|w| w.number > 0) || !self.qpos().iter().chain(self.qvel()).all(sane)
    }
}

impl Clone for Simulation {
    fn clone(&self) -> Simulation {
        let (api, model) = (self.model.api, self.model.raw.as_ptr());
        // SAFETY: model and data are valid and belong together; a null destination asks for a new copy.
        let data = unsafe { (api.mj_copyData)(ptr::null_mut(), model, self.data()) };
        let data = NonNull::new(data).expect("memory for a copy of the data");
        Simulation { model: Arc::clone(&self.model), data }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // SAFETY: the data is owned, and this is its last use.
        unsafe { (self.model.api.mj_deleteData)(self.data()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectType;

    /// A 2 kg ball that falls along z, and a motor that pushes it up.
    const BALL: &str = r#"<mujoco><option gravity="0 0 -10" timestep="0.01"/><worldbody><body name="ball">
        <joint name="fall" type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody>
        <actuator><motor joint="fall"/></actuator></mujoco>"#;

    fn ball() -> Simulation {
        Simulation::new(Model::from_xml(BALL).unwrap()).unwrap()
    }

    #[test]
    fn a_ball_falls_as_newton_says() {
        let mut ball = ball();
        ball.step(100).unwrap();
        // Semi-implicit Euler: v = −g t exactly, z = −g dt² n (n + 1) / 2.
        assert!((ball.qvel()[0] + 10.0).abs() < 1e-9, "{}", ball.qvel()[0]);
        assert!((ball.qpos()[0] + 5.05).abs() < 1e-9, "{}", ball.qpos()[0]);
        assert!((ball.time_secs() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn controls_forces_masses_and_friction_act() {
        let mut nominal = ball();
        let acceleration = |sim: &mut Simulation| sim.forward().map(|()| sim.qacc()[0]).unwrap();
        nominal.ctrl_mut()[0] = 20.0;
        assert!(acceleration(&mut nominal).abs() < 1e-9);
        let id = nominal.model().id(ObjectType::Body, "ball").unwrap();
        nominal.xfrc_applied_mut()[6 * id + 2] = -4.0;
        assert!((acceleration(&mut nominal) + 2.0).abs() < 1e-9);
        let mut heavy = nominal.clone();
        heavy.model_mut().body_mass_mut()[id] = 4.0;
        heavy.model_mut().recompute_constants().unwrap();
        assert!((acceleration(&mut heavy) - (20.0 - 4.0 - 40.0) / 4.0).abs() < 1e-9);
        assert!(
            (acceleration(&mut nominal) + 2.0).abs() < 1e-9,
            "editing a clone must not reach the original"
        );
        heavy.model_mut().dof_frictionloss_mut()[0] = 1000.0;
        // MuJoCo's friction is soft: by default it holds 90 % back.
        assert!((acceleration(&mut heavy) + 0.6).abs() < 1e-9, "{}", heavy.qacc()[0]);
    }

    #[test]
    fn numbers_that_are_none_are_divergence_and_leave_finite_state() {
        type Spoil = fn(&mut Simulation);
        let spoils: [Spoil; 4] = [
            |s| s.qpos_mut()[0] = f64::NAN,
            |s| s.qvel_mut()[0] = 1e11,
            |s| s.ctrl_mut()[0] = f64::NAN,
            |s| s.qfrc_applied_mut()[0] = 1e13,
        ];
        for spoil in spoils {
            let mut ball = ball();
            spoil(&mut ball);
            assert_eq!(ball.step(1), Err(Diverged));
            assert_eq!((ball.qpos()[0], ball.qvel()[0]), (0.0, 0.0));
            assert_eq!(ball.step(1), Ok(()), "after the reset the simulation works again");
        }
    }

    #[test]
    fn an_error_inside_mujoco_does_not_end_the_process() {
        // Memory that suffices without friction, and not with it.
        let outcomes = (1..60).map(|i| {
            let xml = format!("<mujoco><size memory='{}'/>{}", 64 * i, BALL.trim_start_matches("<mujoco>"));
            let mut cramped = Simulation::new(Model::from_xml(&xml).ok()?).ok()?;
            cramped.model_mut().dof_frictionloss_mut()[0] = 1.0;
            Some(cramped.step(1))
        });
        let outcomes: Vec<_> = outcomes.flatten().collect();
        assert!(outcomes.contains(&Err(Diverged)) && outcomes.contains(&Ok(())), "{outcomes:?}");
    }

    #[test]
    fn looking_does_not_change_the_future() {
        let (mut seen, mut unseen) = (ball(), ball());
        for _ in 0..10 {
            seen.step(1).unwrap();
            unseen.step(1).unwrap();
            seen.refresh_poses();
            assert_eq!(seen.xpos()[5], seen.qpos()[0]);
        }
        assert_eq!(seen.qpos(), unseen.qpos());
    }
}
