//! What must hold: `auroc_matched(tiny) >= .8, risk <= 1e-2`. A requirement is met only if the whole interval meets it, so
//! an audit that saw too little does not pass.

use crate::document::{Audit, Judged};
use crate::findings::{DetectorFound, Fault, Number};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use offnominal_engine::strengths::check_level;
use std::fmt::{self, Display, Formatter};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// What can be required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantArray, IntoStaticStr, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum Measure {
    /// AUROC of the recommended detector at the same steps, mean over faults
    AurocMatched,
    /// Share of episodes with an alarm after the onset, mean over faults
    DetectionRate,
    /// Share of nominal episodes with an alarm of the recommended detector
    FalseAlarmRate,
    /// Failure probability of the policy
    Risk,
    /// Success rate of the policy
    Success,
    /// Mean return of the policy
    Return,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// What is required.
    pub measure: Measure,
    /// At which strength; at all that were tried, if there is none.
    pub strength: Option<String>,
    /// Whether the value must be at least, and not at most, the bound.
    pub at_least: bool,
    /// The bound.
    pub bound: f64,
}

/// Reads requirements, which commas separate.
///
/// # Errors
/// Names the part that is wrong, what was expected and what was found.
pub fn parse(text: &str) -> Result<Vec<Requirement>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let found: Vec<Requirement> =
        parts.map(|part| one(part).with_context(|| format!("require: {part:?}"))).collect::<Result<_>>()?;
    ensure!(!found.is_empty(), "require: expected something such as `risk <= 1e-2`, found nothing");
    Ok(found)
}

fn one(part: &str) -> Result<Requirement> {
    let left = part.split(['<', '>', '=']).next().unwrap_or_default();
    let (name, strength) = match left.trim().split_once('(') {
        None => (left.trim(), None),
        Some((name, rest)) => {
            let level = rest.trim_end().strip_suffix(')').context("expected a closing bracket")?.trim();
            (name.trim(), Some(level.to_string()))
        }
    };
    let names = Measure::VARIANTS.iter().map(<&str>::from);
    let measure: Measure = name.parse().ok().with_context(|| {
        let hint = did_you_mean(name, names.clone());
        format!("expected one of {}, found {name:?}{hint}", names.clone().collect::<Vec<_>>().join(", "))
    })?;
    let (at_least, right) = match (part.split_once(">="), part.split_once("<=")) {
        (Some((_, right)), None) => (true, right),
        (None, Some((_, right))) => (false, right),
        _ => bail!("expected one of >= and <= between a measure and a number"),
    };
    strength.iter().try_for_each(|level| check_level(level))?;
    let is_of_faults = matches!(measure, Measure::AurocMatched | Measure::DetectionRate);
    ensure!(strength.is_none() || is_of_faults, "expected no strength: {name} does not depend on a fault");
    let bound: f64 = right
        .trim()
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite())
        .with_context(|| format!("expected a finite number, found {:?}", right.trim()))?;
    Ok(Requirement { measure, strength, at_least, bound })
}

impl Requirement {
    /// Compares it with an audit.
    pub fn judge(&self, audit: &Audit) -> Judged {
        let found = self.found(audit);
        let met = found.is_some_and(|n| self.is_met_by(n.low, n.high)) && !self.is_denied(audit);
        let why = (!met).then(|| self.why(found, audit));
        Judged { requirement: self.to_string(), found, met, why }
    }

    /// Why it is not met, and what would tell more.
    fn why(&self, found: Option<Number>, audit: &Audit) -> String {
        let n = audit.counts.of(self.count());
        let (depth, count) = (<&str>::from(audit.depth), self.count().name());
        let end = |n: Number| if self.at_least { n.low } else { n.high };
        let Some(found) = found else { return self.nothing_found(audit) };
        if self.is_met_by(found.low, found.high) {
            return "Counting and the search for rare failures contradict each other.".into();
        }
        if !self.is_met_by(found.high, found.low) || self.is_denied(audit) {
            return "The whole interval lies beyond the bound: more episodes will not change that.".into();
        }
        if !self.is_met_by(found.value, found.value) {
            return "The value lies beyond the bound, and the interval contains it.".into();
        }
        let ratio = (end(found) - found.value).abs() / (self.bound - found.value).abs().max(1e-9);
        // The interval of a share that was never seen narrows with n, every other one with its root.
        let is_clean = self.measure != Measure::Return && (found.value == 0.0 || found.value == 1.0);
        let more = n as f64 * if is_clean { ratio } else { ratio * ratio };
        let more = (1.1 * more).ceil().min(1e7);
        format!(
            "{n} episodes are too few: the interval contains the bound. About {more} would be enough if the value stays \
             ({count}): `--depth {depth},{count}={more}`."
        )
    }

    /// Why there is no number.
    fn nothing_found(&self, audit: &Audit) -> String {
        match self.measure {
            Measure::Success => "The environment does not define success.".into(),
            Measure::Risk if !audit.failures.counts_failures => {
                "Nothing that was seen counts as a failure in this environment.".into()
            }
            Measure::AurocMatched | Measure::DetectionRate => {
                "No fault was tried at this strength: the table of faults says why.".into()
            }
            _ => "There is no number.".into(),
        }
    }

    /// Whether all values between two ends meet it.
    pub fn is_met_by(&self, low: f64, high: f64) -> bool {
        if self.at_least { low >= self.bound } else { high <= self.bound }
    }

    /// Whether another method says for sure that it is not met.
    fn is_denied(&self, audit: &Audit) -> bool {
        let denies = |n: Number| !self.is_met_by(n.high, n.low);
        self.measure == Measure::Risk && audit.failures.known().any(denies)
    }

    fn found(&self, audit: &Audit) -> Option<Number> {
        let detector = audit.detectors.iter().find(|d| d.name == audit.choice.recommended);
        match self.measure {
            Measure::AurocMatched => detector.and_then(|d| self.of_detector(d)),
            Measure::DetectionRate => detection(&audit.faults, self.strength.as_deref()),
            Measure::FalseAlarmRate => detector.and_then(|d| d.false_alarm_rate),
            Measure::Risk => audit.failures.best(),
            Measure::Success => audit.policy.success,
            Measure::Return => Some(audit.policy.mean_return),
        }
    }

    fn of_detector(&self, detector: &DetectorFound) -> Option<Number> {
        match &self.strength {
            None => detector.auroc_matched,
            Some(level) => detector.at.get(level).copied(),
        }
    }
}

/// Mean over faults of the share that is detected, with the mean of the ends of the intervals, which holds however the
/// faults depend on one another.
fn detection(faults: &[Fault], strength: Option<&str>) -> Option<Number> {
    let tried = faults.iter().flat_map(|fault| &fault.strengths);
    let shares: Vec<Number> = tried
        .filter(|at| strength.is_none_or(|level| at.strength == level))
        .filter_map(|at| at.detection_rate)
        .collect();
    let mean = |part: fn(&Number) -> f64| shares.iter().map(part).sum::<f64>() / shares.len() as f64;
    (!shares.is_empty()).then(|| Number {
        value: mean(|n| n.value),
        low: mean(|n| n.low),
        high: mean(|n| n.high),
    })
}

impl Display for Requirement {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Requirement { measure, strength, at_least, bound } = self;
        let at = strength.as_ref().map_or(String::new(), |level| format!("({level})"));
        write!(out, "{}{at} {} {bound}", <&str>::from(measure), if *at_least { ">=" } else { "<=" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_read() {
        let read = parse("auroc_matched(tiny) >= .8, risk <= 1e-2").unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(
            (read[0].measure, read[0].strength.as_deref(), read[0].at_least, read[0].bound),
            (Measure::AurocMatched, Some("tiny"), true, 0.8)
        );
        assert_eq!(read[1].to_string(), "risk <= 0.01");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| format!("{:#}", parse(text).unwrap_err());
        assert!(refused("").contains("found nothing"));
        assert!(refused("risk < 1").contains("expected one of >= and <="));
        assert!(refused("auroc > .8").contains("expected one of auroc_matched, "));
        assert!(refused("auroc_machted >= .8").contains("did you mean \"auroc_matched\"?"));
        assert!(refused("auroc_matched(tny) >= .8").contains("did you mean \"tiny\"?"));
        assert!(refused("risk(tiny) <= 1").contains("does not depend on a fault"));
        assert!(refused("risk <= much").contains("expected a finite number, found \"much\""));
        assert!(refused("risk <= NaN").contains("expected a finite number"));
    }

    #[test]
    fn only_a_whole_interval_meets_a_requirement() {
        let audit = crate::document::sample();
        let judge = |text: &str| parse(text).unwrap()[0].judge(&audit).met;
        assert!(judge("risk <= 0.1") && !judge("risk <= 0.03"), "{:?}", audit.failures);
        assert!(judge("auroc_matched(tiny) >= 0.7") && !judge("auroc_matched(tiny) >= 0.85"));
        assert!(!judge("success >= 0"), "the sample defines no success");
    }

    #[test]
    fn what_is_not_met_says_why_and_what_would_tell() {
        let audit = crate::document::sample();
        let why = |text: &str| parse(text).unwrap()[0].judge(&audit).why;
        assert_eq!(why("risk <= 0.1"), None);
        // 3.3 % [0.4 %, 9 %] of 60 episodes: (0.09 − 0.033) / (0.08 − 0.033) squared, and a tenth more.
        assert!(why("risk <= 0.08").unwrap().contains("failures=98"), "{:?}", why("risk <= 0.08"));
        assert!(why("risk <= 1e-3").unwrap().contains("more episodes will not change"));
        assert!(why("risk <= 0.02").unwrap().contains("value lies beyond"));
        assert!(why("success >= 0").unwrap().contains("does not define success"));
        assert!(why("auroc_matched(medium) >= .5").unwrap().contains("at this strength"));
    }

    #[test]
    fn no_requirement_is_met_that_another_method_denies() {
        let mut audit = crate::document::sample();
        let number = |value: f64| Some(Number { value, low: 0.9 * value, high: 1.1 * value });
        let mut judge = |counted, swarms| {
            (audit.failures.counted, audit.failures.by_swarms) = (number(counted), number(swarms));
            ["risk <= 0.01", "risk >= 0.01"].map(|text| parse(text).unwrap()[0].judge(&audit).met)
        };
        assert_eq!(judge(0.002, 0.001), [true, false]);
        assert_eq!(judge(0.02, 0.001), [false, false]);
        assert_eq!(judge(0.001, 0.02), [false, false]);
        assert_eq!(judge(0.02, 0.03), [false, true]);
    }
}
