//! How much of the lead over PE-DM is the model of residuals, how much accumulation, how much the views.

use crate::suite::page::gain::{OURS, THEIRS};
use crate::suite::page::pick::Pick;
use crate::suite::page::{CHOICE, Column, Found, POLICY, estimate, is_held_out, table_of};
use offnominal_core::estimate::Estimate;

/// What is done to the scores of a model of dynamics, from nothing to all views.
const STEPS: [(&str, &str); 9] = [
    ("PE-DM, a step alone", THEIRS),
    ("PE-DM, mean of the last steps", "running-mean(pe-dm)"),
    ("PE-DM, sum", "cusum(pe-dm)"),
    ("PE-DM, bets", "e-process(pe-dm)"),
    ("our residuals, a step alone", "ensemble-dm"),
    ("our residuals, mean of the last steps", "running-mean(ensemble-dm)"),
    ("our residuals, bets", "e-process"),
    ("our residuals, window of 16 steps", "residual-window"),
    ("our residuals as normal scores, six views", OURS),
];
const MATCHED: &str = "auroc_matched";

pub(super) fn section(found: &Found) -> String {
    let detectors = found.detectors_everywhere();
    let steps: Vec<(&str, &str)> = STEPS.into_iter().filter(|(_, d)| detectors.contains(d)).collect();
    if !steps.iter().any(|(_, d)| d.ends_with("(pe-dm)")) {
        return String::new();
    }
    let lines = Pick::anomalies(&found.rows, POLICY, &[MATCHED, "d20"]);
    let choice = lines.only(|l| CHOICE.contains(&&*l.env));
    let others = lines.only(|l| is_held_out(&l.env));
    let columns: [Column<'_, (&str, &str)>; 6] = [
        ("what", &|(what, _)| what.to_string()),
        ("detector", &|(_, d)| format!("`{d}`")),
        ("AUROC matched, tiny", &|(_, d)| estimate(others.detector(d).strength("tiny").mean(MATCHED, ""))),
        ("AUROC matched, all", &|(_, d)| estimate(others.detector(d).mean(MATCHED, ""))),
        ("found in 20 steps", &|(_, d)| estimate(others.detector(d).mean("d20", "conformal"))),
        ("found in 20 steps, environments of the choice", &|(_, d)| {
            estimate(choice.detector(d).mean("d20", "conformal"))
        }),
    ];
    format!(
        "## What the lead is made of\n\nMost faults last, so a detector that adds up what it sees finds them sooner, whatever it \
         sees. Here PE-DM gets the same accumulators as our residuals. Environments of the choice and their siblings are left out but for the \
         last column, which is of the choice, and by which the accumulator of PE-DM is chosen: {}.\n\n{}\n{}",
        best(&choice).map_or("–".into(), |d| format!("`{d}`")),
        table_of(&steps, &columns),
        shares(&choice, &others)
    )
}

/// The accumulator of PE-DM that finds most in the environments of the choice.
fn best<'a>(choice: &Pick<'_>) -> Option<&'a str> {
    let of_pe_dm = STEPS.into_iter().map(|(_, d)| d).filter(|d| d.ends_with("(pe-dm)"));
    let value = |d: &str| choice.detector(d).mean("d20", "conformal").map(|e| e.value);
    of_pe_dm.filter(|d| value(d).is_some()).max_by(|a, b| value(a).partial_cmp(&value(b)).expect("numbers"))
}

/// How much of the lead the model of residuals gives alone, and accumulation alone.
fn shares(choice: &Pick<'_>, others: &Pick<'_>) -> String {
    let tiny = |d: &str| others.detector(d).strength("tiny").mean(MATCHED, "");
    let d20 = |d: &str| others.detector(d).mean("d20", "conformal");
    let share = |to: &str, of: &dyn Fn(&str) -> Option<Estimate>| {
        let at = |d: &str| of(d).map_or(f64::NAN, |e| e.value);
        let (gain, lead) = (at(to) - at(THEIRS), at(OURS) - at(THEIRS));
        format!("{gain:+.3} of {lead:+.3} ({:.0} %)", 100.0 * gain / lead)
    };
    let rows = [
        ("the model of residuals alone", "ensemble-dm"),
        ("accumulation alone", best(choice).unwrap_or(THEIRS)),
    ];
    let row =
        |(what, d): (&str, &str)| vec![what.to_string(), format!("`{d}`"), share(d, &tiny), share(d, &d20)];
    let rows: Vec<Vec<String>> = rows.into_iter().map(row).collect();
    super::table(&["of the lead over PE-DM", "detector", "AUROC matched, tiny", "found in 20 steps"], &rows)
}
