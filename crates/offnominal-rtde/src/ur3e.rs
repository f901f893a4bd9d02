//! The robot arm UR3e of Universal Robots: its geometry, without any simulator, and its model for MuJoCo.

pub mod kinematics;
pub mod model;
pub mod pose;

pub use kinematics::{Joints, forward, frames, inverse};
pub use pose::Pose;
