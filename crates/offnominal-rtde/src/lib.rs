//! The link to a robot of Universal Robots: RTDE (Real-Time Data Exchange), both ends of it.
//!
//! * Bytes: [`package`], [`value`], [`message`] and [`recipe`] encode and decode version 2 of the protocol on slices.
//! * Our end: [`client`] agrees on recipes and exchanges data over a [`link`]; [`robot`] moves an arm by it, within
//!   limits that no command can lift.
//! * The other end: [`simulated`] is a controller around a simulated arm. The same bytes reach it in lock step inside
//!   the process, faster than real time, or over sockets, for any program that speaks to such a robot.
//! * The arm: [`ur3e`] has the geometry of the UR3e and its model for MuJoCo, which the controller moves.
//!
//! Reference: Universal Robots, *Real-Time Data Exchange (RTDE) Guide*; *The URScript Programming Language*.

pub mod client;
pub mod link;
pub mod message;
pub mod package;
pub mod recipe;
pub mod robot;
pub mod simulated;
pub mod ur3e;
pub mod value;

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod link_tests;

pub use link::{Link, LinkError, Tcp};
pub use robot::Robot;
