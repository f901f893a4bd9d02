//! What `residual-views` gains over PE-DM, in the environments that chose its composition and in the others.

use crate::report::aggregate::{self, Point};
use crate::suite::page::pick::Pick;
use crate::suite::page::{CHOICE, Column, Found, POLICY, SIBLINGS, is_held_out, table_of};
use offnominal_core::estimate::Estimate;
use std::collections::BTreeSet;

pub(super) const OURS: &str = "residual-views";
pub(super) const THEIRS: &str = "pe-dm";

const METRICS: [&str; 4] = ["auroc_matched", "d20", "detection_rate", "delay_restricted"];

pub(super) fn section(found: &Found) -> String {
    let all = Pick::anomalies(&found.rows, POLICY, &METRICS);
    let parts = [
        ("environments of the choice", all.only(|l| CHOICE.contains(&&*l.env))),
        ("their siblings", all.only(|l| SIBLINGS.contains(&&*l.env))),
        ("held-out environments", all.only(|l| is_held_out(&l.env))),
    ];
    let gain = |part: &Pick<'_>, metric, rule, range: (f64, f64)| {
        signed(aggregate::mean(&against(part, metric, rule, |a, b| a - b), range))
    };
    let (share, steps) = ((-1.0, 1.0), (-50.0, 50.0));
    let columns: [Column<'_, (&str, Pick<'_>)>; 7] = [
        ("", &|(name, _)| name.to_string()),
        ("environments", &|(_, part)| environments(part).len().to_string()),
        ("AUROC matched, tiny", &|(_, part)| gain(&part.strength("tiny"), "auroc_matched", "", share)),
        ("AUROC matched, all", &|(_, part)| gain(part, "auroc_matched", "", share)),
        ("found in 20 steps", &|(_, part)| gain(part, "d20", "conformal", share)),
        ("found at all", &|(_, part)| gain(part, "detection_rate", "conformal", share)),
        ("mean delay, steps", &|(_, part)| {
            let both = part.metric("delay_restricted", "conformal");
            let envs = environments(&both.detector(THEIRS)).len();
            format!("{} (known in {envs})", gain(part, "delay_restricted", "conformal", steps))
        }),
    ];
    format!(
        "## `{OURS}` against `{THEIRS}`\n\nThe parts of `{OURS}` were chosen in {}. Siblings of these, with the same \
         bodies, are {}; only the others are held out, and give figures that the choice does not flatter. Differences are taken anomaly by anomaly at the same strength, of alarms at equal \
         episode false-alarm rates (conformal, 5 %). The mean delay is restricted: a delay counts at most 50 steps, and a missed \
         anomaly 50; less is better. It is newer than some of the results, which lack it.\n\n{}",
        CHOICE.join(", "),
        SIBLINGS.join(", "),
        table_of(&parts, &columns)
    )
}

fn environments<'a>(part: &Pick<'a>) -> BTreeSet<&'a str> {
    part.0.iter().map(|line| &*line.env).collect()
}

/// What a function makes of a metric of ours and of theirs in the same cells.
pub(super) fn against(part: &Pick<'_>, metric: &str, rule: &str, of: fn(f64, f64) -> f64) -> Vec<Point> {
    part.detector(OURS).against(&part.detector(THEIRS), (metric, rule), of)
}

/// A difference with its sign.
pub(in crate::suite) fn signed(found: Option<Estimate>) -> String {
    found.map_or("–".into(), |e| format!("{:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high))
}
