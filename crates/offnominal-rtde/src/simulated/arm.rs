//! The arm of a simulated controller: the MuJoCo model of a UR3e, whose joints follow a reference.
//!
//! τ = kp (q* − q) + kv (q̇* − q̇), with the reference q* and its rate q̇*. Gravity is compensated in the model, friction
//! and the inertia of the gears are not.

use crate::LinkError;
use crate::ur3e::{Joints, kinematics::HOME, model};
use offnominal_mujoco::{Diverged, Model, Simulation};

/// Seconds of a tick: the controller of an e-Series robot works at 500 Hz, and so does the model.
pub const TICK_SECS: f64 = 0.002;

/// Stiffness of the joints' servos, in N m/rad.
const STIFFNESS: f64 = 12_000.0;

/// Their damping, in N m s/rad: critical for the gears' inertia of 1 kg m² and a little for the links.
const DAMPING: f64 = 220.0;

/// Joints of the arm; the model's further degrees of freedom are the gripper's.
const N: usize = 6;

/// An arm in motion.
#[derive(Clone)]
pub struct Arm {
    sim: Simulation,
}

impl Arm {
    /// An arm at rest in the home posture.
    ///
    /// # Errors
    /// If MuJoCo cannot be had.
    pub fn new() -> Result<Arm, LinkError> {
        let model = Model::from_xml(&model_text()).map_err(|e| LinkError::NoSimulation(e.to_string()))?;
        let mut sim = Simulation::new(model).map_err(|e| LinkError::NoSimulation(e.to_string()))?;
        sim.qpos_mut()[..N].copy_from_slice(&HOME);
        Ok(Arm { sim })
    }

    /// Angles of the joints, in rad.
    pub fn q(&self) -> Joints {
        std::array::from_fn(|i| self.sim.qpos()[i])
    }

    /// Their rates, in rad/s.
    pub fn qd(&self) -> Joints {
        std::array::from_fn(|i| self.sim.qvel()[i])
    }

    /// Torques of the servos in the last tick, in N m.
    pub fn torques(&self) -> Joints {
        std::array::from_fn(|i| self.sim.qfrc_applied()[i])
    }

    /// One tick towards a reference.
    ///
    /// # Errors
    /// If the simulation diverged.
    pub fn drive(&mut self, q: &Joints, qd: &Joints) -> Result<(), Diverged> {
        for i in 0..N {
            let (dq, dqd) = (q[i] - self.sim.qpos()[i], qd[i] - self.sim.qvel()[i]);
            self.sim.qfrc_applied_mut()[i] = STIFFNESS * dq + DAMPING * dqd;
        }
        self.sim.step(1)
    }
}

/// The model of the environments, with the weld that drags its hand undone: here the joints have servos.
fn model_text() -> String {
    model::mjcf().replace("<weld name=\"drag\"", "<weld name=\"drag\" active=\"false\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_where_it_is_told_to_stay() {
        let mut arm = Arm::new().unwrap();
        for _ in 0..500 {
            arm.drive(&HOME, &[0.0; N]).unwrap();
        }
        let off = arm.q().iter().zip(HOME).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-3, "{:?}", arm.q());
    }

    #[test]
    fn it_follows_a_moving_reference_closely() {
        let mut arm = Arm::new().unwrap();
        let mut worst = 0.0_f64;
        for tick in 0..1000 {
            let t = f64::from(tick) * TICK_SECS;
            let target = HOME.map(|q| q + 0.2 * (1.0 - t.cos()));
            arm.drive(&target, &[0.2 * t.sin(); N]).unwrap();
            worst = arm.q().iter().zip(target).map(|(a, b)| (a - b).abs()).fold(worst, f64::max);
        }
        assert!(worst < 2e-3, "off by {worst} rad");
    }
}
