//! What has to be counted before a requirement can be met, however good the policy and the monitor are: the fewest episodes
//! whose interval lies within the bound if everything goes well. Known before an audit starts, and said then.

use crate::counts::Count;
use crate::probe::Probe;
use crate::requirement::{Measure, Requirement};
use offnominal_core::estimate::Estimate;
use offnominal_report::number::plain;
use offnominal_stats::proportion::{clopper_pearson, wilson};
use offnominal_stats::{Level, StatsError};

/// The episodes of one kind that a requirement needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// The requirement.
    pub requirement: Requirement,
    /// Of which episodes.
    pub count: Count,
    /// How many.
    pub episodes: usize,
}

/// Beyond so many episodes nobody plays them.
const MOST: usize = 10_000_000;
/// Standard errors on each side of an interval of a mean.
const Z: f64 = 1.96;

/// The interval of a share.
type Interval = fn(usize, usize, Level) -> Result<Estimate, StatsError>;

impl Requirement {
    /// The episodes whose number decides how narrow the interval is.
    pub fn count(&self) -> Count {
        match self.measure {
            Measure::Risk => Count::Failures,
            Measure::Success | Measure::Return => Count::Evaluation,
            Measure::AurocMatched | Measure::DetectionRate | Measure::FalseAlarmRate => Count::Test,
        }
    }

    /// The episodes that it needs; none where their number does not decide.
    ///
    /// # Errors
    /// Why it cannot be met in any number of episodes.
    pub fn need(&self, probe: &Probe, alpha: f64) -> Result<Option<Need>, String> {
        let interval: Interval = match self.measure {
            Measure::Risk | Measure::Success => clopper_pearson,
            Measure::FalseAlarmRate | Measure::DetectionRate => wilson,
            Measure::AurocMatched => return Ok(None),
            Measure::Return => return self.need_of_return(probe),
        };
        self.can_be_met(probe, alpha)?;
        // Nothing but what the threshold lets through goes wrong.
        let wrong =
            |n: usize| if self.measure == Measure::FalseAlarmRate { (alpha * n as f64).round() } else { 0.0 };
        let best = |n: usize| {
            let found = interval(if self.at_least { n } else { wrong(n) as usize }, n, Level::P95);
            found.is_ok_and(|n| self.is_met_by(n.low, n.high))
        };
        let episodes = fewest(best).ok_or_else(|| {
            let end = if self.at_least { "1" } else { "0" };
            format!(
                "{self} cannot be shown: the interval of a share of {MOST} episodes does not end at {end}"
            )
        })?;
        Ok(Some(Need { requirement: self.clone(), count: self.count(), episodes }))
    }

    /// Whether the first look, or what the threshold promises, denies it.
    fn can_be_met(&self, probe: &Probe, alpha: f64) -> Result<(), String> {
        if self.measure == Measure::FalseAlarmRate && !self.at_least && self.bound <= alpha {
            return Err(format!(
                "{self} will hardly be met: the threshold promises {alpha} on average; give an --alpha below {}",
                self.bound
            ));
        }
        let seen = clopper_pearson(probe.failed, probe.episodes, Level::P95);
        let denied = |n: Estimate| self.measure == Measure::Risk && !self.is_met_by(n.high, n.low);
        let is_denied = !self.at_least && seen.is_ok_and(denied);
        if is_denied {
            return Err(format!(
                "{self} will not be met: {} of {} episodes of the first look failed",
                probe.failed, probe.episodes
            ));
        }
        Ok(())
    }

    /// The episodes after which the interval of a mean return is narrow enough, if it is as in the first look.
    fn need_of_return(&self, probe: &Probe) -> Result<Option<Need>, String> {
        let [mean, sd] = probe.returns;
        let gap = if self.at_least { mean - self.bound } else { self.bound - mean };
        let error = sd / (probe.episodes as f64).sqrt();
        if gap < -3.0 * error {
            return Err(format!(
                "{self} will not be met: the first look has a mean return of {}",
                plain(mean)
            ));
        }
        if gap <= 0.0 {
            return Ok(None);
        }
        let episodes = (Z * sd / gap).powi(2).ceil().clamp(2.0, MOST as f64) as usize;
        Ok(Some(Need { requirement: self.clone(), count: self.count(), episodes }))
    }
}

impl Need {
    /// Which episodes, in words.
    pub fn what(&self) -> &'static str {
        match (self.requirement.measure, self.requirement.at_least) {
            (Measure::Risk, _) => "episodes without a failure",
            (Measure::Success, true) => "episodes that all succeed",
            (Measure::FalseAlarmRate, _) => "nominal test episodes with as few alarms as promised",
            (Measure::DetectionRate, true) => "test episodes of each fault, all with an alarm",
            _ => "episodes",
        }
    }
}

/// The smallest number from which on something holds; none up to the largest.
fn fewest(holds: impl Fn(usize) -> bool) -> Option<usize> {
    let mut high = 1;
    while !holds(high) {
        high = if high >= MOST { return None } else { (2 * high).min(MOST) };
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirement::parse;

    fn probe(failed: usize) -> Probe {
        Probe { failed, returns: [10.0, 5.0], ..crate::plan::tests_probe(0.01) }
    }

    fn need(text: &str, failed: usize) -> Result<Option<usize>, String> {
        let found = parse(text).unwrap()[0].need(&probe(failed), 0.05)?;
        Ok(found.map(|need| need.episodes))
    }

    #[test]
    fn counts_are_those_of_the_closed_forms() {
        // (1 − p)ⁿ ≤ 0.025, the rule that `risk budget --show-below` states.
        assert_eq!(need("risk <= 1e-2", 0), Ok(Some(368)));
        assert_eq!(need("risk <= 1e-3", 0), Ok(Some(3688)));
        assert_eq!(need("success >= .99", 0), Ok(Some(368)));
        // Wilson's interval of n of n begins at n / (n + z²).
        let z: f64 = 1.959_963_985;
        assert_eq!(need("detection_rate(tiny) >= .9", 0), Ok(Some((9.0 * z * z).ceil() as usize)));
        assert_eq!(need("return >= 9", 0), Ok(Some(97)));
        assert_eq!(need("auroc_matched >= .8", 0), Ok(None));
        assert!(need("false_alarm_rate <= .1", 0).unwrap().is_some_and(|n| (50..500).contains(&n)));
    }

    #[test]
    fn what_no_number_shows_and_what_the_first_look_denies_is_said() {
        assert!(need("risk <= 0", 0).unwrap_err().contains("cannot be shown"));
        assert!(need("success >= 1", 0).unwrap_err().contains("cannot be shown"));
        assert!(need("risk <= 1e-2", 12).unwrap_err().contains("12 of 24 episodes of the first look failed"));
        assert!(need("false_alarm_rate <= .05", 0).unwrap_err().contains("give an --alpha below 0.05"));
        assert!(need("return >= 90", 0).unwrap_err().contains("mean return of 10"));
    }
}
