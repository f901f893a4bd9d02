//! A threshold as a file's header has it: where it comes from, what it promises, and how it has followed drift.

use offnominal_core::estimate::Estimate;
use offnominal_stats::alarm::statistic::Statistic;
use offnominal_stats::{Rule, RunLength, Threshold};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A threshold, and where it comes from. What its statistic has learned is among the numbers of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrated {
    /// The rule that set it.
    pub rule: String,
    /// Accepted share of nominal episodes with an alarm, if the rule promises one.
    pub alpha: Option<f64>,
    /// With which confidence over calibration sets it is promised; on average over them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// How far apart false alarms are, if the rule promises that of a stream without episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_length: Option<PromisedRunLength>,
    /// What is compared with the value: `score`, `band`, `cusum`, `martingale` or `blocks`.
    pub statistic: String,
    /// A step exceeds if the statistic is above this.
    pub value: f64,
    /// Nominal episodes that set it; the detector had not seen them.
    pub episodes: usize,
    /// Steps of the longest of these episodes; what is promised of an episode holds for so many of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<u64>,
    /// The share of nominal episodes with an alarm, as far as the rule promises anything.
    pub false_alarms: Option<Estimate>,
    /// Most alarms an hour of nominal operation, on average over calibration sets, if a rate or a run length in time is
    /// promised; an episode counts one alarm at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_per_hour: Option<f64>,
    /// Alarms an hour in nominal episodes that are as long as those of the calibration, of which each counts one at most, or in
    /// a stream without episodes; if somebody has said how many seconds a step takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_hour: Option<Estimate>,
    /// What has become of it since the fit, if nominal episodes were confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// How a threshold has followed drift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Nominal episodes that were confirmed since the fit.
    pub confirmed: u64,
    /// The threshold of the fit.
    pub fitted: f64,
    /// The median of the largest values of the statistic in the episodes of the fit.
    pub median: f64,
    /// Whether the threshold would be higher but for the tolerance.
    pub is_limited: bool,
}

/// A mean number of steps to a false alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromisedRunLength {
    /// Steps.
    pub steps: f64,
    /// With which confidence over calibration sets it is promised; on average over them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Steps of a block, over which scores depend on one another.
    pub block: usize,
    /// Nominal blocks with which blocks are compared.
    pub n_blocks: usize,
}

impl PromisedRunLength {
    fn of(rule: Rule, threshold: &Threshold) -> Option<PromisedRunLength> {
        let (Rule::RunLength(RunLength { steps, confidence, .. }), Statistic::Blocks(blocks)) =
            (rule, &threshold.statistic)
        else {
            return None;
        };
        Some(PromisedRunLength { steps, confidence, block: blocks.steps(), n_blocks: blocks.n_blocks() })
    }
}

impl Display for PromisedRunLength {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let PromisedRunLength { steps, confidence, block, n_blocks } = self;
        write!(out, "promised: false alarms at least {steps:.0} steps apart on average, ")?;
        match confidence {
            None => write!(out, "and over calibration sets")?,
            Some(confidence) => write!(out, "in {confidence} of calibration sets")?,
        }
        write!(out, "; {n_blocks} nominal blocks of {block} steps")
    }
}

impl Calibrated {
    /// A threshold that a rule set on so many episodes.
    pub fn new(rule: Rule, threshold: &Threshold, episodes: usize) -> Calibrated {
        let promise = rule.promise();
        Calibrated {
            rule: rule.id().into(),
            alpha: promise.map(|promise| promise.alpha),
            confidence: promise.and_then(|promise| promise.confidence),
            run_length: PromisedRunLength::of(rule, threshold),
            statistic: threshold.statistic.id().into(),
            value: threshold.value,
            episodes,
            longest: None,
            false_alarms: threshold.false_alarms.clone(),
            promised_per_hour: None,
            per_hour: None,
            drift: None,
        }
    }

    /// The steps for which the promise of an episode holds, if an episode of so many steps is longer; `None` too where
    /// nothing is promised of episodes.
    pub fn outlasted_by(&self, steps: u64) -> Option<u64> {
        self.longest.filter(|&longest| self.alpha.is_some() && self.run_length.is_none() && steps > longest)
    }
}
