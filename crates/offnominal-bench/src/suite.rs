//! Suites: benchmarks that travel with the binary.
//!
//! A suite is a list of campaigns. It is run environment by environment: when all cells of an environment are
//! finished, its results are written beside those of the others, and an environment whose results are there is not
//! run again. So a suite may be spread over many calls and days, and whatever is made of its results says which
//! environments are still missing.

mod environment;
mod kept;
mod narrow;
mod run;
mod table;

pub use environment::Environment;
pub use run::{Ran, Request, State, page, run};
pub use table::Row;

use crate::campaign::Campaign;
use anyhow::{Context, Result, ensure};
use offnominal_core::suggest::did_you_mean;

/// A benchmark that travels with the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite {
    /// Its name.
    pub id: &'static str,
    /// Whether it can be run with nominal noise.
    pub takes_noise: bool,
    /// The names and texts of its campaign files.
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! campaigns {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../campaigns/", $name)))),*]
    };
}

/// Every suite.
pub const ALL: &[Suite] = &[
    Suite {
        id: "vector",
        takes_noise: true,
        files: campaigns![
            "vector.toml",
            "vector-slow.toml",
            "vector-policies.toml",
            "vector-accumulated.toml",
            "vector-accumulated-slow.toml",
        ],
    },
    Suite { id: "faults", takes_noise: false, files: campaigns!["faults.toml", "faults-slow.toml"] },
    Suite { id: "transfer", takes_noise: false, files: campaigns!["vector-transfer.toml"] },
    Suite {
        id: "images",
        takes_noise: false,
        files: campaigns!["images.toml", "images-slow.toml", "images-car.toml"],
    },
];

impl Suite {
    /// The suite of that name.
    ///
    /// # Errors
    /// If there is none; the nearest name is given.
    pub fn find(id: &str) -> Result<&'static Suite> {
        let known = || ALL.iter().map(|suite| suite.id).chain([crate::ood_rl::ID]);
        let hint = || did_you_mean(id, known());
        ALL.iter().find(|suite| suite.id == id).with_context(|| {
            format!(
                "no suite is called {id:?}{}; there are: {}",
                hint(),
                known().collect::<Vec<_>>().join(", ")
            )
        })
    }

    /// Its campaigns with their texts, each with so many repetitions at most, if that is given.
    ///
    /// # Errors
    /// If a campaign is wrong; its file is named.
    pub fn campaigns(&self, seeds: Option<u64>) -> Result<Vec<(Campaign, &'static str)>> {
        ensure!(seeds != Some(0), "seeds: expected at least 1, found 0");
        let read = |&(name, text): &(&str, &'static str)| {
            let campaign = Campaign::parse(text).with_context(|| format!("campaign {name}"))?;
            let seeds = seeds.map_or(campaign.seeds, |most| most.min(campaign.seeds));
            Ok((Campaign { seeds, ..campaign }, text))
        };
        self.files.iter().map(read).collect()
    }

    /// Its environments, in the order of the catalogue.
    ///
    /// # Errors
    /// If a campaign is wrong.
    pub fn environments(&self) -> Result<Vec<String>> {
        let campaigns = self.campaigns(None)?;
        let named = |id: &str| campaigns.iter().any(|(c, _)| c.envs.iter().any(|env| env == id));
        let catalogue = offnominal_engine::catalogues::environments();
        Ok(catalogue.entries().iter().map(|e| e.id.to_string()).filter(|id| named(id)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_environments_meet_what_the_others_meet() {
        let campaigns = Suite::find("vector").unwrap().campaigns(None).unwrap();
        let [fast, slow, policies, accumulated, accumulated_slow] =
            &campaigns.iter().map(|(campaign, _)| campaign).collect::<Vec<_>>()[..]
        else {
            panic!("five campaigns")
        };
        assert_eq!((&fast.detectors, &fast.anomalies), (&slow.detectors, &slow.anomalies));
        assert_eq!((&fast.strengths, fast.seed, fast.seeds), (&slow.strengths, slow.seed, slow.seeds));
        assert_eq!((fast.episodes.test, slow.episodes.test), (100, 50));
        assert_eq!((&fast.anomalies, fast.seed), (&policies.anomalies, policies.seed));
        assert!(policies.detectors.iter().all(|d| fast.detectors.contains(d)));
        for (few, all) in [(accumulated, fast), (accumulated_slow, slow)] {
            assert_eq!((&few.anomalies, &few.envs, few.seed), (&all.anomalies, &all.envs, all.seed));
            assert_eq!((&few.strengths, few.episodes), (&all.strengths, all.episodes));
        }
    }

    #[test]
    fn the_slow_environments_meet_the_same_faults() {
        let campaigns = Suite::find("faults").unwrap().campaigns(None).unwrap();
        let [(fast, _), (slow, _)] = &campaigns[..] else { panic!("two campaigns") };
        assert_eq!((&fast.detectors, &fast.anomalies), (&slow.detectors, &slow.anomalies));
        assert_eq!((&fast.strengths, fast.seed, fast.seeds), (&slow.strengths, slow.seed, slow.seeds));
        assert_eq!((fast.episodes.test, slow.episodes.test), (100, 50));
    }

    #[test]
    fn the_ten_environments_of_the_paper_are_in_it() {
        let environments = Suite::find("vector").unwrap().environments().unwrap();
        assert_eq!(environments.len(), 10, "{environments:?}");
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_one() {
        let error = Suite::find("vecor").unwrap_err().to_string();
        assert!(error.contains("did you mean \"vector\"?"), "{error}");
    }
}
