//! Do the alarm rules keep their promise in every world, for every detector?

use crate::results::Coverage;
use crate::suite::page::{Found, POLICY, table};

/// The rules that promise a share of false alarms, and one that does not, for contrast.
const RULES: [&str; 5] = ["conformal", "band", "cusum", "martingale", "q95"];

pub(super) fn section(found: &Found) -> String {
    let all: Vec<&Coverage> =
        found.worlds.iter().flat_map(|w| &w.coverage).filter(|c| c.policy == POLICY).collect();
    let promised: Vec<&&Coverage> =
        all.iter().filter(|c| c.threshold != "q95" && RULES.contains(&&*c.threshold)).collect();
    let kept = promised.iter().filter(|c| keeps(c)).count();
    let mut rows = Vec::new();
    for world in &found.worlds {
        for detector in &world.detectors {
            let own = |rule: &str| {
                let cells = all
                    .iter()
                    .filter(|c| c.env == world.env && c.detector == *detector && c.threshold == rule);
                cells.copied().collect::<Vec<&Coverage>>()
            };
            let cells = RULES.iter().map(|rule| percent(&own(rule)));
            rows.push([world.env.clone(), format!("`{detector}`")].into_iter().chain(cells).collect());
        }
    }
    let names = RULES.map(|rule| format!("`{rule}`"));
    let head: Vec<&str> = ["world", "detector"].into_iter().chain(names.iter().map(String::as_str)).collect();
    format!(
        "## False alarms\n\nRealised share of nominal episodes with an alarm. The nominal episodes of each repetition are \
         split 200 times at random into those that set a threshold and those that are watched; means over splits and \
         repetitions, in brackets the middle 95 % of the splits. Promised are at most 5 % by the four rules to the left, \
         nothing by `q95`. The promise is kept, within three binomial standard errors of the mean, in {kept} of {} \
         combinations of world, detector, repetition and rule.\n\n{}",
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
