//! One line per detector, and the controls.

use crate::suite::page::pick::Pick;
use crate::suite::page::{Found, POLICY, estimate, table, two};

pub(super) fn section(found: &Found) -> String {
    let lines = Pick::anomalies(&found.lines, POLICY);
    let control = Pick::control(&found.lines, POLICY);
    let row = |detector: &&str| {
        let own = lines.detector(detector);
        let delay = own.median("delay_median", "conformal").map_or("–".into(), |e| two(e.value));
        vec![
            format!("`{detector}`"),
            estimate(own.strength("tiny").mean("auroc_matched", "")),
            estimate(own.mean("auroc_matched", "")),
            estimate(own.mean("auroc_local", "")),
            estimate(own.mean("auroc_global", "")),
            estimate(own.mean("d20", "conformal")),
            delay,
            estimate(own.mean("before_failure_rate", "conformal")),
            estimate(control.detector(detector).mean("false_alarm_rate", "conformal")),
        ]
    };
    let head = [
        "detector",
        "AUROC matched, tiny",
        "AUROC matched, all",
        "AUROC local",
        "AUROC global",
        "found in 20 steps",
        "median delay",
        "found before the policy fails",
        "false alarms",
    ];
    let rows: Vec<_> = found.detectors().iter().map(row).collect();
    format!(
        "## All worlds\n\nTQC; means over anomalies, alarms at the conformal threshold for 5 % of episodes. The delay is the \
         median over anomalies and strengths; ∞ if most are not found in more than half of their episodes.\n\n{}\n{}",
        table(&head, &rows),
        controls(found, &control)
    )
}

/// Nominal episodes judged as if they were anomalous: one line per world.
fn controls(found: &Found, control: &Pick<'_>) -> String {
    let detectors = found.detectors();
    let value = |env: &str, detector: &str| {
        control.env(env).detector(detector).0.first().map_or(f64::NAN, |l| values(l)[0])
    };
    let row = |env: &str| {
        let numbers = detectors.iter().map(|d| two(value(env, d)));
        std::iter::once(env.to_string()).chain(numbers).collect::<Vec<_>>()
    };
    let all: Vec<[f64; 3]> = control.0.iter().map(|l| values(l)).filter(|v| !v[0].is_nan()).collect();
    let near = all.iter().filter(|v| (v[0] - 0.5).abs() <= 0.02).count();
    let cover = all.iter().filter(|v| v[1] <= 0.5 && 0.5 <= v[2]).count();
    let head: Vec<&str> = std::iter::once("world").chain(detectors.iter().copied()).collect();
    let mean = |d: &&str| estimate(control.detector(d).mean("auroc_matched", ""));
    let all_worlds = std::iter::once("all worlds".to_string()).chain(detectors.iter().map(mean)).collect();
    let rows: Vec<_> = found.worlds.iter().map(|w| row(&w.env)).chain([all_worlds]).collect();
    format!(
        "### Controls\n\nNominal episodes judged as if an anomaly began in them: matched AUROC, which must be one half. \
         {near} of {} are within .02 of it, and {cover} of the intervals hold it; the detectors of a world share its \
         episodes, so they stray together.\n\n{}",
        all.len(),
        table(&head, &rows)
    )
}

fn values(line: &crate::suite::Line) -> [f64; 3] {
    let at = crate::suite::columns().iter().position(|c| c.0 == "auroc_matched");
    at.map_or([f64::NAN; 3], |at| line.values[at])
}
