//! The episodes of a race as a history, so that those who lost teach what to look for in those who are left.

use crate::select::heats::{Heats, Spec};
use crate::{Lab, past};
use anyhow::Result;
use offnominal_agents::{History, TrainingEpisode};
use offnominal_engine::subject::Cast;
use std::path::Path;

/// All episodes in the journal of a race without a predictor; those of earlier policies stand first.
///
/// # Errors
/// If the folder holds another race, or nobody knows how long a policy was trained.
pub fn history(casts: &[Cast], spec: &Spec, folder: &Path) -> Result<History> {
    let heats = Heats::open(folder, spec)?;
    let mut all = Vec::new();
    for (policy, cast) in casts.iter().enumerate() {
        let (step, lab) = (past::step_of(cast)?, Lab::new(cast, spec.seed)?);
        for (index, failed) in heats.of(policy, spec.round) {
            let initial = lab.draw(crate::select::key(&lab, index));
            all.push(TrainingEpisode { initial, step, noise: 0.0, failed });
        }
    }
    Ok(past::history(casts[0].env.spec(), spec.seed, all))
}
