//! Do the alarm rules keep their promise in every environment, for every detector?

use crate::results::Coverage;
use crate::suite::page::{Found, POLICY, table};
use offnominal_stats::{AlarmRule, RULES};

/// The rules that promise a share of false alarms, and after them those that do not, for contrast.
fn rules() -> Vec<&'static AlarmRule> {
    let (promising, others): (Vec<_>, Vec<_>) =
        RULES.iter().filter(|rule| rule.watched).partition(|rule| rule.promises);
    [promising, others].concat()
}

pub(super) fn section(found: &Found) -> String {
    let rules = rules();
    let all: Vec<&Coverage> =
        found.environments.iter().flat_map(|w| &w.coverage).filter(|c| c.policy == POLICY).collect();
    let promised: Vec<&&Coverage> =
        all.iter().filter(|c| rules.iter().any(|r| r.promises && r.id == c.threshold)).collect();
    let kept = promised.iter().filter(|c| keeps(c)).count();
    let mut rows = Vec::new();
    for environment in &found.environments {
        for detector in &environment.detectors {
            let own = |rule: &str| {
                let cells = all
                    .iter()
                    .filter(|c| c.env == environment.env && c.detector == *detector && c.threshold == rule);
                cells.copied().collect::<Vec<&Coverage>>()
            };
            let cells = rules.iter().map(|rule| percent(&own(rule.id)));
            rows.push([environment.env.clone(), format!("`{detector}`")].into_iter().chain(cells).collect());
        }
    }
    let names: Vec<String> = rules.iter().map(|rule| format!("`{}`", rule.id)).collect();
    let head: Vec<&str> =
        ["environment", "detector"].into_iter().chain(names.iter().map(String::as_str)).collect();
    format!(
        "## False alarms\n\nRealised share of nominal episodes with an alarm. The nominal episodes of each repetition are \
         split 200 times at random into those that set a threshold and those that are watched; means over splits and \
         repetitions, in brackets the middle 95 % of the splits. Promised are at most 5 % by the four rules to the left, \
         nothing by `q95`. The promise is kept, within three binomial standard errors of the mean, in {kept} of {} \
         combinations of environment, detector, repetition and rule.\n\n{}",
        promised.len(),
        table(&head, &rows)
    )
}

/// Whether the mean share over all splits is at most what was accepted, within three binomial standard errors.
fn keeps(c: &Coverage) -> bool {
    let n = (c.watched * c.splits) as f64;
    c.value <= c.accepted + 3.0 * (c.accepted * (1.0 - c.accepted) / n).sqrt()
}

fn percent(cells: &[&Coverage]) -> String {
    if cells.is_empty() {
        return "–".into();
    }
    let mean =
        |of: fn(&Coverage) -> f64| 100.0 * cells.iter().map(|c| of(c)).sum::<f64>() / cells.len() as f64;
    format!("{:.1} % ({:.0}–{:.0})", mean(|c| c.value), mean(|c| c.low), mean(|c| c.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_broken_only_beyond_the_error_of_counting() {
        let c = |value: f64| Coverage {
            env: "w".into(),
            policy: "p".into(),
            detector: "d".into(),
            seed: 1,
            threshold: "conformal".into(),
            calibration: 100,
            watched: 200,
            splits: 200,
            accepted: 0.05,
            value,
            low: 0.0,
            high: 0.1,
        };
        // The standard error is √(.05 · .95 / 40,000) = .00109.
        assert!(keeps(&c(0.0495)) && keeps(&c(0.053)) && !keeps(&c(0.054)));
        assert_eq!(percent(&[&c(0.04), &c(0.05)]), "4.5 % (0–10)");
    }
}
