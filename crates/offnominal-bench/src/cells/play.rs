//! Cells that are episodes.

use crate::cells::cell::{Anomalous, Nominal};
use anyhow::{Context, Result, anyhow};
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_engine::collect::sound;
use offnominal_engine::subject::Cast;
use offnominal_files::dataset::{self, Dataset};
use offnominal_files::store::Store;

/// Name of the file of episodes in a cell.
pub(super) const EPISODES: &str = "episodes.arrow";

/// Plays undisturbed episodes.
pub(super) fn nominal(cell: &Nominal, cast: &Cast) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let root = Seed(cell.setup.seed).child(cell.role.name());
    let own = Own::of(cast);
    let episodes =
        (0..cell.episodes).map(|i| own.sound(own.trial().nominal(root.child(i)))).collect::<Result<_>>()?;
    stored(cast, None, cell.setup.seed, episodes)
}

/// Plays disturbed episodes, each with the seed of its twin.
pub(super) fn anomalous(
    cell: &Anomalous,
    cast: &Cast,
    store: &Store,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (twins, own, anomalies) = (load(store, &cell.twins)?, Own::of(cast), catalogues::anomalies());
    let mut episodes = Vec::with_capacity(twins.episodes.len());
    for twin in &twins.episodes {
        let onset = cell.fault.schedule.draw_onset(twin.len(), &mut twin.seed.child("onset").rng());
        episodes.push(own.sound(own.trial().disturbed(twin.seed, &cell.fault, onset, &anomalies)?)?);
    }
    stored(cast, Some(&cell.fault), cell.setup.seed, episodes)
}

/// A cell's own copy of the world, so that what breaks in one cell breaks no other; the world itself where
/// there is only one.
struct Own<'a> {
    cast: &'a Cast,
    copy: Option<Box<dyn Env>>,
}

impl<'a> Own<'a> {
    fn of(cast: &'a Cast) -> Own<'a> {
        Own { cast, copy: cast.env.fork() }
    }

    fn env(&self) -> &dyn Env {
        self.copy.as_deref().unwrap_or(self.cast.env.as_ref())
    }

    fn trial(&self) -> Trial<'_> {
        Trial::new(self.env(), self.cast.policy.as_ref())
    }

    /// The episode without numbers that are not finite. A world that broke says nothing of policy and anomaly.
    fn sound(&self, episode: Episode) -> Result<Episode> {
        self.env().health().map(|()| sound(episode)).map_err(|why| anyhow!(why))
    }
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
