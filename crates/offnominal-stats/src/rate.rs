//! False alarms per hour of operation, from nominal episodes of any lengths.
//!
//! An episode has one alarm, A = 1, or none, and lasts T hours. A threshold at the k-th smallest of n episode maxima, with
//!
//! k = n + 1 − ⌊ρ H⌋, H = Σ Tᵢ the hours of the n episodes,
//!
//! keeps E A ≤ ρ E T for the next episode, so at most ρ alarms an hour in the long run, on average over calibration sets.
//! Nothing is assumed of lengths; episodes with their lengths must be exchangeable. It is conformal risk control of the loss
//! 1{maximum > threshold} − ρ T, which falls with the threshold and is at most 1: the mean loss over n + 1 episodes, of which
//! the unknown one costs 1, must not be above 0. So H must be 1/ρ at least: one alarm a day needs a day without a fault.
//!
//! This is the conformal threshold for the share α = ⌊ρ H⌋ / (n + 1) of episodes.
//!
//! Reference: Angelopoulos, Bates, Fisch, Lei and Schuster, "Conformal risk control", arXiv 2208.02814, theorem 1.

use crate::mean::student_t;
use crate::promise::{Promise, false_alarms};
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// At most so many alarms an hour, where an episode has one at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Alarms an hour, ρ.
    pub per_hour: f64,
    /// Seconds of a step.
    pub dt_secs: f64,
}

impl Rate {
    /// The hours of so many steps.
    pub fn hours(&self, steps: usize) -> f64 {
        steps as f64 * self.dt_secs / 3600.0
    }

    /// The share of episodes whose promise keeps the rate, from the steps of each calibration episode.
    ///
    /// # Errors
    /// If the rate is no number above zero, the episodes are too short together, or each of them may have an alarm.
    pub fn promise(&self, steps: &[usize]) -> Result<Promise, StatsError> {
        let (per_hour, found) = (self.per_hour, self.hours(steps.iter().sum()));
        let is_sound = per_hour.is_finite() && per_hour > 0.0;
        StatsError::within(is_sound, "false alarms an hour", "a number above zero", per_hour)?;
        // As of `Promise::rank`: ten times a tenth is no less than one.
        let alarms = (per_hour * found + 1e-9).floor();
        if alarms < 1.0 {
            return Err(StatsError::TooShort { per_hour, needed: 1.0 / per_hour, found });
        }
        let n = steps.len() as f64;
        if alarms > n {
            return Err(StatsError::TooOften { per_hour, most: n / found });
        }
        Ok(Promise::on_average(alarms / (n + 1.0)))
    }
}

/// Alarms an hour in nominal episodes, of which a share has one and these are some of the lengths in hours.
///
/// With equal lengths the interval is as exact as that of the share, whose Beta law it is; else both, the share and the mean
/// length, have intervals of half the error, that of the length by Student.
///
/// # Errors
/// If the share is not that of a [rank](false_alarms) among as many episodes, or they last no time.
pub fn per_hour(share: &Estimate, hours: &[f64], level: Level) -> Result<Estimate, StatsError> {
    StatsError::same_length("hours", share.n, hours.len())?;
    let (n, total) = (share.n, hours.iter().sum::<f64>());
    StatsError::within(total > 0.0, "hours", "a time above zero", total)?;
    let mean = total / n as f64;
    let rank = n + 1 - (share.value * (n + 1) as f64).round() as usize;
    let estimate = |share: &Estimate, [short, long]: [f64; 2], method| {
        // A mean of which no positive bound is known bounds no rate.
        let high = if short > 0.0 { share.high / short } else { f64::INFINITY };
        level.estimate(share.value / mean, (share.low / long, high), n, method)
    };
    if hours.iter().all(|h| *h == hours[0]) {
        return Ok(estimate(&false_alarms(rank, n, level), [mean; 2], "conformal-beta"));
    }
    let length = student_t(hours, level.halved())?;
    let share = false_alarms(rank, n, level.halved());
    Ok(estimate(&share, [length.low, length.high], "conformal-beta and student-t"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use offnominal_core::{Rng, Seed};

    const HOURLY: Rate = Rate { per_hour: 0.5, dt_secs: 36.0 };

    #[test]
    fn the_share_follows_from_the_hours() {
        // Hundred steps are an hour: 30 hours may have 15 alarms in 20 episodes and the one to come.
        let promise = HOURLY.promise(&[150; 20]).unwrap();
        assert_eq!(promise, Promise::on_average(15.0 / 21.0));
        assert_eq!(promise.rank(20), 6);
        assert!(
            HOURLY.promise(&[10; 20]).unwrap().rank(20) == 20,
            "exactly two hours, which one alarm needs"
        );
    }

    #[test]
    fn what_cannot_be_promised_is_refused_with_what_is_needed() {
        let refused = |rate: Rate, steps: &[usize]| rate.promise(steps).unwrap_err().to_string();
        assert_eq!(
            refused(HOURLY, &[10; 19]),
            "0.5 false alarms an hour: expected at least 2 h of nominal calibration episodes, found 1.9 h: record more, or \
             accept 0.5266 an hour or more; for a stream, the rule run-length can promise rarer alarms than once in its calibration"
        );
        assert_eq!(
            refused(HOURLY, &[1000; 4]),
            "0.5 false alarms an hour: expected a rate below 0.1, one alarm an episode, as an episode counts one alarm at most; \
             cut episodes into shorter ones, or ask for fewer alarms"
        );
        let none = Rate { per_hour: 0.0, ..HOURLY };
        assert_eq!(refused(none, &[10]), "false alarms an hour: expected a number above zero, found 0");
    }

    #[test]
    fn the_rate_is_the_share_by_the_length() {
        let share = false_alarms(95, 99, Level::P95);
        let equal = per_hour(&share, &[2.0; 99], Level::P95).unwrap();
        assert!((equal.value - 0.025).abs() < 1e-12 && (equal.high - share.high / 2.0).abs() < 1e-12);
        let hours: Vec<f64> = (0..99).map(|i| if i % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let mixed = per_hour(&share, &hours, Level::P95).unwrap();
        assert!(mixed.low < equal.low && mixed.high > equal.high, "{mixed}");
        assert!(per_hour(&share, &[2.0; 98], Level::P95).is_err());
    }

    /// Episodes whose scores grow with their length, which is anything from 1 to 80 steps.
    fn episodes(n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut one = || {
            let (level, steps) = (rng.normal(), 1 + (80.0 * rng.uniform().powi(3)) as usize);
            (0..steps).map(|_| level + rng.normal()).collect()
        };
        (0..n).map(|_| one()).collect()
    }

    /// Alarms an hour in new episodes, over calibration sets; whether rates keep their promise, and how often intervals do.
    fn realised(sets: u64) -> (f64, f64, f64) {
        let rate = Rate { per_hour: 0.5, dt_secs: 36.0 };
        let (mut alarms, mut hours, mut squares, mut covered) = (0.0, 0.0, 0.0, 0.0);
        // The true mean length, by a sum over the law of the length.
        let mean_hours = (1..=80).map(|k| (1.0 - ((k - 1) as f64 / 80.0).cbrt()) * 0.01).sum::<f64>();
        for set in 0..sets {
            let mut rng = Seed(set).child("rates").rng();
            let nominal = episodes(60, &mut rng);
            let rule = Rule::Rate(rate);
            let found = rule.threshold(&nominal, Level::P95).unwrap();
            let of: Vec<f64> = nominal.iter().map(|e| rate.hours(e.len())).collect();
            let expected = per_hour(found.false_alarms.as_ref().unwrap(), &of, Level::P95).unwrap();
            let fresh = episodes(400, &mut rng);
            let n = fresh.iter().filter(|e| found.alarms(e)).count() as f64;
            let surplus = n - rate.per_hour * fresh.iter().map(|e| rate.hours(e.len())).sum::<f64>();
            (alarms, hours) = (alarms + n, hours + 400.0 * mean_hours);
            squares += surplus * surplus;
            // 400 episodes say the rate of a set up to their own noise, for which the interval is widened.
            let noise = 3.0 * n.max(1.0).sqrt() / (400.0 * mean_hours);
            let truth = n / (400.0 * mean_hours);
            covered += f64::from(u8::from(expected.low - noise <= truth && truth <= expected.high + noise));
        }
        (alarms / hours, squares.sqrt() / hours, covered / sets as f64)
    }

    #[test]
    fn the_rate_is_kept_where_long_episodes_alarm_more_often() {
        let sets = if std::env::var("RUN_SLOW_TESTS").is_ok() { 2_000 } else { 200 };
        let (found, noise, covered) = realised(sets);
        assert!(found <= 0.5 + 3.0 * noise, "{found} ± {noise}");
        // The alarms of a calibration set are whole, so up to one of six is given away; no more.
        assert!(found >= 0.5 * 0.75 - 3.0 * noise, "{found} ± {noise}");
        assert!(covered >= 0.94, "{covered}");
    }
}
