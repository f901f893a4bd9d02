//! What a lower threshold buys: the share of anomalies found in time against the share of nominal episodes with an alarm.
//!
//! Thresholds differ between detectors, episode false-alarm rates can be compared: at each rate the curve says how many
//! anomalies are found within j steps. Its points are all that are possible: one threshold at each largest score of a
//! nominal episode, from the highest, which has no false alarm, down to one below all scores.

use super::nominal_scores;
use crate::proportion::wilson;
use crate::{Level, ScoredEpisode, StatsError};
use offnominal_core::estimate::Estimate;

/// One threshold of the curve.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    /// Alarms are scores above this.
    pub threshold: f64,
    /// Share of nominal episodes (twins, and episodes without anomaly) with an alarm.
    pub false_alarm_rate: Estimate,
    /// Share of anomalies with an alarm within so many steps of the onset.
    pub detected: Estimate,
}

/// The curve for alarms within `j` steps of the onset, from no false alarm to an alarm in every nominal episode.
///
/// # Errors
/// If an episode is invalid, or there are no nominal or no anomalous ones.
pub fn trade_off(episodes: &[ScoredEpisode], j: u32, level: Level) -> Result<Vec<TradeOff>, StatsError> {
    episodes.iter().enumerate().try_for_each(|(i, e)| e.check(i))?;
    let nominal = sorted(episodes.iter().filter_map(nominal_scores).map(|s| largest(s)));
    let anomalous = sorted(episodes.iter().filter_map(|e| in_time(e, j)));
    StatsError::require("trade-off", 1, "nominal episodes", nominal.len())?;
    StatsError::require("trade-off", 1, "anomalous episodes", anomalous.len())?;
    let above = |sorted: &[f64], x: f64| sorted.len() - sorted.partition_point(|&s| s <= x);
    let mut thresholds: Vec<f64> = nominal.iter().rev().copied().collect();
    thresholds.dedup();
    thresholds.push(f64::NEG_INFINITY);
    let point = |threshold: f64| {
        Ok(TradeOff {
            threshold,
            false_alarm_rate: wilson(above(&nominal, threshold), nominal.len(), level)?,
            detected: wilson(above(&anomalous, threshold), anomalous.len(), level)?,
        })
    };
    thresholds.into_iter().map(point).collect()
}

/// The point with the most detections among those with at most so many false alarms; the first if there are none.
///
/// # Panics
/// If the curve has no points.
pub fn at_most(curve: &[TradeOff], false_alarm_rate: f64) -> &TradeOff {
    curve.iter().take_while(|p| p.false_alarm_rate.value <= false_alarm_rate).last().unwrap_or(&curve[0])
}

/// The largest score from the onset to `j` steps later; `None` if the onset is not reached.
fn in_time(episode: &ScoredEpisode, j: u32) -> Option<f64> {
    let onset = episode.onset_reached()?;
    let end = (onset + j as usize + 1).min(episode.scores.len());
    Some(largest(&episode.scores[onset..end]))
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bootstrap, delays};
    use offnominal_core::{Rng, Seed};

    #[test]
    fn a_curve_in_closed_form() {
        let pair = |twin: f64, at_onset: f64, later: f64| {
            ScoredEpisode::persistent(vec![0.0, at_onset, later], 1, Some(vec![0.0, twin]))
        };
        let episodes = [pair(1.0, 1.5, 9.0), pair(2.0, 0.0, 3.0), pair(2.0, 2.5, 0.0)];
        let rates = |j| {
            let curve = trade_off(&episodes, j, Level::P95).unwrap();
            curve.iter().map(|p| (p.false_alarm_rate.value, p.detected.value)).collect::<Vec<_>>()
        };
        let third = 1.0 / 3.0;
        assert_eq!(rates(0), [(0.0, third), (2.0 * third, 2.0 * third), (1.0, 1.0)]);
        assert_eq!(rates(1), [(0.0, 1.0), (2.0 * third, 1.0), (1.0, 1.0)]);
        let curve = trade_off(&episodes, 0, Level::P95).unwrap();
        assert_eq!((at_most(&curve, 0.5).threshold, at_most(&curve, 0.7).threshold), (2.0, 1.0));
    }

    #[test]
    fn each_point_is_what_the_metrics_say_at_its_threshold() {
        let mut rng = Rng::new(6);
        let mut scores = |n: usize| (0..n).map(|_| rng.below(6) as f64).collect::<Vec<f64>>();
        let episodes: Vec<_> =
            (0..25).map(|k| ScoredEpisode::persistent(scores(12), k % 10, Some(scores(12)))).collect();
        let plan = Bootstrap::new(10, Level::P95, Seed(0));
        for point in trade_off(&episodes, 3, Level::P95).unwrap() {
            let found = delays(&episodes, point.threshold, &plan).unwrap();
            assert_eq!(found.within(3).unwrap(), point.detected);
            assert_eq!(found.false_alarm_rate().unwrap(), point.false_alarm_rate);
        }
    }

    #[test]
    fn nothing_to_trade_is_an_error() {
        let error = trade_off(&[ScoredEpisode::nominal(vec![1.0])], 5, Level::P95).unwrap_err();
        assert_eq!(error.to_string(), "trade-off: expected at least 1 anomalous episodes, found 0");
    }
}
