//! Cells that are episodes.

use super::cell::{Anomalous, Nominal, Role};
use crate::cast::Cast;
use crate::catalogues;
use crate::collect::sound;
use crate::dataset::{self, Dataset};
use crate::store::Store;
use anyhow::{Context, Result};
use offnominal_core::prelude::*;

/// Name of the file of episodes in a cell.
pub(super) const EPISODES: &str = "episodes.arrow";

/// Plays undisturbed episodes.
pub(super) fn nominal(cell: &Nominal, cast: &Cast) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let root = Seed(cell.setup.seed).child(cell.role.name());
    let trial = cast.trial();
    let episodes = (0..cell.episodes).map(|i| sound(trial.nominal(root.child(i)))).collect();
    stored(cast, None, cell.setup.seed, episodes)
}

/// Plays disturbed episodes, each with the seed of its twin.
pub(super) fn anomalous(
    cell: &Anomalous,
    cast: &Cast,
    store: &Store,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (twins, trial, anomalies) = (load(store, &cell.twins)?, cast.trial(), catalogues::anomalies());
    let mut episodes = Vec::with_capacity(twins.episodes.len());
    for twin in &twins.episodes {
        let onset = cell.fault.schedule.draw_onset(twin.len(), &mut twin.seed.child("onset").rng());
        episodes.push(sound(trial.disturbed(twin.seed, &cell.fault, onset, &anomalies)?));
    }
    stored(cast, Some(&cell.fault), cell.setup.seed, episodes)
}

fn stored(
    cast: &Cast,
    fault: Option<&Fault>,
    seed: u64,
    episodes: Vec<Episode>,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let recipe = cast.recipe(fault, seed);
    let twins = vec![None; episodes.len()];
    Ok(vec![(EPISODES, dataset::encode(&Dataset { recipe, episodes, twins })?)])
}

/// The episodes of a finished cell.
pub(super) fn load(store: &Store, cell: &str) -> Result<Dataset> {
    let bytes = store.read(cell, EPISODES).with_context(|| format!("the cell {cell} must run before"))?;
    dataset::decode(&bytes).with_context(|| format!("cell {cell}"))
}

/// The onset of a control episode, drawn as those of the anomalous ones are.
pub(super) fn control_onset(episode: &Episode, schedule: &Schedule) -> u32 {
    schedule.draw_onset(episode.len(), &mut episode.seed.child(Role::Control.name()).rng())
}
