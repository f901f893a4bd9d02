//! From finished cells to results: everything in the order of the campaign, so that the files have the same bits.

use crate::campaign::{Excluded, Stage};
use crate::cells::Bench;
use crate::cells::cell::{Cell, Role};
use crate::cells::diagnosis::DIAGNOSES;
use crate::cells::judge::{CONTROL, JUDGEMENT, Verdict};
use crate::cells::nodes::Node;
use crate::cells::play::load;
use crate::cells::video::VIDEO;
use crate::results::{CampaignRecipe, Diagnosed, Results, Row, Video};
use anyhow::{Context, Result};
use offnominal_core::prelude::*;
use offnominal_engine::images::networks;
use offnominal_engine::provenance;
use offnominal_files::dataset::PolicyName;
use offnominal_files::provenance::Provenance;
use offnominal_stats::mean::student_t;
use offnominal_stats::{Level, Metric, RULES, metric};

/// The results of finished cells. CampaignRecipe fields that only the caller knows (command, file, time) stay empty.
///
/// # Errors
/// If a cell is missing or cannot be read.
pub fn results(bench: &Bench) -> Result<Results> {
    let mut results = Results { recipe: recipe(bench)?, ..Results::default() };
    for node in &bench.nodes {
        match &node.cell {
            Cell::Judgement(_) => {
                let verdict: Verdict = read(bench, node, JUDGEMENT)?;
                results.rows.extend(verdict.rows);
                results.traces.extend(verdict.traces);
                results.curves.extend(verdict.curves);
                results.coverage.extend(verdict.coverage);
                results.panels.extend(verdict.panels);
            }
            Cell::Diagnosis(_) => {
                results.diagnoses.extend(read::<Vec<Diagnosed>>(bench, node, DIAGNOSES)?);
            }
            Cell::Video(_) => results.videos.push(read::<Video>(bench, node, VIDEO)?),
            Cell::Nominal(_) | Cell::Anomalous(_) => {}
        }
    }
    results.rows.extend(missing(bench));
    order(bench, &mut results);
    results.rows.iter_mut().for_each(|row| row.campaign.clone_from(&bench.plan.campaign.name));
    results.diagnoses.iter_mut().for_each(|row| row.campaign.clone_from(&bench.plan.campaign.name));
    Ok(results)
}

fn read<T: serde::de::DeserializeOwned>(bench: &Bench, node: &Node, file: &str) -> Result<T> {
    let bytes = bench.store.read(&node.id, file)?;
    serde_json::from_slice(&bytes).with_context(|| format!("cell {}: {file}", node.id))
}

/// Detectors in the order of the campaign (their cells run in another order); everything else keeps its own.
fn order(bench: &Bench, results: &mut Results) {
    let campaign = &bench.plan.campaign;
    let detector = |name: &str| campaign.detectors.iter().position(|d| d.name() == name);
    let place = |list: &[String], name: &str| list.iter().position(|n| n == name);
    results.rows.sort_by_key(|r| {
        (place(&campaign.envs, &r.env), place(&campaign.policies, &r.policy), r.seed, detector(&r.detector))
    });
    results.traces.sort_by_key(|t| (place(&campaign.envs, &t.env), detector(&t.detector)));
    results.panels.sort_by_key(|p| (place(&campaign.envs, &p.env), detector(&p.detector)));
    results.curves.sort_by_key(|c| (place(&campaign.envs, &c.env), detector(&c.detector)));
    results.coverage.sort_by_key(|c| {
        (place(&campaign.envs, &c.env), place(&campaign.policies, &c.policy), c.seed, detector(&c.detector))
    });
}

/// Rows without numbers for strengths that cannot be had, so that no table hides them.
fn missing(bench: &Bench) -> Vec<Row> {
    let mut rows = Vec::new();
    for stage in &bench.plan.stages {
        for excluded in &stage.excluded {
            for seed in bench.plan.seeds() {
                for (detector, _) in stage.judged(bench.plan.detectors()) {
                    rows.extend(empty(bench, (stage, excluded), seed, detector.name()));
                }
            }
        }
    }
    rows
}

/// One row per metric and threshold.
fn empty(bench: &Bench, (stage, excluded): (&Stage, &Excluded), seed: u64, detector: &str) -> Vec<Row> {
    let row = |metric: &str, threshold: &str| Row {
        campaign: String::new(),
        env: stage.subject.env.spec().id.clone(),
        modality: bench.plan.campaign.modality().into(),
        policy: stage.subject.name.label(),
        anomaly_class: excluded.class.clone(),
        anomaly: excluded.anomaly.clone(),
        strength: excluded.strength.clone(),
        magnitude: f64::NAN,
        detector: detector.into(),
        seed,
        episodes: 0,
        metric: metric.into(),
        threshold: threshold.into(),
        value: f64::NAN,
        low: f64::NAN,
        high: f64::NAN,
    };
    let (alarmed, ranked): (Vec<&Metric>, Vec<&Metric>) = metric::all().partition(|m| m.thresholded);
    let rules = RULES.map(|rule| rule.id);
    let ranked = ranked.iter().map(|m| row(m.id, ""));
    ranked.chain(rules.iter().flat_map(|rule| alarmed.iter().map(move |m| row(m.id, rule)))).collect()
}

fn recipe(bench: &Bench) -> Result<CampaignRecipe> {
    let specs: Vec<&EnvSpec> = bench.plan.stages.iter().map(|stage| stage.subject.env.spec()).collect();
    let names: Vec<&PolicyName> = bench.plan.stages.iter().map(|stage| &stage.subject.name).collect();
    let presets = bench
        .plan
        .detectors()
        .iter()
        .filter_map(|d| Some((d.name().into(), networks::preset(&d.choice.id, &d.choice.params)?)));
    let made = Provenance {
        presets: presets.collect(),
        ..provenance::made("", bench.plan.campaign.seed, b"", &specs, &names)
    };
    let policies = (0..bench.plan.stages.len()).map(|at| policy(bench, at)).collect::<Result<_>>()?;
    Ok(CampaignRecipe {
        campaign: bench.plan.campaign.name.clone(),
        made,
        policies,
        ..CampaignRecipe::default()
    })
}

/// Environment, policy, and the return of its undisturbed test episodes.
fn policy(bench: &Bench, stage: usize) -> Result<String> {
    let mut returns = Vec::new();
    for node in bench.nodes.iter().filter(|n| n.stage == stage) {
        if matches!(&node.cell, Cell::Nominal(cell) if cell.role == Role::Test) {
            returns.extend(load(&bench.store, &node.id)?.episodes.iter().map(Episode::total_reward));
        }
    }
    let subject = &bench.plan.stages[stage].subject;
    let who = format!(
        "{}: {} (SHA-256 {})",
        subject.env.spec().id,
        subject.name.label(),
        &subject.name.digest[..16]
    );
    let reward = student_t(&returns, Level::P95)
        .map_or("too few episodes for a mean return".into(), |mean| {
            format!("return {mean:.2} over {} undisturbed test episodes", returns.len())
        });
    let training =
        subject.card.as_ref().map_or(String::new(), |card| format!("; trained by `{}`", card.command));
    Ok(format!("{who}, {reward}{training}"))
}

/// Whether a row is of the control.
pub(super) fn is_control(row: &Row) -> bool {
    row.anomaly_class == CONTROL
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_environments_of_mujoco_say_so() {
        let native = ["sap-", "car-", "cartpole", "pendulum", "pong", "driving"];
        for entry in offnominal_worlds::env::ENVS {
            let is_native = native.iter().any(|start| entry.id.starts_with(start));
            let env = offnominal_worlds::env::catalogue().build(entry.id, &serde_json::json!({})).unwrap();
            assert_eq!(env.spec().source.contains("MuJoCo"), !is_native, "{}", entry.id);
        }
    }
}
