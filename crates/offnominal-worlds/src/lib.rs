//! What produces episodes: environments and anomalies.

pub mod anomaly;
pub mod cards;
pub mod demonstrator;
pub mod env;
pub mod rtde;
pub mod ur3e;

pub use anomaly::ANOMALIES;
pub use env::ENVS;
