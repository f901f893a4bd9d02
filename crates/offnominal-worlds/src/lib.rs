//! What produces episodes: environments and anomalies.

pub mod anomaly;
pub mod cards;
pub mod corruption;
pub mod env;

pub use anomaly::ANOMALIES;
pub use env::ENVS;
