//! What anomalies cost the policy: its normalised score in the disturbed episodes of a campaign.

use crate::cells::Bench;
use crate::cells::cell::{Cell, Judgement};
use crate::cells::play::load;
use crate::results::Score;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use std::collections::HashSet;

/// Mean return of each anomaly at each strength, scaled so that the undisturbed twins have 1 and random commands, as the
/// policy's card knows them, 0. A policy without a card has no scores.
///
/// # Errors
/// If a cell is missing or cannot be read.
pub fn scores(bench: &Bench) -> Result<Vec<Score>> {
    let (mut scores, mut seen) = (Vec::new(), HashSet::new());
    for node in &bench.nodes {
        let card = bench.plan.stages[node.stage].subject.card.as_ref();
        if let (Cell::Judgement(cell), Some(card)) = (&node.cell, card)
            && seen.insert((node.stage, cell.setup.seed))
        {
            scores.extend(repetition(bench, cell, card.random_return.value)?);
        }
    }
    Ok(scores)
}

/// The scores of one environment, policy and seed; every detector is judged on the same episodes.
fn repetition(bench: &Bench, cell: &Judgement, random: f64) -> Result<Vec<Score>> {
    let returns = |id: &str| -> Result<Vec<f64>> {
        Ok(load(&bench.store, id)?.episodes.iter().map(Episode::total_reward).collect())
    };
    let nominal = returns(&cell.twins)?;
    let nominal = nominal.iter().sum::<f64>() / nominal.len() as f64;
    let mut scores = Vec::new();
    for (setting, id) in &cell.settings {
        let episodes: Vec<f64> = returns(id)?.iter().map(|r| (r - random) / (nominal - random)).collect();
        let Ok(mean) = student_t(&episodes, Level::P95) else { continue };
        scores.push(Score {
            env: cell.setup.env.clone(),
            policy: cell.setup.policy.id.clone(),
            anomaly: setting.anomaly.clone(),
            strength: setting.strength.clone(),
            seed: cell.setup.seed,
            value: mean.value,
            low: mean.low,
            high: mean.high,
        });
    }
    Ok(scores)
}
