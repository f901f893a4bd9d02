//! What produces episodes: environments and anomalies.

pub mod anomaly;
pub mod cards;
pub mod corruption;
pub mod demonstrator;
pub mod env;
pub mod ood_rl;

pub use anomaly::ANOMALIES;
pub use env::ENVS;
