//! When pairs are enough.

use crate::estimate::Request;
use offnominal_stats::Level;
use offnominal_stats::risk::Multifidelity;
use serde::Serialize;
use strum::IntoStaticStr;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    width: Option<f64>,
    max_risk: Option<f64>,
    level: Level,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stop {
    /// The interval is as narrow as was asked for.
    Narrow,
    /// The whole interval lies below the largest acceptable risk.
    Below,
    /// The whole interval lies above the largest acceptable risk.
    Above,
    /// All pairs were played.
    Episodes,
}

impl Ending {
    /// That of a request.
    pub fn of(request: &Request, level: Level) -> Ending {
        Ending { width: request.width, max_risk: request.decided(), level }
    }

    /// What is reached by now, if it is enough to stop.
    pub fn reached(&self, found: &Multifidelity) -> Option<Stop> {
        let narrow = self.width.is_some_and(|width| found.is_within(width, self.level));
        let below = self.max_risk.is_some_and(|most| found.is_below(most, self.level));
        let above = self.max_risk.is_some_and(|most| found.is_above(most, self.level));
        let all = [(narrow, Stop::Narrow), (below, Stop::Below), (above, Stop::Above)];
        all.into_iter().find_map(|(is, stop)| is.then_some(stop))
    }

    /// What is reached where there are no more pairs.
    pub fn at_the_end(&self, found: &Multifidelity) -> Stop {
        self.reached(found).unwrap_or(Stop::Episodes)
    }
}
