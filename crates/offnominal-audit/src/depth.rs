//! How many episodes of everything, in four steps: what an audit does with little and with much time.

use crate::counts::Counts;
use offnominal_core::anomaly_spec::DYNAMICS;
use offnominal_core::spec::EnvSpec;
use offnominal_engine::faults::SIGNALS;
use offnominal_engine::strengths::LEVELS;
use offnominal_worlds::anomaly::ids_for;
use serde::{Deserialize, Serialize};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[derive(EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum Depth {
    /// Five faults, two strengths; for slow environments
    Glance,
    /// Nine faults, two strengths
    Quick,
    /// Sixteen faults, four strengths
    Standard,
    /// All faults, four strengths, episodes as in the benchmark
    Thorough,
}

/// The numbers behind a depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// Names of faults, as far as they apply; all that do, if there is none.
    pub anomalies: &'static [&'static str],
    /// The most parameters of the environment that are changed.
    pub parameters: usize,
    /// Strengths at which detectors are tried.
    pub levels: &'static [&'static str],
    /// Nominal episodes of the calibration, and the most at one magnitude.
    pub calibration: usize,
    /// Most episodes of the calibration of one fault in one direction.
    pub calibration_budget: usize,
    /// Half-width up to which a score is known well enough to use its magnitude, as a share of what the strength costs.
    pub precision: f64,
    /// Nominal episodes to fit detectors,
    pub train: usize,
    /// and to set thresholds.
    pub validation: usize,
    /// The most observation channels that are disturbed one at a time.
    pub channels: usize,
    /// Bootstrap replicates behind each interval.
    pub replicates: usize,
    /// The detectors.
    pub detectors: &'static [&'static str],
    /// Episodes that evaluate the policy, test a fault at a strength, and count failures.
    pub counts: Counts,
    /// Swarms that look for rare failures where counting found few and the environment has a margin.
    pub swarms: u64,
}

const ENDS: &[&str] = &["tiny", "strong"];
const ALL_LEVELS: &[&str] = &[LEVELS[0].0, LEVELS[1].0, LEVELS[2].0, LEVELS[3].0];

const FEW: &[&str] = &["obs-offset", "obs-stuck", "act-offset", "act-delay"];
const SOME: &[&str] =
    &["obs-noise", "obs-offset", "obs-drift", "obs-stuck", "act-noise", "act-offset", "act-delay"];

const BASELINES: &[&str] = &["clock", "random", "knn", "mewma", "panel"];
const RIVALS: &[&str] = &["clock", "random", "knn", "mlp-dm", "pe-dm", "mewma", "residual-window", "panel"];
const MANY: &[&str] = &[
    "clock",
    "random",
    "knn",
    "isolation-forest",
    "mlp-dm",
    "pe-dm",
    "multistep-dm",
    "mewma",
    "residual-window",
    "e-process",
    "residual-views",
    "panel",
];

/// Sizes of faults in nominal deviations of each channel.
pub const DEVIATIONS: [f64; 2] = [0.1, 1.0];

/// Seconds of one core to fit a detector, for each transition that it learns from: what networks cost with their usual
/// number of epochs, measured with `fit --detector` in sap-goal1 and mjc-half-cheetah. The dearest come first.
const FIT_SECS: [(&str, f64); 5] = [
    ("pe-dm", 0.018),
    ("mlp-dm", 0.005),
    ("panel", 2.8e-3),
    ("multistep-dm", 7e-4),
    ("residual-views", 7e-4),
];
const OTHER_FIT_SECS: f64 = 3e-4;

/// What it costs to fit a detector, in seconds for each transition.
pub fn fit_secs(detector: &str) -> f64 {
    FIT_SECS.iter().find(|(id, _)| *id == detector).map_or(OTHER_FIT_SECS, |(_, secs)| *secs)
}

/// Detectors that are left out, the dearest first, where a depth does not fit the budget with them.
pub fn dear() -> impl Iterator<Item = &'static str> {
    FIT_SECS.iter().filter(|(_, secs)| *secs > 4e-3).map(|(id, _)| *id)
}

impl Depth {
    /// The numbers.
    pub fn effort(self) -> Effort {
        let glance = Effort {
            anomalies: FEW,
            parameters: 1,
            levels: ENDS,
            calibration: 24,
            calibration_budget: 100,
            precision: 6.0,
            train: 40,
            validation: 40,
            channels: 0,
            replicates: 100,
            detectors: BASELINES,
            counts: Counts { evaluation: 24, test: 16, failures: 60 },
            swarms: 0,
        };
        let quick = Effort {
            anomalies: SOME,
            parameters: 2,
            calibration: 40,
            calibration_budget: 240,
            precision: 3.0,
            train: 60,
            validation: 60,
            channels: 8,
            detectors: RIVALS,
            counts: Counts { evaluation: 50, test: 24, failures: 300 },
            swarms: 4,
            ..glance
        };
        let standard = Effort {
            anomalies: &SIGNALS,
            parameters: 4,
            levels: ALL_LEVELS,
            calibration: 80,
            calibration_budget: 600,
            precision: 1.5,
            train: 100,
            validation: 100,
            channels: 24,
            replicates: 200,
            counts: Counts { evaluation: 100, test: 40, failures: 1000 },
            swarms: 4,
            ..quick
        };
        match self {
            Depth::Glance => glance,
            Depth::Quick => quick,
            Depth::Standard => standard,
            Depth::Thorough => Effort {
                anomalies: &[],
                parameters: usize::MAX,
                calibration: 200,
                calibration_budget: 2000,
                precision: 0.75,
                channels: 64,
                detectors: MANY,
                counts: Counts { evaluation: 300, test: 100, failures: 5000 },
                ..standard
            },
        }
    }
}

impl Effort {
    /// The faults that are tried in an environment, and those that apply and are left out.
    pub fn faults(&self, spec: &EnvSpec) -> (Vec<String>, Vec<String>) {
        let hidden = |id: &str| {
            id.strip_prefix(DYNAMICS)
                .is_some_and(|name| spec.parameters.iter().any(|p| p.name == name && p.is_seen_only))
        };
        let all = ids_for(spec).into_iter().filter(|id| !hidden(id));
        let (parameters, signals): (Vec<String>, Vec<String>) = all.partition(|id| id.starts_with(DYNAMICS));
        let is_asked = |id: &String| self.anomalies.is_empty() || self.anomalies.contains(&id.as_str());
        let (mut tried, mut left): (Vec<String>, Vec<String>) = signals.into_iter().partition(is_asked);
        let n = parameters.len().min(self.parameters);
        tried.extend_from_slice(&parameters[..n]);
        left.extend_from_slice(&parameters[n..]);
        (tried, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_engine::catalogues;

    #[test]
    fn every_name_exists() {
        for depth in Depth::VARIANTS {
            let effort = depth.effort();
            let known = offnominal_worlds::anomaly::catalogue();
            effort.anomalies.iter().for_each(|id| assert!(known.find(id).is_ok(), "{id}"));
            effort.detectors.iter().for_each(|id| assert!(catalogues::detectors().find(id).is_ok(), "{id}"));
            effort.levels.iter().for_each(|level| assert!(ALL_LEVELS.contains(level)));
        }
    }

    #[test]
    fn a_deeper_audit_does_more_of_everything() {
        let efforts: Vec<Effort> = Depth::VARIANTS.iter().map(|d| d.effort()).collect();
        for pair in efforts.windows(2) {
            let numbers =
                |e: &Effort| [e.calibration, e.calibration_budget, e.train, e.validation, e.counts.test];
            assert!(numbers(&pair[0]).iter().zip(numbers(&pair[1])).all(|(a, b)| *a <= b));
            assert!(
                pair[0].counts.failures < pair[1].counts.failures
                    && pair[0].detectors.len() <= pair[1].detectors.len()
            );
        }
    }

    #[test]
    fn an_action_that_is_a_choice_leaves_faults_to_try() {
        let choice = offnominal_core::spec::Channel::choice("push", "", 2);
        let plain = offnominal_core::spec::Channel::unbounded("x", "", "m");
        let spec = EnvSpec { observation: vec![plain], action: vec![choice], ..EnvSpec::new("w", "") };
        let (tried, left) = Depth::Glance.effort().faults(&spec);
        assert_eq!(tried, ["obs-offset", "obs-stuck", "act-delay"]);
        assert!(left.contains(&"obs-noise".to_string()) && !left.contains(&"act-noise".to_string()));
    }
}
