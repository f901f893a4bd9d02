//! What to do about what was found, in sentences, the most important first.

use crate::document::Audit;
use crate::findings::{Fault, Noticed, Number};
use offnominal_stats::{Promise, Rule};

/// The advice of an audit; its own `advice` is not read.
pub fn of(audit: &Audit, default: &str) -> Vec<String> {
    let parts = [
        differs(audit).into_iter().collect(),
        vec![run_the_monitor(audit)],
        other_detector(audit, default).into_iter().collect(),
        blind_faults(audit).into_iter().collect(),
        blind_channels(audit).into_iter().collect(),
        failures(audit),
        vec![more_episodes(audit)],
    ];
    parts.concat()
}

/// Whether episodes differ from their twins without any fault.
fn differs(audit: &Audit) -> Option<String> {
    let found = audit.detectors.iter().find(|d| d.name == audit.recommended)?.of_nothing?;
    ((found.value - 0.5).abs() > 0.02).then(|| {
        format!(
            "Nothing below can be trusted: a fault of magnitude zero has an AUROC of {} instead of 0.5, so episodes of the \
             same seed differ. Environment or policy draw from something that the seed does not set.",
            two(found.value)
        )
    })
}

fn run_the_monitor(audit: &Audit) -> String {
    let monitor = &audit.monitor;
    let realised = monitor
        .realised
        .map_or(String::new(), |n| format!("; in nominal test episodes {} had one", percents(&n)));
    format!(
        "Run {} (detector {}) beside the policy: `offnominal monitor` reads its observations and actions. At most {} of \
         nominal episodes are to have an alarm, on average over calibration sets{realised}.",
        monitor.file,
        monitor.detector,
        percent(monitor.promised)
    )
}

/// Whether another detector than the default is recommended, or is as good.
fn other_detector(audit: &Audit, default: &str) -> Option<String> {
    if audit.recommended != default {
        let gap = audit.detectors.iter().find(|d| d.name == default)?.behind?;
        return Some(format!(
            "{} notices more here than the default detector {default}: its AUROC is higher by {} [{}, {}] over faults. It was \
             chosen on these same episodes; `offnominal bench` with another seed confirms it.",
            audit.recommended,
            two(-gap.value),
            two(-gap.high),
            two(-gap.low)
        ));
    }
    let is_level = |d: &&crate::findings::DetectorFound| d.behind.is_some_and(|gap| gap.high >= 0.0);
    let level: Vec<&str> = audit.detectors.iter().filter(is_level).map(|d| d.name.as_str()).collect();
    (!level.is_empty()).then(|| {
        format!(
            "These faults do not tell {} from {}: the interval of the difference holds 0.",
            audit.recommended,
            level.join(", ")
        )
    })
}

/// Faults that are not noticed even where they are strongest.
fn blind_faults(audit: &Audit) -> Option<String> {
    let worst = |fault: &&Fault| {
        let tried = fault.strengths.iter().rev().find(|at| at.noticed != Noticed::NotTried);
        tried.is_some_and(|at| at.noticed == Noticed::No)
    };
    let blind: Vec<&str> = audit.faults.iter().filter(worst).map(|fault| fault.anomaly.as_str()).collect();
    (!blind.is_empty()).then(|| {
        format!(
            "Blind spots: even at the largest strength that was tried, fewer than half of the episodes with {} have an alarm. \
             Add a sensor that shows it, accept more false alarms (--alpha), or test for it before the start.",
            blind.join(", ")
        )
    })
}

/// Channels whose offset is not noticed.
fn blind_channels(audit: &Audit) -> Option<String> {
    let blind: Vec<&str> =
        audit.channels.iter().filter(|c| c.noticed == Noticed::No).map(|c| c.channel.as_str()).collect();
    (!blind.is_empty()).then(|| {
        let n = audit.channels.len();
        format!(
            "An offset of one channel alone goes unnoticed in {} of {n} channels: {}.",
            blind.len(),
            blind.join(", ")
        )
    })
}

fn failures(audit: &Audit) -> Vec<String> {
    let found = &audit.failures;
    if !found.counts_failures {
        return vec![
            "No failure was seen, not even with random commands: the environment may count nothing as a failure, so how \
             often the policy fails is not said. In a hosted environment `--failure` states what counts."
                .into(),
        ];
    }
    let Some(risk) = found.best() else { return vec![] };
    let mut sentences = vec![format!(
        "The undisturbed policy fails in {} of its episodes ({} failures in {}).",
        percents(&risk),
        found.failures,
        found.episodes
    )];
    if let Some(kind) = found.kinds.first().filter(|_| found.kinds.len() > 1) {
        let share = kind.failures as f64 / found.failures.max(1) as f64;
        sentences.push(format!(
            "Train or test first where {} of the failures are alike: {}. `{}` plays one again.",
            percent(share),
            kind.signs.join(", "),
            kind.replay
        ));
    }
    sentences
}

/// How many episodes a stricter promise needs.
fn more_episodes(audit: &Audit) -> String {
    let strict = audit.alpha / 5.0;
    let needed = Rule::Conformal(Promise::on_average(strict)).min_episodes();
    format!(
        "{} nominal episodes set the threshold. A promise of {} needs at least {needed}: `--alpha {strict}`.",
        audit.monitor.calibration_episodes,
        percent(strict)
    )
}

fn percents(n: &Number) -> String {
    format!("{} [{}, {}]", percent(n.value), percent(n.low), percent(n.high))
}

/// A share in percent with as many digits as tell something.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share.clamp(0.0, 1.0);
    match percent {
        p if p == 0.0 || p >= 10.0 => format!("{p:.0} %"),
        p if p >= 0.1 => format!("{p:.1} %"),
        p if p >= 0.001 => format!("{p:.3} %"),
        p => format!("{p:.1e} %"),
    }
}

fn two(x: f64) -> String {
    format!("{x:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sample;

    #[test]
    fn blind_spots_and_rivals_are_named() {
        let text = of(&sample(), "residual-views").join("\n");
        assert!(
            text.contains("Blind spots") && text.contains("obs-stuck") && !text.contains("with obs-noise"),
            "{text}"
        );
        assert!(text.contains("1 of 1 channels: x") && text.contains("residual-views from knn"), "{text}");
        assert!(
            text.contains("fails in 3.3 % [0.4 %, 9.0 %]") && text.contains("needs at least 99"),
            "{text}"
        );
    }

    #[test]
    fn a_fault_that_does_nothing_and_is_seen_is_said_first() {
        let mut audit = sample();
        assert!(!of(&audit, "residual-views")[0].starts_with("Nothing below"));
        audit.detectors[2].of_nothing = Some(Number { value: 0.6, low: 0.5, high: 0.7 });
        assert!(of(&audit, "residual-views")[0].starts_with("Nothing below can be trusted"));
    }

    #[test]
    fn a_better_detector_is_recommended_with_the_caveat() {
        let text = of(&sample(), "knn").join("\n");
        assert!(text.contains("residual-views notices more here than the default detector knn"), "{text}");
        assert!(text.contains("another seed confirms it"), "{text}");
    }

    #[test]
    fn shares_have_digits_that_tell_something() {
        assert_eq!(
            [0.0, 0.5, 0.033, 8.1e-4, 2e-6].map(percent),
            ["0 %", "50 %", "3.3 %", "0.081 %", "2.0e-4 %"]
        );
    }
}
