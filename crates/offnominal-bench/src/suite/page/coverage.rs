//! Do the alarm rules keep their promise in every environment, for every detector?

use crate::results::Coverage;
use crate::suite::page::{Column, Found, POLICY, table, table_of};
use offnominal_core::estimate::Estimate;
use offnominal_stats::{AlarmRule, Level, RULES, proportion};

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
    let beyond = promised.iter().filter(|c| c.alarms > c.most).count();
    let conformal: Vec<&Coverage> = all.iter().copied().filter(|c| c.threshold == "conformal").collect();
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
        "## False alarms\n\nShare of fresh nominal episodes with an alarm, at the thresholds that were set on others before: the \
         twins and the control episodes of all repetitions; in brackets the smallest and the largest share of a \
         repetition. Promised are at most 5 % on average over calibrations by the four rules to the left, nothing by `q95`. \
         A single calibration of {calibration} episodes may get more for good: a rule that keeps its promise has more alarms than the \
         .975 quantile of its beta-binomial law in 2.5 % of calibrations. Here {beyond} of {} combinations of environment, \
         detector, repetition and rule have more ({}); detectors share episodes, so they stray together. `conformal` \
         has {} on average over all.\n\n{}",
        promised.len(),
        percent_of(beyond as f64 / promised.len().max(1) as f64),
        share(&conformal).map_or("–".into(), percent_of),
        table(&head, &rows),
        calibration = conformal.first().map_or(0, |c| c.calibration),
    )
}

/// False alarms at the conformal threshold in every environment, with intervals; for pages of a single repetition.
pub(in crate::suite) fn fresh(found: &Found) -> String {
    let conformal = |c: &&Coverage| c.policy == POLICY && c.threshold == "conformal";
    let all: Vec<&Coverage> = found.environments.iter().flat_map(|w| &w.coverage).filter(conformal).collect();
    let beyond = all.iter().filter(|c| c.alarms > c.most).count();
    let columns: [Column<'_, &Coverage>; 4] = [
        ("environment", &|c| c.env.clone()),
        ("detector", &|c| format!("`{}`", c.detector)),
        ("false alarms", &|c| within(&[c])),
        ("episodes", &|c| c.watched.to_string()),
    ];
    format!(
        "## False alarms\n\nShare of fresh nominal episodes with an alarm, at the conformal threshold that was set on others \
         before. Nothing is done to these episodes, so it is the same for every fault. Promised are at most 5 % on average \
         over calibrations; a single calibration may get more for good, and the interval is that of its own share. Of {} \
         calibrations {beyond} have more than the .975 quantile of what a rule gets that keeps its promise.\n\n{}",
        all.len(),
        table_of(&all, &columns)
    )
}

/// The share of episodes with an alarm, with its exact interval, in words.
pub(in crate::suite) fn within(cells: &[&Coverage]) -> String {
    share_within(cells).map_or("–".into(), |e| {
        format!("{} [{:.1}, {:.1}]", percent_of(e.value), 100.0 * e.low, 100.0 * e.high)
    })
}

/// The share of episodes with an alarm, with its exact interval; nothing without episodes.
pub(in crate::suite) fn share_within(cells: &[&Coverage]) -> Option<Estimate> {
    let sum = |of: fn(&Coverage) -> u64| cells.iter().map(|c| of(c)).sum::<u64>() as usize;
    proportion::clopper_pearson(sum(|c| c.alarms), sum(|c| c.watched), Level::P95).ok()
}

/// The share of episodes with an alarm; nothing without episodes.
fn share(cells: &[&Coverage]) -> Option<f64> {
    let sum = |of: fn(&Coverage) -> u64| cells.iter().map(|c| of(c)).sum::<u64>() as f64;
    (sum(|c| c.watched) > 0.0).then(|| sum(|c| c.alarms) / sum(|c| c.watched))
}

fn percent_of(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn percent(cells: &[&Coverage]) -> String {
    let Some(all) = share(cells) else { return "–".into() };
    let each = cells.iter().filter_map(|c| share(&[c])).map(|s| 100.0 * s);
    let (low, high) = each.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)));
    format!("{} ({low:.0}–{high:.0})", percent_of(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_episodes_and_of_each_repetition() {
        let c = |alarms: u64| Coverage {
            env: "w".into(),
            policy: "p".into(),
            detector: "d".into(),
            seed: 1,
            threshold: "conformal".into(),
            calibration: 100,
            watched: 200,
            alarms,
            accepted: 0.05,
            most: 19,
        };
        assert_eq!(percent(&[&c(8), &c(10)]), "4.5 % (4–5)");
        assert_eq!(percent(&[]), "–");
        // Clopper and Pearson for 18 of 400.
        assert_eq!(within(&[&c(8), &c(10)]), "4.5 % [2.7, 7.0]");
        assert_eq!(within(&[]), "–");
    }
}
