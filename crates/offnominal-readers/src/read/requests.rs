//! Readers of requests and recipes.

use super::policies::environment;
use offnominal_agents::{TrainConfig, Trainer};
use offnominal_core::Seed;
use offnominal_core::anomaly_spec::AnomalySpec;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::scenario::distribution::DistributionFile;
use offnominal_stats::stl::{Formula, Monitor};
use serde_json::Value;

/// A formula over two signals, with a sample.
pub fn formula(bytes: &[u8]) -> bool {
    let Some(formula) = std::str::from_utf8(bytes).ok().and_then(|text| Formula::parse(text).ok()) else {
        return false;
    };
    let monitor = Monitor::new(&formula, &["speed".into(), "gap".into()], 0.1);
    monitor.is_ok_and(|mut monitor| {
        monitor.push(&[1.0, 2.0]);
        !monitor.finish().is_nan()
    })
}

/// A file of distributions.
pub fn distribution(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| DistributionFile::parse(text).is_ok())
}

/// The request of any command.
pub fn request(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|request| offnominal::cli::reads(&request))
}

/// A detector with its parameters.
pub fn recipe(bytes: &[u8]) -> bool {
    let choice = serde_json::from_slice::<toml::Value>(bytes).map(DetectorChoice::try_from);
    let Ok(Ok(choice)) = choice else { return false };
    catalogues::detectors().build(&choice.id, &choice.params).is_ok()
}

/// How a policy is trained; the training is begun.
pub fn train_config(bytes: &[u8]) -> bool {
    let config = serde_json::from_slice::<TrainConfig>(bytes);
    config.is_ok_and(|config| Trainer::new(config, environment(), Seed(1)).is_ok())
}

/// An anomaly with its parameters and schedule.
pub fn anomaly(bytes: &[u8]) -> bool {
    let spec = serde_json::from_slice::<AnomalySpec>(bytes);
    spec.is_ok_and(|spec| spec.build(&catalogues::anomalies(), environment()).is_ok())
}
