//! What produces episodes: environments and anomalies.
