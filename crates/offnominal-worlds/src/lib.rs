//! What produces episodes: environments and anomalies.

pub mod env;
