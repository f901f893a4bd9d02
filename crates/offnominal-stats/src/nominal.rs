//! A threshold for the scores of anything, from nominal episodes or from one nominal stream.
//!
//! A stream is cut into blocks, which take the place of episodes: they are as long as those of [`RunLength`], so the largest
//! scores of neighbouring blocks are independent, or nearly so. A block counts one alarm at most.
//!
//! ```
//! use offnominal_core::Seed;
//! use offnominal_stats::{Promise, Rule, nominal};
//! let episodes: Vec<[f64; 1]> = (1..=19).map(|i| [f64::from(i)]).collect();
//! let found = nominal::of_episodes(&episodes, Rule::Conformal(Promise::on_average(0.1)), None, Seed(1)).unwrap();
//! assert_eq!((found.value, found.n), (18.0, 19));
//! ```

use crate::drift::drift;
use crate::episode::finite;
use crate::rate::per_hour;
use crate::threshold::Rule;
use crate::{Level, Promise, RunLength, StatsError};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use serde::Serialize;

/// A threshold of scores, and what is known of its false alarms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nominal {
    /// An alarm is a score above this.
    pub value: f64,
    /// The share of episodes or blocks with an alarm that was asked for, or keeps the rate that was.
    pub alpha: f64,
    /// Episodes or blocks.
    pub n: usize,
    /// Steps of a block, if it was a stream.
    pub block: Option<usize>,
    /// The share of episodes or blocks with an alarm.
    pub share: Estimate,
    /// Alarms an hour, if the length of a step is known.
    pub per_hour: Option<Estimate>,
    /// The p value of the test whether the largest or the mean scores [drift](crate::drift); none of fewer than ten episodes.
    pub drift: Option<f64>,
}

/// The threshold of nominal episodes in the order of time, by the rule `conformal` for a share or for a rate.
///
/// # Errors
/// As [`Rule::threshold`].
///
/// # Panics
/// If the rule is another one.
pub fn of_episodes<E: AsRef<[f64]>>(
    episodes: &[E],
    rule: Rule,
    dt_secs: Option<f64>,
    seed: Seed,
) -> Result<Nominal, StatsError> {
    let steps: Vec<usize> = episodes.iter().map(|e| e.as_ref().len()).collect();
    let rule = rule.of_lengths(&steps)?;
    let found = rule.threshold(episodes, Level::P95)?;
    let (Some(Promise { alpha, .. }), Some(share)) = (rule.promise(), found.false_alarms) else {
        panic!("expected the rule conformal, found {}", rule.id())
    };
    let of_hours = |dt: f64| {
        let hours: Vec<f64> = steps.iter().map(|&steps| steps as f64 * dt / 3600.0).collect();
        per_hour(&share, &hours, Level::P95)
    };
    let mean = |e: &[f64]| e.iter().sum::<f64>() / e.len().max(1) as f64;
    let rows = episodes.iter().zip(&found.maxima).map(|(e, &largest)| vec![largest, mean(e.as_ref())]);
    Ok(Nominal {
        value: found.value,
        alpha,
        n: episodes.len(),
        block: None,
        per_hour: dt_secs.map(of_hours).transpose()?,
        drift: drift(&rows.collect::<Vec<_>>(), episodes.len() / 2, seed).map(|found| found.p),
        share,
    })
}

/// The threshold of one nominal stream, by the rule for a rate. What is left at the end, less than a block, is passed over.
///
/// # Errors
/// As [`of_episodes`], or if there are too few blocks.
pub fn of_stream(stream: &[f64], rule: Rule, dt_secs: f64, seed: Seed) -> Result<Nominal, StatsError> {
    finite(stream, 0, false)?;
    // How far apart alarms are is not asked here, only how long a block is.
    let any = RunLength { steps: 1.0, block: None, confidence: None };
    let block = any.blocks(&[stream])?.steps();
    let blocks: Vec<&[f64]> = stream.chunks_exact(block).collect();
    Ok(Nominal { block: Some(block), ..of_episodes(&blocks, rule, Some(dt_secs), seed)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    /// A stationary autoregression of order one.
    fn autoregression(n: usize, seed: Seed) -> Vec<f64> {
        let mut rng = seed.rng();
        let mut x = rng.normal();
        let step = |_| {
            x = 0.9 * x + 0.19_f64.sqrt() * rng.normal();
            x
        };
        (0..n).map(step).collect()
    }

    /// Alarms an hour in fresh streams and the share of intervals that cover it, over calibration sets; each alarm is followed
    /// by a block in which none counts.
    fn realised(sets: u64, rate: Rate) -> (f64, f64, f64) {
        let (mut rates, mut covered) = (vec![], 0.0);
        for set in 0..sets {
            let seed = Seed(set).child("streams");
            let found = of_stream(
                &autoregression(10_000, seed.child("nominal")),
                Rule::Rate(rate),
                rate.dt_secs,
                seed,
            );
            let found = found.unwrap();
            let fresh = autoregression(50_000, seed.child("fresh"));
            let (mut at, mut alarms) = (0, 0.0);
            while let Some(next) = fresh[at..].iter().position(|x| *x > found.value) {
                (at, alarms) = ((at + next + found.block.unwrap()).min(fresh.len()), alarms + 1.0);
            }
            let (realised, hours) = (alarms / rate.hours(fresh.len()), rate.hours(fresh.len()));
            let (expected, noise) = (found.per_hour.unwrap(), 3.0 * f64::sqrt(alarms.max(1.0)) / hours);
            covered +=
                f64::from(u8::from(expected.low - noise <= realised && realised <= expected.high + noise));
            rates.push(realised);
        }
        let mean = rates.iter().sum::<f64>() / sets as f64;
        let variance = rates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (sets as f64 - 1.0);
        (mean, (variance / sets as f64).sqrt(), covered / sets as f64)
    }

    #[test]
    fn the_rate_of_a_stream_is_kept() {
        let sets = if std::env::var_os("RUN_SLOW_TESTS").is_some() { 2_000 } else { 100 };
        // A calibration of ten hours, which may have five alarms.
        let (found, noise, covered) = realised(sets, Rate { per_hour: 0.5, dt_secs: 3.6 });
        assert!(found <= 0.5 + 3.0 * noise && found >= 0.25, "{found} ± {noise}");
        assert!(covered >= 0.93, "{covered}");
    }

    #[test]
    fn drifting_scores_are_told_and_bad_ones_refused() {
        let rule = Rule::Rate(Rate { per_hour: 0.5, dt_secs: 3.6 });
        let mut stream = autoregression(10_000, Seed(3));
        let of = |stream: &[f64]| of_stream(stream, rule, 3.6, Seed(1));
        assert!(of(&stream).unwrap().drift.unwrap() > 0.01);
        stream.iter_mut().enumerate().for_each(|(i, x)| *x += i as f64 * 6e-5);
        assert!(of(&stream).unwrap().drift.unwrap() < 0.01);
        let short = of(&stream[..300]).unwrap_err().to_string();
        assert!(short.contains("expected at least 20 blocks"), "{short}");
        stream[7] = f64::NAN;
        assert!(of(&stream).unwrap_err().to_string().contains("step 7: expected a finite score, found NaN"));
    }
}
