//! What was estimated where a low-fidelity environment may have helped, and which settings go with that.

use super::multifidelity;
use super::{Goal, Report, Request};
use anyhow::{Result, ensure};
use offnominal_engine::scenario::ScenarioRequest;
use serde::Serialize;
use std::fmt;

/// What was estimated, of episodes in one environment alone, or helped by those in a low-fidelity one.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Answered {
    /// In one environment.
    Alone(Box<Report>),
    /// In a high-fidelity one, with the help of a low-fidelity one.
    Helped(Box<multifidelity::report::Report>),
}

impl Answered {
    /// Why the estimate is not acceptable: its whole interval must be at most `most`.
    pub fn unacceptable(&self, most: f64) -> Option<String> {
        match self {
            Answered::Alone(report) => report.unacceptable(most),
            Answered::Helped(report) => report.unacceptable(most),
        }
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answered::Alone(report) => report.fmt(f),
            Answered::Helped(report) => report.fmt(f),
        }
    }
}

impl Request {
    /// Refuses what says how initial conditions are chosen, or what else is drawn: pairs are plain draws.
    pub(super) fn fits_cheap(&self, cheap: &str) -> Result<()> {
        let given = [
            ("scenario", self.scenario != ScenarioRequest::default()),
            ("anomaly", self.anomaly.is_some()),
            ("method", self.method.is_some()),
            ("predictor", self.predictor.is_some()),
            ("exponent", self.exponent.is_some()),
            ("goal", self.goal != Goal::Estimate),
            ("plain share", self.plain_share.is_some()),
            ("top share", self.top_share.is_some()),
            ("rate", self.rate.is_some()),
        ];
        let wrong = given.iter().find_map(|(name, is_given)| is_given.then_some(*name)).unwrap_or_default();
        ensure!(
            wrong.is_empty(),
            "{wrong}: expected none with the low-fidelity environment {cheap}, because pairs are plain draws of the high-fidelity one"
        );
        Ok(())
    }
}
