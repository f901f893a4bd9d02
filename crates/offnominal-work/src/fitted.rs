//! What a command says of the monitor that it has fitted, and what it fits if a request does not say it.

use crate::detector_choice::DetectorChoice;
use offnominal_core::partial::Missing;
use offnominal_monitor::About;
use offnominal_stats::Promise;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The detector.
pub fn detector() -> DetectorChoice {
    DetectorChoice::named("default")
}

/// The rule.
pub fn rule() -> String {
    "conformal".into()
}

/// The accepted share of nominal episodes with an alarm.
pub fn alpha() -> f64 {
    0.05
}

/// Monitors that share what is promised.
pub fn monitors() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Whether an alarm is diagnosed.
pub fn diagnosis() -> bool {
    true
}

/// A monitor's file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedMonitor {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// What the monitor says of itself.
    pub monitor: About,
}

impl Display for FittedMonitor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let FittedMonitor { file, bytes, monitor: about } = self;
        let (id, env, n) = (&about.detector.id, &about.environment.id, about.train_episodes);
        writeln!(out, "{}: {id} for {env}, learned from {n} episodes; {bytes} bytes", file.display())?;
        let set = &about.threshold;
        let (statistic, value, rule, n) = (&set.statistic, set.value, &set.rule, set.episodes);
        writeln!(out, "alarm: {statistic} above {value:.4}, set by {rule} on {n} episodes")?;
        writeln!(out, "{}", promised(about))?;
        write!(out, "{}", missing(about))
    }
}

/// What becomes of numbers that are not read, in words.
pub fn missing(about: &About) -> String {
    let (id, steps) = (&about.detector.id, about.lost_after);
    let how = match about.missing {
        Missing::LeftOut => format!("{id} leaves them out of the score"),
        Missing::Predicted => {
            format!("{id} cannot leave them out, and takes what it predicts in their place")
        }
        Missing::Held => {
            format!(
                "{id} can neither leave them out nor predict them, and takes the last ones that were read"
            )
        }
    };
    format!("missing numbers: {how}; a sensor is lost after {steps} steps without it")
}

/// What a threshold promises, in words: which promise is meant, and what is expected.
fn promised(about: &About) -> String {
    let set = &about.threshold;
    if let Some(run_length) = set.run_length {
        let per_hour = 3600.0 / (run_length.steps * about.dt_secs);
        return format!("{run_length}; {per_hour:.3e} false alarms an hour");
    }
    let promise = set.alpha.map(|alpha| Promise { alpha, confidence: set.confidence });
    let promise = promise.map_or(String::new(), |promise| format!("promised: {promise}; "));
    match &set.false_alarms {
        Some(share) => format!("{promise}expected share {share:.4}"),
        None => "the rule promises nothing about false alarms".into(),
    }
}
