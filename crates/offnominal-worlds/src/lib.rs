//! What produces episodes: environments and anomalies.

pub mod env;

pub use env::ENVS;
