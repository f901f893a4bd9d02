//! Runs of `risk estimate` that are alike but for their seeds, each of which is a replicate.

use super::curve::Curve;
use super::{Replicated, Request, Spread, independent};
use crate::estimate::block::ExperimentSpec;
use crate::estimate::document::Document;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::replicates::Replicate;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The results of the runs.
pub struct Runs {
    documents: Vec<Document>,
    /// Steps of a plain episode, on average.
    episode: f64,
}

impl Runs {
    /// Reads the runs, and checks that they belong together and that the truth is one.
    ///
    /// # Errors
    /// If a folder holds no finished run, two are of one seed or of different things, or the truth is of something else.
    pub fn read(folders: &[PathBuf], truth: &Document) -> Result<Runs> {
        let documents = folders.iter().map(|f| Document::read(f)).collect::<Result<Vec<_>>>()?;
        let (first, mut seeds) = (&documents[0].run, BTreeSet::new());
        for (folder, Document { run, .. }) in folders.iter().zip(&documents) {
            let (folder, seed) = (folder.display(), run.seed);
            let alike = ExperimentSpec { seed: first.seed, ..run.clone() };
            ensure!(
                alike == *first,
                "{folder}: expected a run like the first but for its seed, found another"
            );
            ensure!(
                seeds.insert(seed),
                "{folder}: expected a seed that no other run has, found {seed} again"
            );
            independent((&run.env, &run.policy, seed), run.scenario.as_ref(), truth)?;
            let same_fault = run.anomaly_spec == truth.run.anomaly_spec;
            ensure!(same_fault, "truth: expected the fault of the runs, found another");
        }
        Ok(Runs { documents, episode: truth.steps as f64 / truth.experiments as f64 })
    }

    /// Each run as a replicate.
    ///
    /// # Errors
    /// If a run has no valid interval, or none has a failure.
    pub(super) fn replicated(self, request: &Request, p: f64, level: Level) -> Result<Replicated> {
        let risks = self.documents.iter().map(risk).collect::<Result<Vec<&Estimate>>>()?;
        let one = |(document, risk): (&Document, &&Estimate)| Replicate {
            estimate: risk.value,
            cost: document.steps as f64 / self.episode,
        };
        let all: Vec<Replicate> = self.documents.iter().zip(&risks).map(one).collect();
        let mean = |of: fn(&Document) -> u64| {
            self.documents.iter().map(|d| of(d) as f64).sum::<f64>() / self.documents.len() as f64
        };
        let first = &self.documents[0].run;
        let experiments_each = mean(|d| d.experiments);
        let terms = self.documents.iter().flat_map(|d| &d.failures).map(|f| f.share).collect();
        let curve = |&factor: &f64| Curve::of_one_size(&all, experiments_each, p, factor, level);
        Ok(Replicated {
            env: first.env.clone(),
            policy: first.policy.id.clone(),
            method: super::draws(&first.method),
            config: serde_json::to_vec(&(first, all.len()))?,
            draws_each: mean(|d| d.draws).round() as u64,
            experiments_each,
            held: risks.iter().map(|risk| risk.covers(p)).collect(),
            spread: Spread::of(terms)?,
            curves: request.factors.iter().map(curve).collect::<Result<_>>()?,
            all,
        })
    }
}

fn risk(document: &Document) -> Result<&Estimate> {
    document.risk.risk.as_ref().with_context(|| {
        format!("run of seed {}: expected an estimate with a valid interval, found none", document.run.seed)
    })
}
