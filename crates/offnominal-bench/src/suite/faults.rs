//! The page of the suite `faults`: what detectors find of faults that other benchmarks do not have, kind by kind.

mod kinds;

use crate::report::aggregate;
use crate::suite::page::coverage::fresh;
use crate::suite::page::pick::Pick;
use crate::suite::page::{Column, Found, POLICY, commands, estimate, lacking, left_out, table_of};
use crate::suite::{Row, Suite};
use anyhow::Result;
use kinds::{KINDS, Kind, REFERENCE};
use std::collections::BTreeMap;
use std::path::Path;

const MATCHED: &str = "auroc_matched";
const METRICS: [&str; 4] = [MATCHED, "d20", DELAY, "early_rate"];
/// A delay that counts at most so many steps, as a missed anomaly does.
const DELAY: &str = "delay_restricted";
const LONGEST: f64 = 50.0;
/// The rule of the alarms.
const RULE: &str = "conformal";
/// The detector of which every fault is shown.
const OURS: &str = "residual-views";

/// The page as Markdown.
///
/// # Errors
/// If no environment of the suite is in the folder, or a file there is damaged.
pub(super) fn page(suite: &Suite, out: &Path) -> Result<String> {
    let found = Found::load(suite, out)?;
    let lines = Pick::anomalies(&found.rows, POLICY, &METRICS);
    Ok([head(suite, &found), overview(&found, &lines), by_kind(&found, &lines), each(&lines), fresh(&found)]
        .join("\n"))
}

fn head(suite: &Suite, found: &Found) -> String {
    format!(
        "# Faults that other benchmarks do not have\n\n\
         Written by `offnominal bench --suite {} --page FILE` from the tables of the environments; do not edit.\n\n\
         Benchmarks of monitors disturb all channels, from the onset to the end. Here faults touch one channel, end, come and \
         go, hold or lose values, swing, or are correlated.{}\n\
         Noise and bias have the magnitudes that were calibrated where all channels have them to the end, tiny and strong: so \
         the same fault of one channel, or for ten steps, costs the policy less. What is measured in the same unit has the same \
         magnitudes. The share of lost values and the steps for which a value is held are the same everywhere.\n\
         Numbers in brackets are 95 % intervals; faults of an environment count as one unit. Alarms are at the conformal \
         threshold for 5 % of episodes. The mean delay is restricted: a delay counts at most 50 steps, and a fault that is \
         missed 50.\n\n```sh no-run: takes half an hour\n{}\n```\n",
        suite.id,
        lacking(found),
        commands(found)
    )
}

/// The columns that every table of detectors has.
fn columns(found: &Found, lines: &Pick<'_>) -> String {
    let own = |d: &str| lines.detector(d);
    let columns: [Column<'_, &str>; 5] = [
        ("detector", &|d| format!("`{d}`")),
        ("AUROC matched", &|d| estimate(own(d).mean(MATCHED, ""))),
        ("found in 20 steps", &|d| estimate(own(d).mean("d20", RULE))),
        ("mean delay, steps", &|d| estimate(delay(&own(d)))),
        ("alarm before the onset", &|d| estimate(own(d).mean("early_rate", RULE))),
    ];
    table_of(&found.detectors_everywhere(), &columns)
}

fn delay(lines: &Pick<'_>) -> Option<offnominal_core::estimate::Estimate> {
    aggregate::mean(&lines.points(DELAY, RULE), (0.0, LONGEST))
}

/// All kinds but those of other benchmarks.
fn overview(found: &Found, lines: &Pick<'_>) -> String {
    let new = lines.only(|row| !REFERENCE.has(row));
    format!(
        "## All kinds\n\nTQC; means over environments, faults and strengths, without the faults of other benchmarks.{}\n\n{}",
        left_out(found),
        columns(found, &new)
    )
}

/// A table per kind of fault.
fn by_kind(found: &Found, lines: &Pick<'_>) -> String {
    let section = |kind: &Kind| {
        let own = lines.only(|row| kind.has(row));
        format!("\n### {}\n\n{}\n\n{}", kind.title, kind.what, columns(found, &own))
    };
    let sections: String =
        KINDS.iter().filter(|kind| lines.0.iter().any(|row| kind.has(row))).map(section).collect();
    format!("## Kind by kind\n{sections}")
}

/// Every fault at every strength: what ours finds, and which detector finds most.
fn each(lines: &Pick<'_>) -> String {
    let mut faults: Vec<(&str, &str)> = Vec::new();
    for row in &lines.0 {
        let fault = (&*row.anomaly, &*row.strength);
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    let of =
        |&(anomaly, strength): &(&str, &str)| lines.only(|r| r.anomaly == anomaly && r.strength == strength);
    let columns: [Column<'_, (&str, &str)>; 5] = [
        ("fault", &|(anomaly, _)| format!("`{anomaly}`")),
        ("strength", &|(_, strength)| strength.to_string()),
        ("AUROC matched", &|fault| estimate(of(fault).detector(OURS).mean(MATCHED, ""))),
        ("found in 20 steps", &|fault| estimate(of(fault).detector(OURS).mean("d20", RULE))),
        ("highest AUROC matched", &|fault| best(&of(fault))),
    ];
    format!(
        "## Fault by fault\n\n`{OURS}`, means over environments; at the right the detector with the highest mean, chosen in \
         hindsight.\n\n{}",
        table_of(&faults, &columns)
    )
}

/// The detector with the highest mean over the environments, with that mean.
fn best(lines: &Pick<'_>) -> String {
    let mut values: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in lines.metric(MATCHED, "").0 {
        values.entry(&row.detector).or_default().push(row);
    }
    let means = values.into_iter().filter_map(|(d, rows)| Some((d, Pick(rows).mean(MATCHED, "")?)));
    let best = means.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    best.map_or("–".into(), |(detector, mean)| format!("`{detector}` {}", estimate(Some(mean))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{Anomalies, AnomalyChoice};
    use crate::suite::page::tests::environment_with;

    #[test]
    fn every_fault_of_the_campaign_is_of_one_kind() {
        let (campaign, _) = Suite::find("faults").unwrap().campaigns(None).unwrap().remove(0);
        let Anomalies::List(choices) = campaign.anomalies else { panic!("a list") };
        let called: Vec<&str> = choices.iter().map(AnomalyChoice::called).collect();
        for name in &called {
            let kinds = KINDS.iter().filter(|kind| kind.faults.contains(name)).count();
            assert_eq!(kinds, 1, "{name}");
        }
        let known = KINDS.iter().flat_map(|kind| kind.faults);
        assert_eq!(known.clone().filter(|name| called.contains(name)).count(), known.count());
    }

    #[test]
    fn the_page_says_what_the_tables_tell_and_nothing_of_published_figures() {
        let folder = tempfile::tempdir().unwrap();
        let suite = Suite::find("faults").unwrap();
        // Each detector has 0.1 more than the one before; the faults of other benchmarks have 0.2 more.
        let detectors = ["clock", "knn", "residual-views"];
        let faults = [("act-noise", 0.2), ("act-stuck", 0.0), ("act-noise-one", 0.0), ("act-dropout", 0.0)];
        environment_with("sap-goal2", folder.path(), &detectors, &faults);
        let page = page(suite, folder.path()).unwrap();
        for want in [
            "Not run yet, or without a policy or strengths: `mjc-cartpole-swingup`",
            "without the faults of other benchmarks.\n\n",
            "| `knn` | 0.10 [0.00, 1.00] | 0.10 [0.00, 1.00] |",
            "### All channels, to the end",
            "| `residual-views` | 0.40 [0.00, 1.00] |",
            "| `act-stuck` | strong | 0.20 [0.00, 1.00] | 0.20 [0.00, 1.00] | `residual-views` 0.20 [0.00, 1.00] |",
            "| sap-goal2 | `knn` | 5.0 % [2.4, 9.0] |",
        ] {
            assert!(page.contains(want), "{want:?} is not in:\n{page}");
        }
        assert!(!page.contains("ublished") && !page.contains("### Swings"), "{page}");
    }
}
