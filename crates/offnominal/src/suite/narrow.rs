//! A suite narrowed to one world: what of it can be run there, and what is missing.

use super::Suite;
use crate::bench::Bench;
use crate::campaign::{Campaign, DetectorChoice, Plan};
use crate::images;
use crate::store::{Store, address};
use crate::{policies, strengths};
use anyhow::Result;
use offnominal_core::catalogue::BuildError;
use std::path::Path;

/// What a suite does in one world.
pub(super) struct Narrowed {
    /// One benchmark per campaign that has the world.
    pub benches: Vec<Bench>,
    /// The texts of these campaigns.
    pub texts: Vec<&'static str>,
    /// What is asked for and cannot be had, in words.
    pub missing: Vec<String>,
}

impl Narrowed {
    /// Lays out everything that can be run in a world; cells are kept in the output folder.
    pub fn new(suite: &Suite, env: &str, seeds: Option<u64>, out: &Path) -> Result<Narrowed> {
        let mut narrowed = Narrowed { benches: vec![], texts: vec![], missing: vec![] };
        for (campaign, text) in suite.campaigns(seeds)? {
            if !campaign.envs.iter().any(|e| e == env) {
                continue;
            }
            let policies = narrowed.policies(&campaign, env)?;
            if policies.is_empty() {
                continue;
            }
            let detectors = narrowed.detectors(&campaign)?;
            let campaign = Campaign { envs: vec![env.into()], policies, detectors, ..campaign };
            narrowed.benches.push(Bench::new(Plan::new(campaign, text)?, Store::new(out))?);
            narrowed.texts.push(text);
        }
        Ok(narrowed)
    }

    /// The policies that are shipped for the world and whose strengths are known there; notes the others.
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

    /// The detectors that can be had: of those of pictures, some need weights or a build with more in it; notes the others.
    fn detectors(&mut self, campaign: &Campaign) -> Result<Vec<DetectorChoice>> {
        let mut there = Vec::new();
        for choice in &campaign.detectors {
            let built = campaign.pictures.map(|_| images::detectors().build(&choice.id, &choice.params));
            match built {
                Some(Err(BuildError::Missing(why))) => {
                    // What follows says where somebody's machine was searched.
                    let why = why.to_string();
                    let why = why.split(':').next().unwrap_or_default();
                    self.missing.push(format!("detector {} ({why})", choice.name));
                }
                Some(Err(other)) => return Err(other.into()),
                Some(Ok(_)) | None => there.push(choice.clone()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_has_its_campaigns_and_says_what_is_missing() {
        let suite = Suite::find("vector").unwrap();
        let of = |env: &str, seeds| Narrowed::new(suite, env, seeds, Path::new("nowhere")).unwrap();
        let two = of("sap-goal0", Some(1));
        assert_eq!((two.benches.len(), two.missing.len()), (2, 0));
        assert_ne!(two.digest(), of("sap-goal0", Some(2)).digest());
        assert_eq!(two.digest(), of("sap-goal0", Some(1)).digest());
        let settings = two.benches[0].plan.stages[0].settings.len();
        let excluded = two.benches[0].plan.stages[0].excluded.len();
        assert_eq!(settings + excluded, 15 * 4);
    }

    #[test]
    fn what_lacks_weights_is_named_without_the_folders_of_this_machine() {
        let suite = Suite::find("images").unwrap();
        let narrowed = Narrowed::new(suite, "sap-goal0", None, Path::new("nowhere")).unwrap();
        assert!(narrowed.benches[0].plan.detectors().iter().any(|d| d.name == "offnominal"));
        let all = suite.campaigns(None).unwrap()[0].0.detectors.len();
        assert_eq!(narrowed.benches[0].plan.detectors().len() + narrowed.missing.len(), all);
        assert!(narrowed.missing.iter().all(|m| m.starts_with("detector ") && !m.contains("looked in")));
    }
}
