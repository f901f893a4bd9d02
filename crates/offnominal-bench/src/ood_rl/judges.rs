//! Who scores the steps of the suite, and episodes as they are needed once they are scored.

use crate::ood_rl::cell::Cell;
use anyhow::{Context, Result};
use offnominal_agents::Actor;
use offnominal_core::prelude::*;
use offnominal_detectors::Measurements;
use offnominal_engine::catalogues;
use offnominal_engine::detector_choice::seed_label;
use offnominal_engine::progress::Task;
use serde_json::json;

/// The measures of disagreement, and other detectors.
#[derive(Clone)]
pub(super) struct Judges {
    panel: Measurements,
    external: Vec<Judge>,
}

/// A fitted detector with its name.
struct Judge(&'static str, Box<dyn Scorer>);

impl Clone for Judge {
    fn clone(&self) -> Judge {
        Judge(self.0, self.1.fork())
    }
}

impl Judges {
    /// Opens the policy and fits the other detectors of a cell.
    pub(super) fn new(
        cell: &Cell,
        policy: &Actor,
        train: &[Episode],
        seed: Seed,
        bar: &Task,
    ) -> Result<Judges> {
        let signals: Vec<Signals<'_>> = train.iter().map(Episode::signals).collect();
        let panel = Measurements::open(policy, &signals, &mut seed.child("panel").rng())?;
        let (fit, validation) = signals.split_at(signals.len() * 3 / 4);
        let judge = |&id: &&'static str| {
            let detector = catalogues::detectors().build(id, &json!({}))?;
            let mut rng = seed.child("fit").child(seed_label(id)).rng();
            let nominal = Nominal::new(fit, validation).with_policy(policy);
            let hear = |percent| bar.set_message(&format!("fit of {id}, {percent} %"));
            let fit = |progress: FitProgress<'_>| detector.fit(nominal.with_progress(progress), &mut rng);
            Ok(Judge(id, bar.watched(hear, fit).with_context(|| format!("detector {id}"))?))
        };
        Ok(Judges { panel, external: cell.external.iter().map(judge).collect::<Result<_>>()? })
    }

    /// What gives the scores, in their order.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let measures = self.panel.measures().iter().map(|m| m.id());
        measures.chain(self.external.iter().map(|judge| judge.0)).collect()
    }

    fn score(&mut self, episode: &Episode) -> Vec<Vec<f64>> {
        let mut scores = self.panel.score_episode(&episode.signals());
        for Judge(_, monitor) in &mut self.external {
            let mut own = Vec::with_capacity(episode.len());
            monitor.score_episode(&episode.signals(), &mut own);
            scores.push(own);
        }
        scores
    }
}

/// Returns and scores of the episodes of one setting; those of images are too large to be kept.
pub(super) struct Played {
    pub(super) returns: Vec<f64>,
    /// `[episode][judge][T]`
    scores: Vec<Vec<Vec<f64>>>,
}

impl Played {
    /// Plays episodes and has them judged.
    pub(super) fn new(
        episodes: usize,
        play: impl Fn(usize) -> Result<Episode>,
        judges: &mut Judges,
    ) -> Result<Played> {
        let (mut returns, mut scores) = (Vec::new(), Vec::new());
        for i in 0..episodes {
            let episode = play(i)?;
            returns.push(episode.total_reward());
            scores.push(judges.score(&episode));
        }
        Ok(Played { returns, scores })
    }

    /// Steps of all episodes.
    pub(super) fn steps(&self) -> usize {
        self.scores.iter().map(|judges| judges[0].len()).sum()
    }

    /// Scores of the k-th judge, `[episode][T]`.
    pub(super) fn scores_of(&self, k: usize) -> Vec<Vec<f64>> {
        self.scores.iter().map(|judges| judges[k].clone()).collect()
    }
}
