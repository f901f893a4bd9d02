//! A suite narrowed to one environment: what of it can be run there, and what is missing.

use crate::campaign::{Campaign, CampaignDetector, Plan};
use crate::cells::Bench;
use crate::suite::Suite;
use anyhow::{Result, bail};
use offnominal_core::catalogue::BuildError;
use offnominal_core::suggest::unknown;
use offnominal_engine::{catalogues, noise, policies, strengths};
use offnominal_files::store::{Store, address};
use std::collections::BTreeSet;
use std::path::Path;

/// What of a suite is asked for.
#[derive(Clone, Copy)]
pub(super) struct Selection<'a> {
    pub suite: &'static Suite,
    pub envs: &'a [String],
    pub detectors: &'a [String],
    pub seeds: Option<u64>,
    /// The level of nominal noise, if any, as ids have it.
    pub noise: Option<&'a str>,
    pub out: &'a Path,
}

impl Selection<'_> {
    /// The id of an environment of the suite at the level of noise that is asked for.
    pub fn id(&self, env: &str) -> String {
        noise::id(env, self.noise)
    }
}

/// What a suite does in one environment.
pub(super) struct Narrowed {
    /// One benchmark per campaign that has the environment.
    pub benches: Vec<Bench>,
    /// The texts of these campaigns.
    pub texts: Vec<&'static str>,
    /// What is asked for and cannot be had, in words.
    pub missing: Vec<String>,
}

impl Narrowed {
    /// Lays out everything that can be run in an environment; cells are kept in the output folder.
    ///
    /// # Errors
    /// If a detector that is asked for is none of the suite's, or a campaign is wrong.
    pub fn new(request: &Selection<'_>, env: &str) -> Result<Narrowed> {
        let mut narrowed = Narrowed { benches: vec![], texts: vec![], missing: vec![] };
        let campaigns = request.suite.campaigns(request.seeds)?;
        known(request, campaigns.iter().flat_map(|(campaign, _)| &campaign.detectors))?;
        for (campaign, text) in campaigns {
            // Other policies would need a question of their own under noise: whether they were trained for it.
            let is_left_out = request.noise.is_some() && campaign.strengths_of.is_some();
            if is_left_out || !campaign.envs.iter().any(|e| e == env) {
                continue;
            }
            let id = request.id(env);
            let policies = narrowed.policies(&campaign, &id)?;
            if policies.is_empty() {
                continue;
            }
            let detectors = narrowed.detectors(&campaign, &id, request.detectors)?;
            if detectors.is_empty() {
                continue;
            }
            let campaign = Campaign { envs: vec![id], policies, detectors, ..campaign };
            narrowed.benches.push(Bench::new(Plan::new(campaign, text)?, Store::new(request.out))?);
            narrowed.texts.push(text);
        }
        Ok(narrowed)
    }

    /// The policies that are shipped for the environment and whose strengths are known there; notes the others.
    fn policies(&mut self, campaign: &Campaign, env: &str) -> Result<Vec<String>> {
        let mut there = Vec::new();
        for policy in &campaign.policies {
            let calibrated_for = campaign.strengths_of.as_ref().unwrap_or(policy);
            if !policies::is_shipped(policy, env)? {
                self.missing.push(format!("policy {policy}"));
            } else if !strengths::table(env)?.iter().any(|row| row.policy == *calibrated_for) {
                self.missing.push(format!("calibrated strengths for {calibrated_for}"));
            } else {
                there.push(policy.clone());
            }
        }
        Ok(there)
    }

    /// The names of the detectors, each once, in the order of the campaigns.
    pub fn detector_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for detector in self.benches.iter().flat_map(|bench| bench.plan.detectors()) {
            if !names.iter().any(|name| name == detector.name()) {
                names.push(detector.name().into());
            }
        }
        names
    }

    /// The detectors that can be had: of those of images, some need weights or a build with more in it; notes the others.
    fn detectors(
        &mut self,
        campaign: &Campaign,
        env: &str,
        wanted: &[String],
    ) -> Result<Vec<CampaignDetector>> {
        let mut there = Vec::new();
        for detector in &campaign.detectors {
            let choice = &detector.choice;
            if !wanted.is_empty() && !wanted.contains(&choice.name) {
                self.missing.push(format!("detector {} (not asked for)", choice.name));
                continue;
            }
            if let Some(policy) = &detector.fitted_on
                && !policies::is_shipped(policy, env)?
            {
                self.missing.push(format!("policy {policy} for detector {}", choice.name));
                continue;
            }
            let built =
                campaign.images.map(|_| catalogues::image_detectors().build(&choice.id, &choice.params));
            match built {
                Some(Err(BuildError::Missing(why))) => {
                    // What follows says where somebody's machine was searched.
                    let why = why.to_string();
                    let why = why.split(':').next().unwrap_or_default();
                    self.missing.push(format!("detector {} ({why})", choice.name));
                }
                Some(Err(other)) => return Err(other.into()),
                Some(Ok(_)) | None => there.push(detector.clone()),
            }
        }
        Ok(there)
    }

    /// The name of all this by its content: results with another digest are those of something else.
    pub fn digest(&self) -> String {
        let ids: Vec<&str> = self.benches.iter().flat_map(|b| b.nodes.iter().map(|n| &*n.id)).collect();
        address(ids.join("\n").as_bytes())
    }
}

/// Insists that the suite has every detector that is asked for.
fn known<'a>(request: &Selection<'_>, detectors: impl Iterator<Item = &'a CampaignDetector>) -> Result<()> {
    let names: BTreeSet<&str> = detectors.map(CampaignDetector::name).collect();
    match unknown(request.detectors, names.iter().copied()) {
        None => Ok(()),
        Some(name) => bail!("suite {} has no detector {name}", request.suite.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn of(suite: &str, detectors: &[&str], seeds: Option<u64>) -> Result<Narrowed> {
        let (suite, out) = (Suite::find(suite).unwrap(), Path::new("nowhere"));
        let detectors: Vec<String> = detectors.iter().map(ToString::to_string).collect();
        let selection = Selection { suite, envs: &[], detectors: &detectors, seeds, noise: None, out };
        Narrowed::new(&selection, "sap-goal0")
    }

    #[test]
    fn an_environment_has_its_campaigns_and_says_what_is_missing() {
        let of = |seeds| of("vector", &[], Some(seeds)).unwrap();
        let two = of(1);
        assert_eq!((two.benches.len(), two.missing.len()), (3, 0));
        assert_ne!(two.digest(), of(2).digest());
        assert_eq!(two.digest(), of(1).digest());
        let settings = two.benches[0].plan.stages[0].settings.len();
        let excluded = two.benches[0].plan.stages[0].excluded.len();
        assert_eq!(settings + excluded, 17 * 4);
    }

    #[test]
    fn what_lacks_weights_is_named_without_the_folders_of_this_machine() {
        let suite = Suite::find("images").unwrap();
        let narrowed = of("images", &[], None).unwrap();
        assert!(narrowed.benches[0].plan.detectors().iter().any(|d| d.name() == "patch-fusion"));
        let all = suite.campaigns(None).unwrap()[0].0.detectors.len();
        assert_eq!(narrowed.benches[0].plan.detectors().len() + narrowed.missing.len(), all);
        assert!(narrowed.missing.iter().all(|m| m.starts_with("detector ") && !m.contains("looked in")));
    }
    #[test]
    fn detectors_that_are_not_asked_for_are_named() {
        let narrowed = of("images", &["patch-dynamics"], None).unwrap();
        let names: Vec<_> = narrowed.benches[0].plan.detectors().iter().map(|d| d.name()).collect();
        assert_eq!(names, ["patch-dynamics"]);
        assert!(narrowed.missing.contains(&"detector patch-fusion (not asked for)".into()));
        // One of the two campaigns of this environment has no such detector.
        let knn = of("vector", &["knn"], Some(1)).unwrap();
        assert_eq!((knn.benches.len(), knn.benches[0].plan.detectors().len()), (1, 1));
        let error = of("images", &["patch-dynamic"], None).err().unwrap().to_string();
        assert!(error.starts_with("suite images has no detector \"patch-dynamic\"; did you mean"), "{error}");
    }
}
