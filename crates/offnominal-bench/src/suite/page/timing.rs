//! Table 4: how soon, at which threshold.

use crate::report::aggregate::{self, Point};
use crate::suite::page::pick::Pick;
use crate::suite::page::{Found, POLICY, estimate, table, two};
use crate::suite::published::{self, Timed};
use anyhow::Result;
use offnominal_stats::RULES;

/// Detectors of the table, the last one ours.
const DETECTORS: [&str; 4] = ["knn", "lstm-dm", "pe-dm", "residual-views"];

type Column = (&'static str, fn(&Timed) -> f64);

const COLUMNS: [Column; 5] = [
    ("d5", |t| t.d5),
    ("d10", |t| t.d10),
    ("d20", |t| t.d20),
    ("missing_rate", |t| t.missing_rate),
    ("early_rate", |t| t.early_rate),
];

pub(super) fn section(found: &Found) -> Result<String> {
    let published = published::timed()?;
    let metrics: Vec<&str> =
        COLUMNS.iter().map(|c| c.0).chain(["delay_median", "false_alarm_rate"]).collect();
    let lines = Pick::anomalies(&found.rows, POLICY, &metrics);
    let mut rows = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.timed).map(|rule| rule.id) {
        for detector in DETECTORS {
            let theirs = published.iter().find(|t| t.threshold == rule && t.detector == detector);
            rows.push(row(rule, detector, &lines.detector(detector), theirs));
        }
    }
    let head = [
        "threshold",
        "detector",
        "median delay",
        "not reached",
        "D5",
        "D10",
        "D20",
        "missed",
        "early",
        "false alarms",
    ];
    Ok(format!(
        "## Table 4: timing\n\nPublished / ours, means over all anomalies and strengths. The mean of median delays is over \
         the cells that have one: where most anomalies are missed the median is infinite, and *not reached* is the share \
         of such cells, without which the means of two detectors cannot be compared. `conformal` is the threshold whose \
         false alarms are promised (5 % of episodes), and has no published figures.\n\n{}",
        table(&head, &rows)
    ))
}

fn row(rule: &str, detector: &str, own: &Pick<'_>, theirs: Option<&Timed>) -> Vec<String> {
    let delays = own.points("delay_median", rule);
    let known = delays.iter().filter(|p| !p.value.is_nan());
    let missed: Vec<Point> = known
        .map(|p| Point {
            value: f64::from(u8::from(p.value.is_infinite())),
            low: f64::NAN,
            high: f64::NAN,
            ..*p
        })
        .collect();
    // The ends of a median's interval may be infinite, so that only the spread over anomalies is known.
    let reached: Vec<Point> = delays.iter().map(|p| Point { low: f64::NAN, high: f64::NAN, ..*p }).collect();
    let share = |metric: &str| estimate(own.mean(metric, rule));
    let both = |published: Option<f64>, ours: String| {
        published.map_or(format!("– / {ours}"), |p| format!("{} / {ours}", two(p)))
    };
    let mut cells = vec![
        format!("`{rule}`"),
        format!("`{detector}`"),
        both(theirs.map(|t| t.delay_median), estimate(aggregate::mean(&reached, (0.0, f64::INFINITY)))),
        estimate(aggregate::mean(&missed, (0.0, 1.0))),
    ];
    cells.extend(COLUMNS.iter().map(|(metric, of)| both(theirs.map(of), share(metric))));
    cells.push(share("false_alarm_rate"));
    cells
}
