//! The episodes of a selection as a history, so that those who lost teach what to look for in those who are left.

use super::heats::{Heats, SelectionSpec};
use crate::experimenter::Experimenter;
use crate::history::{step_of, training};
use anyhow::Result;
use offnominal_agents::{History, TrainingEpisode};
use offnominal_engine::subject::Subject;
use std::path::Path;

/// All episodes in the journal of a selection without a predictor; those of earlier policies stand first.
///
/// # Errors
/// If the folder holds another selection, or nobody knows how long a policy was trained.
pub fn history(subjects: &[Subject], spec: &SelectionSpec, folder: &Path) -> Result<History> {
    let heats = Heats::open(Some(folder), spec)?;
    let mut all = Vec::new();
    for (policy, subject) in subjects.iter().enumerate() {
        let (step, experimenter) = (step_of(subject)?, Experimenter::new(subject, spec.seed)?);
        for (index, failed) in heats.of(policy, spec.round) {
            let initial = experimenter.draw(super::elimination::key(&experimenter, index));
            all.push(TrainingEpisode { initial, step, noise: 0.0, failed, place: None, margin: None });
        }
    }
    Ok(training(subjects[0].env.spec(), spec.seed, all))
}
