//! How the score of a policy answers to the magnitude of one anomaly.

use crate::calibrate::{Effort, Scale, disturbed, whole};
use anyhow::Result;
use offnominal_engine::subject::Subject;
use offnominal_stats::Level;
use offnominal_stats::calibrate::{Calibration, Grid, Request, Search as Sought, Verdict};
use offnominal_worlds::anomaly::{Domain, Search};

/// Episodes of the first look at a magnitude.
const PILOT: usize = 24;

/// The first look, as a share of the way to the limit.
const FIRST_LOOK: f64 = 1.0 / 64.0;

/// One anomaly of one policy in one environment.
pub(super) struct Response<'a> {
    pub subject: &'a Subject,
    pub anomaly: &'a str,
    pub scale: &'a Scale,
}

/// What one search found.
pub(super) struct Findings {
    pub verdicts: Vec<Verdict>,
    pub episodes: usize,
}

impl Response<'_> {
    /// Searches in one direction for the magnitudes with the given scores.
    pub fn find(&self, search: &Search, targets: Vec<f64>, effort: &Effort) -> Result<Findings> {
        let sought = Sought {
            neutral: search.neutral,
            ceiling: search.ceiling,
            first: (search.limit - search.neutral).abs() * FIRST_LOOK,
            grid: if search.domain == Domain::Whole { Grid::Whole } else { Grid::Continuous },
            targets,
            pilot: PILOT.min(effort.nominal),
            budget: effort.budget,
            tolerance: effort.tolerance,
            level: Level::P95,
        };
        let mut calibration = Calibration::new(sought, self.scale.nominal.clone())?;
        while let Some(request) = calibration.ask() {
            calibration.tell(&self.scores(&request)?)?;
        }
        Ok(Findings { verdicts: calibration.verdicts(), episodes: calibration.episodes_spent() })
    }

    fn scores(&self, request: &Request) -> Result<Vec<f64>> {
        let anomaly_spec = whole(self.anomaly, request.magnitude);
        let score = |i| {
            Ok(self.scale.normalise(disturbed(self.subject, self.scale, i, &anomaly_spec)?.total_reward()))
        };
        request.episodes.clone().map(score).collect()
    }
}
