//! Cells that are episodes.

use crate::cells::cell::{Anomalous, Nominal};
use anyhow::{Context, Result, anyhow};
use offnominal_core::prelude::*;
use offnominal_engine::catalogues;
use offnominal_engine::collect::begun;
use offnominal_engine::diverged::Diverged;
use offnominal_engine::subject::{Subject, health};
use offnominal_files::dataset::{self, Dataset};
use offnominal_files::store::Store;

/// Name of the file of episodes in a cell.
pub(super) const EPISODES: &str = "episodes.arrow";

/// Plays undisturbed episodes.
pub(super) fn nominal(
    cell: &Nominal,
    subject: &Subject,
    allow_diverged: u64,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let root = Seed(cell.setup.seed).child(<&str>::from(cell.role));
    let own = Own::of(subject);
    let one = |i| own.sound(i, own.trial().nominal(root.child(i)));
    let episodes = (0..cell.episodes).map(one).collect::<Result<Vec<_>>>()?;
    Diverged::of(own.env().spec(), &episodes).at_most(allow_diverged)?;
    stored(subject, None, cell.setup.seed, episodes)
}

/// Plays disturbed episodes, each with the seed of its twin.
pub(super) fn anomalous(
    cell: &Anomalous,
    subject: &Subject,
    store: &Store,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (twins, own, anomalies) = (load(store, &cell.twins)?, Own::of(subject), catalogues::anomalies());
    let mut episodes = Vec::with_capacity(twins.episodes.len());
    for (i, twin) in twins.episodes.iter().enumerate() {
        let onset = cell.anomaly_spec.schedule.draw_onset(twin.len(), &mut twin.seed.child("onset").rng());
        let episode = own.trial().disturbed(twin.seed, &cell.anomaly_spec, onset, &anomalies)?;
        episodes.push(own.sound(i, episode)?);
    }
    stored(subject, Some(&cell.anomaly_spec), cell.setup.seed, episodes)
}

/// A cell's own copy of the environment, so that what breaks in one cell breaks no other; the environment itself where
/// there is only one.
struct Own<'a> {
    subject: &'a Subject,
    copy: Option<Box<dyn Env>>,
}

impl<'a> Own<'a> {
    fn of(subject: &'a Subject) -> Own<'a> {
        Own { subject, copy: subject.env.fork() }
    }

    fn env(&self) -> &dyn Env {
        self.copy.as_deref().unwrap_or(self.subject.env.as_ref())
    }

    fn trial(&self) -> Trial<'_> {
        Trial { env: self.env(), ..self.subject.trial() }
    }

    /// The episode. An environment or a policy that broke says nothing of the anomaly.
    fn sound(&self, i: usize, episode: Episode) -> Result<Episode> {
        health(self.env(), self.subject.policy.as_ref()).map_err(|why| anyhow!(why))?;
        begun(self.subject, episode).with_context(|| format!("episode {i}"))
    }
}

fn stored(
    subject: &Subject,
    anomaly_spec: Option<&AnomalySpec>,
    seed: u64,
    episodes: Vec<Episode>,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let recipe = subject.recipe(anomaly_spec, seed);
    let twins = vec![None; episodes.len()];
    Ok(vec![(EPISODES, dataset::encode(&Dataset { recipe, episodes, twins })?)])
}

/// The episodes of a finished cell.
pub(super) fn load(store: &Store, cell: &str) -> Result<Dataset> {
    let bytes = store.read(cell, EPISODES).with_context(|| format!("the cell {cell} must run before"))?;
    dataset::decode(&bytes).with_context(|| format!("cell {cell}"))
}
