//! What to do about what was found, in sentences, the most important first.

use crate::document::{Audit, Judged};
use crate::findings::choice::Choice;
use crate::findings::{Fault, Noticed, Number};
use offnominal_stats::{Promise, Rule};

/// The advice of an audit; its own `advice` is not read.
pub fn of(audit: &Audit) -> Vec<String> {
    let parts = [
        unmet(audit),
        differs(audit).into_iter().collect(),
        vec![run_the_monitor(audit)],
        other_detector(audit).into_iter().collect(),
        blind_faults(audit).into_iter().collect(),
        blind_channels(audit).into_iter().collect(),
        failures(audit),
        vec![more_episodes(audit)],
    ];
    parts.concat()
}

/// The requirements that are not met.
fn unmet(audit: &Audit) -> Vec<String> {
    let of = |judged: &Judged| {
        let why = judged.why.as_deref().unwrap_or_default();
        format!("{} is not met, found {}. {why}", judged.requirement, judged.shown())
    };
    audit.requirements.iter().filter(|judged| !judged.met).map(of).collect()
}

/// Whether episodes differ from their twins without any fault.
fn differs(audit: &Audit) -> Option<String> {
    let found = audit.detectors.iter().find(|d| d.name == audit.choice.recommended)?.of_nothing?;
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

/// Which detector finds most, and what a choice of this kind gains on faults that did not choose.
fn other_detector(audit: &Audit) -> Option<String> {
    let Choice { recommended, default, gain } = &audit.choice;
    let gain = gain.as_ref()?;
    let found = match recommended == default {
        true => format!("{default}, the default, finds most within 20 steps here."),
        false => {
            format!("{recommended} finds more within 20 steps here than the default detector {default}.")
        }
    };
    Some(format!(
        "{found} Detectors that were chosen by other classes of faults find {} more than {default} [{}, {}], as a share of the \
         episodes.",
        two(gain.value),
        two(gain.low),
        two(gain.high)
    ))
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
        audit.channels.iter().filter(|c| c.noticed == Noticed::No).map(|c| c.name.as_str()).collect();
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
        let text = of(&sample()).join("\n");
        assert!(
            text.contains("Blind spots") && text.contains("obs-stuck") && !text.contains("with obs-noise"),
            "{text}"
        );
        assert!(text.contains("1 of 1 channels: x"), "{text}");
        assert!(
            text.contains("fails in 3.3 % [0.4 %, 9.0 %]") && text.contains("needs at least 99"),
            "{text}"
        );
    }

    #[test]
    fn a_fault_that_does_nothing_and_is_seen_is_said_first() {
        let mut audit = sample();
        assert!(!of(&audit)[0].starts_with("Nothing below"));
        audit.detectors[2].of_nothing = Some(Number { value: 0.6, low: 0.5, high: 0.7 });
        assert!(of(&audit)[0].starts_with("Nothing below can be trusted"));
    }

    #[test]
    fn a_better_detector_is_recommended_with_what_other_faults_say() {
        let gain = Some(Number { value: 0.08, low: -0.01, high: 0.17 });
        let audit = |default: &str| Audit {
            choice: Choice { recommended: "residual-views".into(), default: default.into(), gain },
            ..sample()
        };
        let text = of(&audit("knn")).join("\n");
        assert!(
            text.contains("residual-views finds more within 20 steps here than the default detector knn"),
            "{text}"
        );
        assert!(text.contains("find 0.08 more than knn [-0.01, 0.17]"), "{text}");
        let text = of(&audit("residual-views")).join("\n");
        assert!(text.contains("residual-views, the default, finds most"), "{text}");
    }

    #[test]
    fn what_is_required_and_not_met_is_said_first() {
        let mut audit = sample();
        let read = crate::requirement::parse("risk <= 0.1, risk <= 0.08").unwrap();
        audit.requirements = read.iter().map(|one| one.judge(&audit)).collect();
        let first = &of(&audit)[0];
        assert!(
            first.starts_with("risk <= 0.08 is not met, found 0.033") && first.contains("--depth glance"),
            "{first}"
        );
    }

    #[test]
    fn shares_have_digits_that_tell_something() {
        assert_eq!(
            [0.0, 0.5, 0.033, 8.1e-4, 2e-6].map(percent),
            ["0 %", "50 %", "3.3 %", "0.081 %", "2.0e-4 %"]
        );
    }
}
