//! Where to set the alarm: four rules that need nominal episodes only.
//!
//! An alarm is a score **above** the threshold.
//!
//! | rule        | threshold                                              | false alarms                          |
//! |-------------|--------------------------------------------------------|---------------------------------------|
//! | `3sigma`    | mean + 3 standard deviations of all steps              | no promise                            |
//! | `q95`       | 95th percentile of all steps (linear interpolation)    | 5 % of *steps*: most long episodes    |
//! | `max`       | largest step                                           | ≤ 1 / (n + 1) of episodes on average  |
//! | `conformal` | the k-th smallest episode maximum, k = ⌈(n + 1)(1 − α)⌉ | ≤ α of *episodes* on average         |
//!
//! The promise of `conformal` (and of `max`, its extreme case k = n) holds for every score and every n, provided that
//! the calibration episodes and the one to come are exchangeable: same policy, world and length rule, and none of
//! them was used to fit the detector. "On average" is over calibration sets. The false-alarm probability of one
//! given set follows a Beta(n + 1 − k, k) law if maxima have no ties (with ties, fewer alarms);
//! [`Threshold::false_alarms`] is its mean and interval.
//!
//! References: the first three rules, Anomaly-Gym, appendix A.8; conformal, Vovk, Gammerman & Shafer, Algorithmic
//! Learning in a Random World, 2005, proposition 2.4; Vovk, ACML 2012, proposition 2a for the Beta law.

use crate::episode::finite;
use crate::mean::moments;
use crate::proportion::beta_quantile;
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// How to choose a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Mean plus three standard deviations (divisor n) of all steps.
    ThreeSigma,
    /// The 95th percentile of all steps.
    Q95,
    /// The largest step.
    Max,
    /// At most a share `alpha` of nominal episodes raises an alarm.
    Conformal {
        /// Accepted share of episodes with a false alarm, between 0 and 1.
        alpha: f64,
    },
}

/// An alarm threshold and what is known of its false alarms.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// Alarms are scores above this.
    pub value: f64,
    /// The share of nominal episodes with an alarm, as far as the rule promises anything.
    pub false_alarms: Option<Estimate>,
}

impl Rule {
    /// The rules of the result tables, with the given share of false alarms for `conformal`.
    pub fn all(alpha: f64) -> [Rule; 4] {
        [Rule::ThreeSigma, Rule::Q95, Rule::Max, Rule::Conformal { alpha }]
    }

    /// Name in results.
    pub fn id(&self) -> &'static str {
        match self {
            Rule::ThreeSigma => "3sigma",
            Rule::Q95 => "q95",
            Rule::Max => "max",
            Rule::Conformal { .. } => "conformal",
        }
    }

    /// The least number of nominal episodes that the rule can work with: ⌈1/α − 1⌉ for `conformal`.
    pub fn min_episodes(&self) -> usize {
        match *self {
            Rule::Conformal { alpha } => (1.0 / alpha - 1.0 - 1e-9).ceil().max(1.0) as usize,
            _ => 1,
        }
    }

    /// The threshold from the step scores of nominal episodes that the detector was not fitted on.
    ///
    /// # Errors
    /// If there are no steps, a score is not finite, `alpha` is not between 0 and 1, or there are fewer than
    /// 1/α − 1 episodes; the message says how many are needed.
    pub fn threshold<E: AsRef<[f64]>>(&self, nominal: &[E], level: Level) -> Result<Threshold, StatsError> {
        nominal.iter().enumerate().try_for_each(|(i, e)| finite(e.as_ref(), i, false))?;
        let steps: Vec<f64> = nominal.iter().flat_map(|e| e.as_ref()).copied().collect();
        StatsError::require("threshold", 1, "nominal steps", steps.len())?;
        let plain = |value| Ok(Threshold { value, false_alarms: None });
        match *self {
            Rule::ThreeSigma => plain(three_sigma(&steps)),
            Rule::Q95 => plain(percentile(steps, 0.95)),
            Rule::Max => kth_maximum(nominal, usize::MAX, level),
            Rule::Conformal { alpha } => kth_maximum(nominal, conformal_rank(nominal.len(), alpha)?, level),
        }
    }
}

fn three_sigma(steps: &[f64]) -> f64 {
    let (mean, variance) = moments(steps);
    let n = steps.len() as f64;
    mean + 3.0 * (variance * (n - 1.0) / n).sqrt()
}

fn percentile(mut steps: Vec<f64>, share: f64) -> f64 {
    steps.sort_unstable_by(f64::total_cmp);
    let position = share * (steps.len() - 1) as f64;
    let (below, above) = (steps[position.floor() as usize], steps[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

/// ⌈(n + 1)(1 − α)⌉, which must not exceed n. The subtrahend keeps 20 × 0.05 from being a rounding error below 1.
fn conformal_rank(n: usize, alpha: f64) -> Result<usize, StatsError> {
    if !(alpha > 0.0 && alpha < 1.0) {
        let (what, expected) = ("share of false alarms", "a number between 0 and 1");
        return Err(StatsError::OutOfRange { what, expected, found: alpha });
    }
    let needed = Rule::Conformal { alpha }.min_episodes();
    let what = "conformal threshold for this share of false alarms";
    StatsError::require(what, needed, "nominal calibration episodes", n)?;
    let alarms = (alpha * (n + 1) as f64 + 1e-9).floor() as usize;
    Ok(n + 1 - alarms.min(n))
}

/// The k-th smallest of the episode maxima, with the law of its false alarms. Episodes without steps never alarm.
fn kth_maximum<E: AsRef<[f64]>>(nominal: &[E], k: usize, level: Level) -> Result<Threshold, StatsError> {
    let largest = |e: &E| e.as_ref().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut maxima: Vec<f64> = nominal.iter().map(largest).collect();
    maxima.sort_unstable_by(f64::total_cmp);
    let (n, k) = (maxima.len(), k.min(maxima.len()));
    let (a, b) = ((n + 1 - k) as f64, k as f64);
    let interval = (beta_quantile(a, b, level.tail()), beta_quantile(a, b, 1.0 - level.tail()));
    let alarms = level.estimate(a / (a + b), interval, n, "conformal-beta");
    Ok(Threshold { value: maxima[k - 1], false_alarms: Some(alarms) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::{Rng, Seed};

    fn value(rule: Rule, nominal: &[Vec<f64>]) -> f64 {
        rule.threshold(nominal, Level::P95).unwrap().value
    }

    fn refused(rule: Rule, nominal: &[Vec<f64>]) -> String {
        rule.threshold(nominal, Level::P95).unwrap_err().to_string()
    }

    #[test]
    fn rules_in_closed_form() {
        // Steps 0 … 100: mean 50, variance (101² − 1) / 12 = 850.
        let steps = [(0..=100).map(f64::from).collect::<Vec<f64>>()];
        assert!((value(Rule::ThreeSigma, &steps) - (50.0 + 3.0 * 850.0_f64.sqrt())).abs() < 1e-9);
        assert!((value(Rule::Q95, &steps) - 95.0).abs() < 1e-9);
        assert_eq!(value(Rule::Max, &steps), 100.0);
    }

    #[test]
    fn the_conformal_rank_is_exact() {
        // Nineteen episodes with maxima 1 … 19: α = 0.05 needs all of them, α = 0.1 leaves one out, and so on.
        let nominal: Vec<Vec<f64>> = (1..=19).map(|i| vec![0.0, f64::from(i)]).collect();
        for (alpha, want) in [(0.05, 19.0), (0.099, 19.0), (0.1, 18.0), (0.15, 17.0), (0.5, 10.0)] {
            assert_eq!(value(Rule::Conformal { alpha }, &nominal), want, "{alpha}");
        }
        assert_eq!(
            refused(Rule::Conformal { alpha: 0.01 }, &nominal),
            "conformal threshold for this share of false alarms: expected at least 99 nominal calibration \
             episodes, found 19"
        );
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(refused(Rule::Max, &[]), "threshold: expected at least 1 nominal steps, found 0");
        assert!(refused(Rule::Q95, &[vec![1.0], vec![f64::NAN]]).starts_with("episode 1, step 0"));
        assert!(refused(Rule::Conformal { alpha: 5.0 }, &[vec![1.0]]).contains("found 5"));
    }

    /// Nominal episodes of autocorrelated scores, with levels of their own: nothing is independent within one.
    fn nominal_episodes(n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut one = || {
            let offset = rng.normal();
            let mut x = 0.0;
            let mut step = || {
                x = 0.9 * x + rng.normal();
                x + offset
            };
            (0..40).map(|_| step()).collect::<Vec<f64>>()
        };
        (0..n).map(|_| one()).collect()
    }

    /// Share of fresh nominal episodes with an alarm, over many calibration sets.
    fn realised(rule: Rule, splits: u64) -> f64 {
        let fresh = 20;
        let alarms = (0..splits).map(|split| {
            let mut rng = Seed(split).child("split").rng();
            let threshold = value(rule, &nominal_episodes(29, &mut rng));
            let alarmed = |e: &&Vec<f64>| e.iter().any(|&s| s > threshold);
            nominal_episodes(fresh, &mut rng).iter().filter(alarmed).count()
        });
        alarms.sum::<usize>() as f64 / (splits as usize * fresh) as f64
    }

    #[test]
    fn conformal_keeps_its_promise_and_the_percentile_does_not() {
        let (alpha, splits) = (0.1, 400);
        let found = realised(Rule::Conformal { alpha }, splits);
        // The share of one split has variance below Beta(3, 27)'s plus the binomial's of twenty episodes.
        let noise = ((0.1 * 0.9 / 31.0 + 0.1 * 0.9 / 20.0) / splits as f64).sqrt();
        assert!(found <= alpha + 3.0 * noise && found >= alpha - 3.0 * noise, "{found}");
        assert!(realised(Rule::Q95, splits) > 3.0 * alpha);
    }

    #[test]
    fn the_beta_law_covers_the_realised_rate() {
        let covered = (0..300).filter(|&seed| {
            let mut rng = Seed(seed).child("beta").rng();
            let calibration: Vec<[f64; 1]> = (0..49).map(|_| [rng.uniform()]).collect();
            let found = Rule::Conformal { alpha: 0.2 }.threshold(&calibration, Level::P95).unwrap();
            found.false_alarms.unwrap().covers(1.0 - found.value)
        });
        let covered = covered.count();
        assert!((273..=297).contains(&covered), "{covered}");
    }
}
