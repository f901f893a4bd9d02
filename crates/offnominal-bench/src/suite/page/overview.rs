//! One line per detector, and the controls.

use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, POLICY, estimate, left_out, table, table_of, two};

/// The metric that must be one half where there is nothing to find.
const MATCHED: &str = "auroc_matched";

pub(super) fn section(found: &Found) -> String {
    let metrics = [
        MATCHED,
        "aupr_matched",
        "fpr95_matched",
        "auroc_local",
        "auroc_global",
        "d20",
        "delay_median",
        "before_failure_rate",
    ];
    let lines = Pick::anomalies(&found.rows, POLICY, &metrics);
    let control = Pick::control(&found.rows, POLICY, &[MATCHED, "false_alarm_rate"]);
    let own = |d: &str| lines.detector(d);
    let columns: [Column<'_, &str>; 11] = [
        ("detector", &|d| format!("`{d}`")),
        ("AUROC matched, tiny", &|d| estimate(own(d).strength("tiny").mean(MATCHED, ""))),
        ("AUROC matched, all", &|d| estimate(own(d).mean(MATCHED, ""))),
        ("AUPR matched", &|d| estimate(own(d).mean("aupr_matched", ""))),
        ("FPR95 matched", &|d| estimate(own(d).mean("fpr95_matched", ""))),
        ("AUROC local", &|d| estimate(own(d).mean("auroc_local", ""))),
        ("AUROC global", &|d| estimate(own(d).mean("auroc_global", ""))),
        ("found in 20 steps", &|d| estimate(own(d).mean("d20", "conformal"))),
        ("median delay", &|d| {
            own(d).median("delay_median", "conformal").map_or("–".into(), |e| two(e.value))
        }),
        ("found before the policy fails", &|d| estimate(own(d).mean("before_failure_rate", "conformal"))),
        ("false alarms", &|d| estimate(control.detector(d).mean("false_alarm_rate", "conformal"))),
    ];
    format!(
        "## All environments\n\nTQC; means over anomalies, alarms at the conformal threshold for 5 % of episodes. The delay is the \
         median over anomalies and strengths; ∞ if most are not found in more than half of their episodes.{}\n\n{}\n{}",
        left_out(found),
        table_of(&found.detectors_everywhere(), &columns),
        controls(found, &control)
    )
}

/// Nominal episodes judged as if they were anomalous: one line per environment.
fn controls(found: &Found, control: &Pick<'_>) -> String {
    let detectors = found.detectors();
    let value = |env: &str, detector: &str| {
        control.env(env).detector(detector).points(MATCHED, "").first().map_or(f64::NAN, |p| p.value)
    };
    let row = |env: &str| {
        let numbers = detectors.iter().map(|d| two(value(env, d)));
        std::iter::once(env.to_string()).chain(numbers).collect::<Vec<_>>()
    };
    let mut all = control.points(MATCHED, "");
    all.retain(|p| !p.value.is_nan());
    let near = all.iter().filter(|p| (p.value - 0.5).abs() <= 0.02).count();
    let cover = all.iter().filter(|p| p.low <= 0.5 && 0.5 <= p.high).count();
    let head: Vec<&str> = std::iter::once("environment").chain(detectors.iter().copied()).collect();
    let mean = |d: &&str| estimate(control.detector(d).mean(MATCHED, ""));
    let all_environments =
        std::iter::once("all environments".to_string()).chain(detectors.iter().map(mean)).collect();
    let rows: Vec<_> = found.environments.iter().map(|w| row(&w.env)).chain([all_environments]).collect();
    format!(
        "### Controls\n\nNominal episodes judged as if an anomaly began in them: matched AUROC, which must be one half. \
         {near} of {} are within .02 of it, and {cover} of the intervals hold it; the detectors of an environment share its \
         episodes, so they stray together.\n\n{}",
        all.len(),
        table(&head, &rows)
    )
}
