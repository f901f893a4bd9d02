//! The catalogues of everything built in, as the commands look things up.

use offnominal_core::Catalogue;
use offnominal_core::anomaly::Anomaly;
use offnominal_core::detector::Detector;
use offnominal_core::env::Env;

/// The built-in worlds.
pub fn worlds() -> Catalogue<dyn Env> {
    Catalogue::new("world", offnominal_worlds::ENVS)
}

/// The built-in anomalies.
pub fn anomalies() -> Catalogue<dyn Anomaly> {
    Catalogue::new("anomaly", offnominal_worlds::ANOMALIES)
}

/// The built-in detectors.
pub fn detectors() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", offnominal_detectors::ALL)
}
