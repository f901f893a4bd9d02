//! Channels that drift from one episode to the next, as a temperature does.

use crate::shared::beginning::{Beginning, Begun, NOMINAL};
use crate::shared::prelude::*;

/// Channels that drift from one episode to the next, as differences from the beginning of the episode.
#[derive(Clone)]
pub(super) struct Drift {
    beginning: Arc<Beginning>,
    begun: Begun,
    row: Vec<f64>,
    obs: Vec<f32>,
    next_obs: Vec<f32>,
}

impl Drift {
    /// Of the channels that are compared with the beginning.
    fn new(beginning: Beginning) -> Drift {
        let begun = beginning.begun();
        let d = begun.mean().len();
        let (beginning, row) = (Arc::new(beginning), vec![0.0; d]);
        Drift { beginning, begun, row, obs: vec![0.0; d], next_obs: vec![0.0; d] }
    }

    /// Which channels drift over episodes, in the order in which they were made.
    pub fn fit(train: &[Signals<'_>]) -> Drift {
        let d = train[0].obs_width();
        Drift::new(Beginning::of_drifts(train, d, |episode, tell| {
            let mut row = vec![0.0; d];
            episode.transitions().for_each(|seen| {
                row.iter_mut().zip(seen.next_obs).for_each(|(x, v)| *x = f64::from(*v));
                tell(&row);
            });
        }))
    }

    /// What evidence of a member is compared with: a channel less its beginning has no other mean.
    pub fn against(&self, evidence: &Evidence) -> &'static str {
        if evidence.against == NOMINAL { self.beginning.against(evidence.channel) } else { evidence.against }
    }

    /// The observations of an episode, less its beginning.
    pub fn without(&self, episode: &Signals<'_>) -> Vec<f32> {
        let mut rows = episode.observations().to_vec();
        let (d, n) = (episode.obs_width(), episode.len().min(self.beginning.steps()).max(1));
        for j in self.beginning.own() {
            let seen = rows.iter().skip(j).step_by(d).skip(1).take(n);
            let mean = seen.map(|v| f64::from(*v)).sum::<f64>() / n as f64;
            rows.iter_mut().skip(j).step_by(d).for_each(|v| *v = (f64::from(*v) - mean) as f32);
        }
        rows
    }

    /// The step, less the beginning of its episode.
    pub fn apply<'a>(&'a mut self, seen: &Transition<'a>, missing: &[bool]) -> Transition<'a> {
        if !self.beginning.is_used() {
            return *seen;
        }
        self.row.iter_mut().zip(seen.next_obs).for_each(|(x, v)| *x = f64::from(*v));
        self.beginning.apply(&mut self.begun, &mut self.row, missing);
        self.next_obs.iter_mut().zip(&self.row).for_each(|(v, x)| *v = *x as f32);
        let before = seen.obs.iter().zip(self.begun.mean());
        self.obs.iter_mut().zip(before).for_each(|(v, (x, mean))| *v = (f64::from(*x) - mean) as f32);
        Transition { obs: &self.obs, action: seen.action, next_obs: &self.next_obs }
    }

    /// Adds a multiple of what is known of the beginning: −1 before members fill gaps, 1 after it.
    pub fn shift(&self, gaps: &mut Gaps<'_>, sign: f64) {
        for j in self.beginning.own() {
            for v in [&mut gaps.obs[j], &mut gaps.next_obs[j]] {
                *v = (f64::from(*v) + sign * self.begun.mean()[j]) as f32;
            }
        }
    }

    /// The next episode.
    pub fn reset(&mut self) {
        self.begun.reset();
    }

    /// Writes it.
    pub fn save(&self, to: &mut Writer<'_>) {
        self.beginning.save(to);
    }

    /// Reads it.
    pub fn load(from: &Reader<'_>) -> Result<Drift, ArchiveError> {
        Ok(Drift::new(Beginning::load(from, from.obs_width)?))
    }
}
