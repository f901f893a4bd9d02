//! Results of other detectors that stand while some are run again.

use crate::suite::narrow::{Narrowed, Selection};
use crate::suite::{Environment, Row};
use anyhow::Result;

/// What an environment's results say of detectors that are not asked for.
pub(super) struct Kept {
    environment: Environment,
    rows: Vec<Row>,
    /// The detectors of both, in the order of the suite.
    pub detectors: Vec<String>,
}

impl Kept {
    /// What stands of earlier results: all but the detectors that are asked for, if the rest of the specification is the
    /// same. Nothing if all detectors are asked for.
    ///
    /// # Errors
    /// If the table cannot be read, or a campaign is wrong.
    pub fn of(request: &Selection<'_>, env: &str, there: Option<Environment>) -> Result<Option<Kept>> {
        let Some(there) = there.filter(|_| !request.detectors.is_empty()) else { return Ok(None) };
        let all = request.suite.campaigns(None)?;
        let all: Vec<&String> =
            all.iter().flat_map(|(campaign, _)| &campaign.detectors).map(|d| &d.choice.name).collect();
        if !there.detectors.iter().all(|name| all.contains(&name)) {
            return Ok(None);
        }
        let before = Selection { detectors: &there.detectors, seeds: Some(there.seeds), ..*request };
        let repetitions = |n: Option<u64>| Ok::<_, anyhow::Error>(request.suite.campaigns(n)?[0].0.seeds);
        let is_same = Narrowed::new(&before, env)?.digest() == there.digest;
        if !is_same || repetitions(request.seeds)? != there.seeds {
            return Ok(None);
        }
        let rows = there.rows(request.out)?;
        let is_there = |name: &String| there.detectors.contains(name) || request.detectors.contains(name);
        let mut detectors: Vec<String> = Vec::new();
        for name in all {
            if is_there(name) && !detectors.contains(name) {
                detectors.push(name.clone());
            }
        }
        Ok(Some(Kept { environment: there, rows, detectors }))
    }

    /// Adds what stands to what was found.
    pub fn join(self, found: &mut Environment, rows: &mut Vec<Row>) {
        let is_new = |detector: &str| found.detectors.iter().any(|name| name == detector);
        let Environment { coverage, diagnoses, .. } = self.environment;
        let standing = self.rows.into_iter().filter(|row| !is_new(&row.detector));
        *rows = standing.chain(std::mem::take(rows)).collect();
        found.coverage.extend(coverage.into_iter().filter(|c| !is_new(&c.detector)));
        if found.diagnoses.is_empty() {
            found.diagnoses = diagnoses;
        }
        found.detectors = self.detectors;
    }
}
