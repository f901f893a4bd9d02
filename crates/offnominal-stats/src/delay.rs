//! How soon an alarm follows an anomaly, and how often it comes too early or not at all.
//!
//! An **alarm** is a score above the threshold. Alarms do not latch: after an early alarm the monitor goes on. Only
//! episodes that reach their onset o count as anomalous; T is the episode's length, a* its first alarm at all, and a
//! its first alarm at or after o.
//!
//! | metric             | definition                                               | of                       | interval  |
//! |--------------------|----------------------------------------------------------|--------------------------|-----------|
//! | `delay_median`     | median of a − o, ∞ without a                             | anomalous episodes       | order statistics |
//! | `delay_restricted` | mean of min(a − o, 50), 50 without a                      | anomalous episodes       | bootstrap; exact where all are equal |
//! | `d5`, `d10`, `d20` | a − o ≤ j                                                | anomalous episodes       | Wilson    |
//! | `detection_rate`   | a exists                                                 | anomalous episodes       | Wilson    |
//! | `missing_rate`     | a does not exist                                         | anomalous episodes       | Wilson    |
//! | `early_rate`       | a* < o                                                   | those with o > 0         | Wilson    |
//! | `before_failure_rate` | a before the last step                                | those that end in failure | Wilson   |
//! | `before_failure_20_rate` | a at least 20 steps before the last | those that end in failure, and that late | Wilson |
//! | `false_alarm_rate` | any alarm                                                | twins, nominal episodes  | Wilson    |
//!
//! A missed anomaly is never found: its delay is ∞, not censored. An anomaly can end its episode, by failure or by
//! success, so the end tells of the time that was not seen, and Kaplan–Meier, which assumes that it does not, would
//! credit detections that never come. The median is therefore reached only if more than half are detected.
//! Its interval is a pair of order statistics, ranks r and n + 1 − r with P(Bin(n, ½) < r) ≤ α/2, which never covers
//! less than the level; with too few episodes for a rank it is all delays, 0 to ∞.
//!
//! Medians compare two detectors only where both reach them, which are the easy anomalies. The restricted mean compares
//! them everywhere: it is the area above the delay curve up to 50 steps, at which it counts a missed anomaly.
//!
//! An alarm in the step that fails comes too late to act on: it counts as a detection but not as one before the failure.
//!
//! An early alarm is a false alarm: it enters `early_rate` and neither helps nor hurts the rest. The Anomaly-Gym paper
//! (section 6.2) counts from a* instead, so an early alarm is a *negative* delay; [`Delays::published`] gives its
//! readings: the plain median of a* − o over all anomalous episodes, missed ones with T; the share with 0 ≤ a* − o ≤ j;
//! the share without any alarm; and the share of early ones among the episodes *with* an alarm.

use crate::bootstrap::{Bootstrap, if_equal, nearest_rank};
use crate::proportion::wilson;
use crate::{Level, ScoredEpisode, StatsError};
use offnominal_core::estimate::Estimate;
use statrs::distribution::{Binomial, DiscreteCDF};

/// Where the restricted mean delay ends, in steps.
pub const RESTRICTED_TO: u32 = 50;

/// An estimate, or why there is none.
pub type Outcome = Result<Estimate, StatsError>;

/// What the alarms of one anomalous episode say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Response {
    /// First anomalous step.
    onset: u32,
    /// Number of steps.
    len: u32,
    /// First alarm at all.
    first: Option<u32>,
    /// First alarm at or after the onset.
    after: Option<u32>,
    /// Whether the last step is a failure.
    fails: bool,
}

impl Response {
    /// None if the episode has no anomaly, or ended before it.
    fn of(episode: &ScoredEpisode, threshold: f64) -> Option<Response> {
        let onset = episode.onset_reached()?;
        let alarm = |from: usize| {
            let found = episode.scores[from..].iter().position(|&s| s > threshold);
            found.map(|steps| (from + steps) as u32)
        };
        let (onset_step, len) = (onset as u32, episode.scores.len() as u32);
        Some(Response { onset: onset_step, len, first: alarm(0), after: alarm(onset), fails: episode.fails })
    }

    /// Steps from the onset to the first alarm from then on.
    fn delay(&self) -> Option<u32> {
        self.after.map(|alarm| alarm - self.onset)
    }

    fn is_early(&self) -> bool {
        self.first.is_some_and(|alarm| alarm < self.onset)
    }

    /// Whether there were so many steps from the onset to the failure.
    fn fails_after(&self, steps: u32) -> bool {
        self.fails && self.onset + steps < self.len
    }

    fn is_before_failure_by(&self, steps: u32) -> bool {
        self.after.is_some_and(|alarm| alarm + steps < self.len)
    }

    /// The paper's delay: negative for an early alarm, the length of the episode for none.
    fn published_delay(&self) -> f64 {
        self.first.map_or(f64::from(self.len), |alarm| f64::from(alarm) - f64::from(self.onset))
    }
}

/// The responses of one detector at one threshold.
#[derive(Debug, Clone)]
pub struct Delays {
    responses: Vec<Response>,
    nominal: usize,
    false_alarms: usize,
    plan: Bootstrap,
}

/// Reads the alarms of scored episodes: alarms are scores above the threshold.
///
/// # Errors
/// If an episode is invalid or the threshold is not a number.
pub fn delays(episodes: &[ScoredEpisode], threshold: f64, plan: &Bootstrap) -> Result<Delays, StatsError> {
    episodes.iter().enumerate().try_for_each(|(i, e)| e.check(i))?;
    StatsError::within(!threshold.is_nan(), "threshold", "a number", threshold)?;
    let alarms: Vec<bool> =
        episodes.iter().flat_map(nominal_scores).map(|s| s.iter().any(|&x| x > threshold)).collect();
    Ok(Delays {
        responses: episodes.iter().filter_map(|e| Response::of(e, threshold)).collect(),
        nominal: alarms.len(),
        false_alarms: alarms.iter().filter(|&&alarm| alarm).count(),
        plan: *plan,
    })
}

/// The nominal episodes in a pair: the twin, or the episode itself if nothing is done to it.
fn nominal_scores(episode: &ScoredEpisode) -> Option<&Vec<f64>> {
    let untouched = episode.onset.is_none() && !episode.labels.contains(&true);
    episode.twin.as_ref().or(untouched.then_some(&episode.scores))
}

impl Delays {
    /// Median delay, missed anomalies with ∞; an infinite upper end says that the median may not be reached.
    ///
    /// # Errors
    /// [`StatsError::MedianNotReached`] unless more than half of the anomalies are detected.
    pub fn median(&self) -> Outcome {
        let n = self.responses.len();
        StatsError::require("median delay", 2, "anomalous episodes", n)?;
        let mut sorted: Vec<f64> =
            self.responses.iter().map(|r| r.delay().map_or(f64::INFINITY, f64::from)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (low, high) = order_statistics(&sorted, self.plan.level);
        let value = weighted_median(&sorted, &vec![1; n]);
        if value.is_infinite() {
            let detected = sorted.iter().filter(|d| d.is_finite()).count();
            return Err(StatsError::MedianNotReached { detected, n, low });
        }
        Ok(self.plan.level.estimate(value, (low, high), n, "order-statistics"))
    }

    /// Mean delay, in which no delay counts more than `last` steps, and a missed anomaly as many.
    ///
    /// # Errors
    /// If there are fewer than two anomalous episodes.
    pub fn restricted_mean(&self, last: u32) -> Outcome {
        let delays: Vec<f64> =
            self.responses.iter().map(|r| f64::from(r.delay().unwrap_or(last).min(last))).collect();
        StatsError::require("restricted mean delay", 2, "anomalous episodes", delays.len())?;
        let mean = |weights: &[u32]| {
            let sum = delays.iter().zip(weights).map(|(delay, &w)| delay * f64::from(w)).sum::<f64>();
            Some([sum / weights.iter().map(|&w| f64::from(w)).sum::<f64>()])
        };
        let value = delays.iter().sum::<f64>() / delays.len() as f64;
        if delays.iter().all(|delay| *delay == delays[0]) {
            let ends = if_equal(value, (0.0, f64::from(last)), delays.len(), self.plan.level);
            return Ok(self.plan.level.estimate(value, ends, delays.len(), "equal-values"));
        }
        Ok(self.percentile_interval(value, delays.len(), &mean))
    }

    fn percentile_interval(
        &self,
        value: f64,
        n: usize,
        statistic: &impl Fn(&[u32]) -> Option<[f64; 1]>,
    ) -> Estimate {
        let draws = self.plan.replicate(&vec![0; n], statistic);
        let mut draws: Vec<f64> = draws.into_iter().map(|[value]| value).collect();
        draws.sort_unstable_by(f64::total_cmp);
        let level = self.plan.level;
        let ends = (nearest_rank(&draws, level.tail()), nearest_rank(&draws, 1.0 - level.tail()));
        level.estimate(value, ends, n, "bootstrap-percentile")
    }

    /// Share of anomalies with an alarm within `j` steps of the onset.
    ///
    /// # Errors
    /// If there are no anomalous episodes.
    pub fn within(&self, j: u32) -> Outcome {
        self.share(|r| r.delay().is_some_and(|delay| delay <= j))
    }

    /// The delay curve: [`Delays::within`] for j = 0 … `last`, each with a pointwise interval.
    ///
    /// # Errors
    /// If there are no anomalous episodes.
    pub fn curve(&self, last: u32) -> Result<Vec<Estimate>, StatsError> {
        (0..=last).map(|j| self.within(j)).collect()
    }

    /// Share of nominal episodes (twins, and episodes without anomaly) with an alarm.
    ///
    /// # Errors
    /// If there are no nominal episodes.
    pub fn false_alarm_rate(&self) -> Outcome {
        StatsError::require("false alarm rate", 1, "nominal episodes", self.nominal)?;
        wilson(self.false_alarms, self.nominal, self.plan.level)
    }

    /// Name in results and outcome of each metric.
    pub fn rows(&self) -> [(&'static str, Outcome); 11] {
        // Where every anomaly is there from the start, no alarm can be early.
        let with_steps_before = "anomalous episodes with a step before the onset";
        let failing = "anomalous episodes that end in failure";
        let late = "anomalous episodes that end in failure at least 20 steps after the onset";
        [
            ("delay_median", self.median()),
            ("delay_restricted", self.restricted_mean(RESTRICTED_TO)),
            ("d5", self.within(5)),
            ("d10", self.within(10)),
            ("d20", self.within(20)),
            ("missing_rate", self.share(|r| r.after.is_none())),
            ("early_rate", self.share_of(with_steps_before, |r| r.onset > 0, Response::is_early)),
            ("before_failure_rate", self.share_of(failing, |r| r.fails, |r| r.is_before_failure_by(1))),
            (
                "before_failure_20_rate",
                self.share_of(late, |r| r.fails_after(20), |r| r.is_before_failure_by(20)),
            ),
            ("false_alarm_rate", self.false_alarm_rate()),
            ("detection_rate", self.share(|r| r.after.is_some())),
        ]
    }

    /// The readings of the Anomaly-Gym paper where they differ, under the same names.
    pub fn published(&self) -> [(&'static str, Outcome); 6] {
        let within =
            |j: f64| self.share(move |r| r.first.is_some() && (0.0..=j).contains(&r.published_delay()));
        let alarmed = "episodes with an alarm";
        [
            ("delay_median", self.published_median()),
            ("d5", within(5.0)),
            ("d10", within(10.0)),
            ("d20", within(20.0)),
            ("missing_rate", self.share(|r| r.first.is_none())),
            ("early_rate", self.share_of(alarmed, |r| r.first.is_some(), Response::is_early)),
        ]
    }

    fn published_median(&self) -> Outcome {
        let mut delays: Vec<f64> = self.responses.iter().map(Response::published_delay).collect();
        StatsError::require("median delay", 2, "anomalous episodes", delays.len())?;
        delays.sort_unstable_by(f64::total_cmp);
        let median = |weights: &[u32]| Some([weighted_median(&delays, weights)]);
        let value = weighted_median(&delays, &vec![1; delays.len()]);
        // A median has no influence values to accelerate with.
        Ok(self.percentile_interval(value, delays.len(), &median))
    }

    fn share(&self, holds: impl Fn(&Response) -> bool) -> Outcome {
        self.share_of("anomalous episodes", |_| true, holds)
    }

    /// The share of the responses of one kind that something holds of; an error says what there is none of.
    fn share_of(
        &self,
        kind: &'static str,
        is_of_kind: impl Fn(&Response) -> bool,
        holds: impl Fn(&Response) -> bool,
    ) -> Outcome {
        let of: Vec<&Response> = self.responses.iter().filter(|r| is_of_kind(r)).collect();
        StatsError::require("share of alarms", 1, kind, of.len())?;
        wilson(of.iter().filter(|r| holds(r)).count(), of.len(), self.plan.level)
    }
}

/// The interval of a median of sorted delays: ranks r and n + 1 − r with P(Bin(n, ½) < r) ≤ α/2; 0 to ∞ if none is.
fn order_statistics(sorted: &[f64], level: Level) -> (f64, f64) {
    let n = sorted.len();
    let coin = Binomial::new(0.5, n as u64).expect("one half is a probability");
    let rank = (1..=n).take_while(|&r| coin.cdf(r as u64 - 1) <= level.tail()).last();
    rank.map_or((0.0, f64::INFINITY), |r| (sorted[r - 1], sorted[n - r]))
}

/// The median of sorted values that count as often as their weights say; the mean of the two middle ones if even.
fn weighted_median(sorted: &[f64], weights: &[u32]) -> f64 {
    let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    let at = |rank: u64| {
        let mut passed = 0;
        let reached = |&(_, &w): &(&f64, &u32)| {
            passed += u64::from(w);
            passed > rank
        };
        *sorted.iter().zip(weights).find(reached).expect("the weights are those of a draw").0
    };
    0.5 * (at((total - 1) / 2) + at(total / 2))
}

#[cfg(test)]
mod tests;
