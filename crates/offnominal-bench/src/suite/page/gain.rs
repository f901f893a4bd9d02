//! What `residual-views` gains over PE-DM, in the environments that chose its composition and in the others.

use crate::report::aggregate;
use crate::suite::page::pick::Pick;
use crate::suite::page::{CHOICE, Found, POLICY, table, two};
use offnominal_core::estimate::Estimate;

const OURS: &str = "residual-views";
const THEIRS: &str = "pe-dm";

pub(super) fn section(found: &Found) -> String {
    let all = Pick::anomalies(&found.rows, POLICY);
    let chosen = |env: &str| CHOICE.contains(&env);
    let parts = [
        ("environments of the choice", all.only(|l| chosen(&l.env))),
        ("the other environments", all.only(|l| !chosen(&l.env))),
    ];
    let rows: Vec<Vec<String>> = parts.iter().map(|(name, part)| row(name, part)).collect();
    let head = [
        "",
        "environments",
        "AUROC matched, tiny: gain",
        "AUROC matched, all: gain",
        "found in 20 steps: gain",
        "delay, ratio",
        "at most half the delay",
    ];
    format!(
        "## `{OURS}` against `{THEIRS}`\n\nThe parts of `{OURS}` were chosen in {}; only the other environments give figures that \
         the choice does not flatter. Differences are taken anomaly by anomaly at the same strength. The ratio is that of \
         the median numbers of steps from the onset to the alarm, this one included, at equal episode false-alarm rates \
         (conformal, 5 %); anomalies that neither finds in half of its episodes are left out of it.\n\n{}",
        CHOICE.join(", "),
        table(&head, &rows)
    )
}

fn row(name: &str, part: &Pick<'_>) -> Vec<String> {
    let mut envs: Vec<&str> = part.0.iter().map(|l| &*l.env).collect();
    envs.dedup();
    let (ours, theirs) = (part.detector(OURS), part.detector(THEIRS));
    let gain = |pick: &Pick<'_>, metric, rule| {
        aggregate::mean(&pick.against(&theirs, (metric, rule), |a, b| a - b), (-1.0, 1.0))
    };
    let ratios = ours.against(&theirs, ("delay_median", "conformal"), delay_ratio);
    let known = ratios.iter().filter(|p| !p.value.is_nan()).count();
    let halved = ratios.iter().filter(|p| p.value <= 0.5).count();
    vec![
        name.into(),
        envs.len().to_string(),
        signed(gain(&ours.strength("tiny"), "auroc_matched", "")),
        signed(gain(&ours, "auroc_matched", "")),
        signed(gain(&ours, "d20", "conformal")),
        aggregate::median(&ratios)
            .map_or("–".into(), |e| format!("{} [{}, {}]", two(e.value), two(e.low), two(e.high))),
        format!("{halved} of {known}"),
    ]
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
