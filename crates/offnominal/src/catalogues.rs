//! The catalogues of everything built in, as the commands look things up.

use offnominal_core::Catalogue;
use offnominal_core::anomaly::Anomaly;
use offnominal_core::catalogue::BuildError;
use offnominal_core::detector::Detector;
use offnominal_core::env::Env;
use serde_json::json;

/// The built-in worlds.
pub fn worlds() -> Catalogue<dyn Env> {
    Catalogue::new("world", offnominal_worlds::ENVS)
}

/// A built-in world, around the robot at an address if there is one.
///
/// # Errors
/// If there is no such world, it is none of robots, or the robot cannot be used.
pub fn world(id: &str, robot: Option<&str>) -> Result<Box<dyn Env>, BuildError> {
    let options = robot.map_or(json!({}), |host| json!({ "robot": host }));
    worlds().build(id, &options)
}

/// The built-in anomalies.
pub fn anomalies() -> Catalogue<dyn Anomaly> {
    Catalogue::new("anomaly", offnominal_worlds::ANOMALIES)
}

/// The built-in detectors.
pub fn detectors() -> Catalogue<dyn Detector> {
    Catalogue::new("detector", offnominal_detectors::ALL)
}
