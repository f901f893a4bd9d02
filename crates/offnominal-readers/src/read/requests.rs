//! Readers of requests and recipes.

use super::policies::environment;
use offnominal_agents::{TrainConfig, Trainer};
use offnominal_bench::{calibrate, images, metrics_file, ood_rl, report, run, suite};
use offnominal_core::Seed;
use offnominal_core::anomaly_spec::AnomalySpec;
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::scenario::distribution::DistributionFile;
use offnominal_engine::{
    catalogues, collect, ensemble, evaluation, export, fit, import, render, score as scores,
    train as training,
};
use offnominal_pixels::{describe, evaluate, frames, import as weights, predict, scenes, score, train};
use offnominal_risk::{budget, compare, estimate, learning, replay, search, select, split, stress};
use offnominal_stats::stl::{Formula, Monitor};
use serde_json::Value;

fn is<T: serde::de::DeserializeOwned>(request: &Value) -> bool {
    T::deserialize(request).is_ok()
}

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
    let Ok(request) = serde_json::from_slice::<Value>(bytes) else { return false };
    let all: &[fn(&Value) -> bool] = &[
        is::<offnominal_audit::Request>,
        is::<collect::Request>,
        is::<evaluation::Request>,
        is::<compare::Request>,
        is::<training::Request>,
        is::<fit::Request>,
        is::<scores::Request>,
        is::<render::Request>,
        is::<export::Request>,
        is::<import::Request>,
        is::<ensemble::Request>,
        is::<run::Request>,
        is::<suite::Request>,
        is::<ood_rl::Request>,
        is::<report::Request>,
        is::<calibrate::Request>,
        is::<metrics_file::Request>,
        is::<learning::Request>,
        is::<estimate::Request>,
        is::<search::Request>,
        is::<stress::Request>,
        is::<select::Request>,
        is::<split::Request>,
        is::<replay::Request>,
        is::<budget::Request>,
        is::<offnominal_shift::Request>,
        is::<scenes::Request>,
        is::<frames::Request>,
        is::<describe::Request>,
        is::<train::Request>,
        is::<weights::Request>,
        is::<predict::Request>,
        is::<score::Request>,
        is::<evaluate::Request>,
        is::<images::encoder::Request>,
        is::<images::fit::Request>,
        is::<images::score::Request>,
    ];
    all.iter().fold(false, |any, read| read(&request) | any)
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
