//! Do the alarm rules keep their promise on the nominal episodes of a judgement? All of them, whatever they were played
//! for, are split again and again into some that set a threshold and others that are watched.

use crate::cells::cell::Judgement;
use crate::cells::scoring::Scored;
use crate::results::Coverage;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_stats::{Promise, Rule, Splits, StatsError, coverage};

/// Random splits.
const N_SPLITS: usize = 200;

/// Realised false alarms of every rule that can work with so many episodes. As many set a threshold as in the rest of
/// the judgement.
pub(super) fn of(cell: &Judgement, scored: &Scored) -> Result<Vec<Coverage>> {
    let control = scored.control.iter().map(|e| &e.scores);
    let pool: Vec<&Vec<f64>> = scored.validation.iter().chain(&scored.twins).chain(control).collect();
    let seed = Seed(cell.setup.seed).child("splits");
    let splits = Splits { calibration: scored.validation.len(), n: N_SPLITS, seed };
    let mut found = Vec::new();
    for rule in Rule::all(Promise::on_average(cell.false_alarms)) {
        match coverage(&pool, rule, &splits) {
            Ok(share) => found.push(row(cell, rule, &splits, &share)),
            Err(StatsError::TooFew { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(found)
}

fn row(cell: &Judgement, rule: Rule, splits: &Splits, share: &Estimate) -> Coverage {
    Coverage {
        env: cell.setup.env.clone(),
        policy: cell.setup.policy.id.clone(),
        detector: cell.detector.name.clone(),
        seed: cell.setup.seed,
        threshold: rule.id().into(),
        calibration: splits.calibration as u64,
        watched: share.n as u64,
        splits: splits.n as u64,
        accepted: cell.false_alarms,
        value: share.value,
        low: share.low,
        high: share.high,
    }
}
