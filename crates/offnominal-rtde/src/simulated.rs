//! A controller of Universal Robots, simulated: the arm in MuJoCo, its safety, its registers, and its protocols.
//!
//! It does not interpret URScript. A program that is sent to it is the cue to play the register protocol by which
//! clients drive their programs; see [`program`]. Everything here but [`station`] and [`served`] is free of
//! input and output.

pub mod arm;
pub mod connection;
pub mod controller;
pub mod dashboard;
pub mod loopback;
pub mod motion;
pub mod network;
pub mod outputs;
pub mod program;
pub mod registers;
pub mod served;
pub mod station;

pub use controller::Controller;
pub use loopback::Loopback;
pub use network::Network;
pub use served::Served;
pub use station::Station;
