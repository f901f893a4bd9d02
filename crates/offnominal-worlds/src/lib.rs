//! What produces episodes: environments and anomalies.
pub const ENVS: &[offnominal_core::Entry<dyn offnominal_core::env::Env>] = &[];
pub const ANOMALIES: &[offnominal_core::Entry<dyn offnominal_core::anomaly::Anomaly>] = &[];
