//! What `residual-views` gains over PE-DM, in the environments that chose its composition and in the others.

use crate::report::aggregate::{self, Point};
use crate::suite::page::pick::Pick;
use crate::suite::page::{CHOICE, Column, Found, POLICY, estimate, table_of};
use offnominal_core::estimate::Estimate;

pub(super) const OURS: &str = "residual-views";
pub(super) const THEIRS: &str = "pe-dm";

pub(super) fn section(found: &Found) -> String {
    let all = Pick::anomalies(&found.rows, POLICY, &["auroc_matched", "d20", "delay_median"]);
    let chosen = |env: &str| CHOICE.contains(&env);
    let parts = [
        ("environments of the choice", all.only(|l| chosen(&l.env))),
        ("the other environments", all.only(|l| !chosen(&l.env))),
    ];
    let gain = |part: &Pick<'_>, metric, rule| {
        let points = against(part, metric, rule, |a, b| a - b);
        signed(aggregate::mean(&points, (-1.0, 1.0)))
    };
    let ratios = |part: &Pick<'_>| against(part, "delay_median", "conformal", delay_ratio);
    let columns: [Column<'_, (&str, Pick<'_>)>; 7] = [
        ("", &|(name, _)| name.to_string()),
        ("environments", &|(_, part)| {
            let mut envs: Vec<&str> = part.0.iter().map(|l| &*l.env).collect();
            envs.dedup();
            envs.len().to_string()
        }),
        ("AUROC matched, tiny: gain", &|(_, part)| gain(&part.strength("tiny"), "auroc_matched", "")),
        ("AUROC matched, all: gain", &|(_, part)| gain(part, "auroc_matched", "")),
        ("found in 20 steps: gain", &|(_, part)| gain(part, "d20", "conformal")),
        ("delay, ratio", &|(_, part)| estimate(aggregate::median(&ratios(part)))),
        ("at most half the delay", &|(_, part)| {
            let ratios = ratios(part);
            let known = ratios.iter().filter(|p| !p.value.is_nan()).count();
            format!("{} of {known}", ratios.iter().filter(|p| p.value <= 0.5).count())
        }),
    ];
    format!(
        "## `{OURS}` against `{THEIRS}`\n\nThe parts of `{OURS}` were chosen in {}; only the other environments give figures that \
         the choice does not flatter. Differences are taken anomaly by anomaly at the same strength. The ratio is that of \
         the median numbers of steps from the onset to the alarm, this one included, at equal episode false-alarm rates \
         (conformal, 5 %); anomalies that neither finds in half of its episodes are left out of it.\n\n{}",
        CHOICE.join(", "),
        table_of(&parts, &columns)
    )
}

/// What a function makes of a metric of ours and of theirs in the same cells.
pub(super) fn against(part: &Pick<'_>, metric: &str, rule: &str, of: fn(f64, f64) -> f64) -> Vec<Point> {
    part.detector(OURS).against(&part.detector(THEIRS), (metric, rule), of)
}

/// Ratio of two delays, each counted with the step of the alarm; not a number where neither is reached.
fn delay_ratio(ours: f64, theirs: f64) -> f64 {
    match (ours.is_infinite(), theirs.is_infinite()) {
        (true, true) => f64::NAN,
        (false, true) => 0.0,
        _ => (ours + 1.0) / (theirs + 1.0),
    }
}

/// A difference with its sign.
pub(in crate::suite) fn signed(found: Option<Estimate>) -> String {
    found.map_or("–".into(), |e| format!("{:+.3} [{:+.3}, {:+.3}]", e.value, e.low, e.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_compared_where_one_is_reached() {
        let never = f64::INFINITY;
        assert_eq!([delay_ratio(0.0, 1.0), delay_ratio(4.0, never)], [0.5, 0.0]);
        assert!(delay_ratio(never, never).is_nan() && delay_ratio(never, 3.0) == never);
    }
}
