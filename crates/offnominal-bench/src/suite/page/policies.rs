//! Table 5: does it matter which policy acts?

use crate::report::aggregate::{self, Point};
use crate::suite::Row;
use crate::suite::page::pick::Pick;
use crate::suite::page::{Found, POLICY, estimate, table, two};
use crate::suite::published;
use anyhow::Result;

const POLICIES: [&str; 3] = ["sac", "td3", POLICY];

pub(super) fn section(found: &Found) -> Result<String> {
    let envs = shared(found);
    let title = "## Table 5: another policy\n\n";
    if envs.is_empty() {
        return Ok(format!("{title}No environment has results of all three policies yet.\n"));
    }
    Ok(format!(
        "{title}{} — magnitudes calibrated for TQC, tiny and strong.\n\n{}\n{}",
        envs.join(", "),
        orders(found, &envs)?,
        scores(found, &envs)?
    ))
}

/// Environments in which all three act.
fn shared(found: &Found) -> Vec<&str> {
    let acts = |env: &str, policy: &str| found.rows.iter().any(|l| l.env == env && l.policy == policy);
    let all = |env: &&str| POLICIES.iter().all(|p| acts(env, p));
    found.environments.iter().map(|w| &*w.env).filter(all).collect()
}

/// Table 5b.
fn orders(found: &Found, envs: &[&str]) -> Result<String> {
    let published = published::acted()?;
    let metrics = ["auroc_matched", "auroc_local"];
    let lines = POLICIES.map(|policy| (policy, Pick::anomalies(&found.rows, policy, &metrics)));
    let is_shown = |l: &Row| envs.contains(&&*l.env) && ["tiny", "strong"].contains(&&*l.strength);
    let theirs = |policy: &str, detector: &str| {
        published
            .iter()
            .find(|a| a.policy == policy && a.detector == detector)
            .map_or(f64::NAN, |a| a.auroc_local)
    };
    let mut rows = Vec::new();
    for detector in ["clock", "mlp-dm", "lstm-dm", "pe-dm", "residual-views"] {
        let mut cells = vec![format!("`{detector}`")];
        for (policy, lines) in &lines {
            let pick = lines.detector(detector).only(is_shown);
            let local = estimate(pick.mean("auroc_local", ""));
            cells.push(format!("{} / {local}", two(theirs(policy, detector))));
            cells.push(estimate(pick.mean("auroc_matched", "")));
        }
        rows.push(cells);
    }
    let head = [
        "detector",
        "SAC: local, published / ours",
        "SAC: matched",
        "TD3: local, published / ours",
        "TD3: matched",
        "TQC: local, published / ours",
        "TQC: matched",
    ];
    Ok(table(&head, &rows))
}

/// Table 5a.
fn scores(found: &Found, envs: &[&str]) -> Result<String> {
    let published = published::robust()?;
    let own = |env: &str, policy: &str| {
        let all = found.environments.iter().flat_map(|w| &w.scores);
        let strong = all.filter(|r| r.env == env && r.policy == policy && r.strength == "strong");
        let points =
            strong.enumerate().map(|(i, s)| Point { value: s.value, low: s.low, high: s.high, cluster: i });
        estimate(aggregate::mean(&points.collect::<Vec<_>>(), (f64::NEG_INFINITY, f64::INFINITY)))
    };
    let row = |env: &&str| {
        let mut cells = vec![env.to_string()];
        for policy in POLICIES {
            let theirs = published.iter().find(|r| r.env == *env && r.policy == policy);
            cells.push(format!("{} / {}", theirs.map_or("–".into(), |r| two(r.score)), own(env, policy)));
        }
        cells
    };
    let rows: Vec<_> = envs.iter().map(row).collect();
    Ok(format!(
        "Normalised score under strong anomalies with a random onset, published / ours: 1 is the undisturbed policy, 0 \
         the random one.\n\n{}",
        table(&["environment", "SAC", "TD3", "TQC"], &rows)
    ))
}
