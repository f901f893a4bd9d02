//! Tests over a sequence of episodes: has something changed since the monitor was calibrated?
//!
//! Each episode brings one number, such as its largest score. Its p-value is its smoothed rank among all numbers before
//! it, p = (#larger + U (#equal + 1)) / (n + 1) with U uniform, and joins them. If the episodes are exchangeable, these
//! p-values are independent and uniform, whatever the numbers are and however steps depend on one another.
//!
//! | test                  | statistic                                | alarm    | promise while nothing changes              |
//! |-----------------------|------------------------------------------|----------|--------------------------------------------|
//! | [`EpisodeMartingale`] | capital of a [`Jumper`]                  | ≥ 1 / α  | *ever* an alarm with probability ≤ α       |
//! | [`EpisodeCusum`]      | C = max(1, C) · ½ p^−½, 1 at first       | ≥ L      | L episodes or more, on average, to an alarm |
//!
//! The first promise is Ville's inequality. The second: with R = (1 + R) · ½ p^−½, which is never below C, R minus the
//! number of episodes is a martingale, so at the alarm the mean number of episodes is the mean of R, hence at least L.
//!
//! References: Vovk, Gammerman & Shafer, Algorithmic Learning in a Random Environment, 2005, theorem 8.1 (smoothed
//! p-values);
//! Vovk, "Conformal CUSUM" (arXiv 2412.03464); Shafer et al., "Test martingales, Bayes factors and p-values",
//! Statistical Science 26(1), 2011, section 6 (the bet ½ p^−½).

use super::jumper::Jumper;
use crate::StatsError;
use crate::episode::finite;
use offnominal_core::Rng;

/// Everything seen so far, sorted.
#[derive(Debug, Clone, PartialEq)]
struct Ranks {
    sorted: Vec<f64>,
}

impl Ranks {
    fn of(calibration: &[f64]) -> Result<Ranks, StatsError> {
        finite(calibration, 0, false)?;
        let mut sorted = calibration.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Ranks { sorted })
    }

    /// The smoothed p-value of a number, which then belongs to what was seen. NaN counts as the largest.
    fn p_value(&mut self, found: f64, rng: &mut Rng) -> f64 {
        let found = if found.is_nan() { f64::INFINITY } else { found };
        let below = self.sorted.partition_point(|&r| r < found);
        let not_above = self.sorted.partition_point(|&r| r <= found);
        let (larger, equal) = (self.sorted.len() - not_above, not_above - below);
        self.sorted.insert(not_above, found);
        (larger as f64 + rng.uniform() * (equal + 1) as f64) / self.sorted.len() as f64
    }
}

/// Says, once and for all, whether something has changed.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeMartingale {
    ranks: Ranks,
    jumper: Jumper,
    limit: f64,
    log_capital: f64,
    is_raised: bool,
}

impl EpisodeMartingale {
    /// A test that ever raises an alarm with probability `alpha` at most, as long as nothing changes. The calibration
    /// numbers may be none: then the first episodes are what the later ones are compared with.
    ///
    /// # Errors
    /// If `alpha` is not between 0 and 1, or a number is not finite.
    pub fn new(calibration: &[f64], alpha: f64) -> Result<EpisodeMartingale, StatsError> {
        StatsError::within_unit("probability of a false alarm", alpha)?;
        let (ranks, jumper, limit) = (Ranks::of(calibration)?, Jumper::default(), (1.0 / alpha).ln());
        Ok(EpisodeMartingale { ranks, jumper, limit, log_capital: 0.0, is_raised: false })
    }

    /// One episode more; whether the alarm is on. It stays on.
    pub fn observe(&mut self, found: f64, rng: &mut Rng) -> bool {
        self.log_capital = self.jumper.bet(self.ranks.p_value(found, rng));
        self.is_raised |= self.log_capital >= self.limit;
        self.is_raised
    }

    /// The natural logarithm of the capital: the evidence against "nothing has changed".
    pub fn log_capital(&self) -> f64 {
        self.log_capital
    }
}

/// Says again and again when something changes.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeCusum {
    ranks: Ranks,
    run_length: f64,
    value: f64,
}

impl EpisodeCusum {
    /// A test that goes on for `run_length` episodes or more, on average, until it raises a false alarm.
    ///
    /// # Errors
    /// If the run length is not a finite number above 1, or a calibration number is not finite.
    pub fn new(calibration: &[f64], run_length: f64) -> Result<EpisodeCusum, StatsError> {
        let holds = run_length > 1.0 && run_length.is_finite();
        StatsError::within(holds, "average run length", "a finite number above 1", run_length)?;
        Ok(EpisodeCusum { ranks: Ranks::of(calibration)?, run_length, value: 1.0 })
    }

    /// One episode more; whether it raises an alarm. After an alarm the test begins again.
    pub fn observe(&mut self, found: f64, rng: &mut Rng) -> bool {
        let p = self.ranks.p_value(found, rng).max(f64::MIN_POSITIVE);
        self.value = self.value.max(1.0) * 0.5 / p.sqrt();
        let is_raised = self.value >= self.run_length;
        if is_raised {
            self.value = 1.0;
        }
        is_raised
    }

    /// The evidence collected since the test last began.
    pub fn value(&self) -> f64 {
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Seed;

    /// How much is simulated: `quick` by default, ten times as much in the slow tier.
    fn runs(quick: u64) -> u64 {
        if std::env::var_os("RUN_SLOW_TESTS").is_some() { 10 * quick } else { quick }
    }

    /// The largest of twenty autocorrelated scores with a level of their own, `shift` higher.
    fn largest(shift: f64, rng: &mut Rng) -> f64 {
        let (level, mut x) = (rng.normal() + shift, 0.0);
        let mut score = || {
            x = 0.9 * x + rng.normal();
            x + level
        };
        (0..20).map(|_| score()).fold(f64::NEG_INFINITY, f64::max)
    }

    fn calibration(n: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| largest(0.0, rng)).collect()
    }

    #[test]
    fn p_values_in_closed_form() {
        let mut ranks = Ranks::of(&[3.0, 1.0, 2.0]).unwrap();
        let (mut rng, mut same) = (Rng::new(0), Rng::new(0));
        assert!((ranks.p_value(2.5, &mut rng) - (1.0 + same.uniform()) / 4.0).abs() < 1e-15);
        assert!((ranks.p_value(2.5, &mut rng) - (1.0 + 2.0 * same.uniform()) / 5.0).abs() < 1e-15);
        assert_eq!(ranks.sorted, [1.0, 2.0, 2.5, 2.5, 3.0]);
        assert!(ranks.p_value(f64::NAN, &mut rng) < 1.0 / 6.0);
    }

    /// Share of sequences of sixty nominal episodes that ever raise an alarm, and the number of sequences.
    fn ever_raised(alpha: f64, next: fn(&mut Rng) -> f64) -> (f64, u64) {
        let n = runs(400);
        let raised = |&i: &u64| {
            let mut rng = Seed(i).child("martingale").rng();
            let first: Vec<f64> = (0..20).map(|_| next(&mut rng)).collect();
            let mut test = EpisodeMartingale::new(&first, alpha).unwrap();
            (0..60).any(|_| {
                let found = next(&mut rng);
                test.observe(found, &mut rng)
            })
        };
        ((0..n).filter(raised).count() as f64 / n as f64, n)
    }

    #[test]
    fn a_martingale_is_seldom_ever_raised() {
        let alpha = 0.1;
        let (found, n) = ever_raised(alpha, |rng| largest(0.0, rng));
        assert!(found <= alpha + 3.0 * (alpha * (1.0 - alpha) / n as f64).sqrt(), "{found}");
    }

    /// Mean number of episodes until an alarm and its standard error, the k-th number of a sequence being `next(k, …)`.
    fn run_length(promise: f64, next: fn(usize, f64, &mut Rng) -> f64) -> (f64, f64) {
        let n = runs(200);
        let length = |i: u64| {
            let (mut rng, mut last) = (Seed(i).child("cusum").rng(), 0.0);
            let mut test = EpisodeCusum::new(&calibration(10, &mut rng), promise).unwrap();
            let alarm = (1..2000).find(|&k| {
                last = next(k, last, &mut rng);
                test.observe(last, &mut rng)
            });
            alarm.unwrap_or(2000) as f64
        };
        let lengths: Vec<f64> = (0..n).map(length).collect();
        let mean = lengths.iter().sum::<f64>() / n as f64;
        let variance = lengths.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n as f64 - 1.0);
        (mean, (variance / n as f64).sqrt())
    }

    #[test]
    fn a_cusum_runs_as_long_as_promised() {
        let keeps = |(mean, error): (f64, f64), promise: f64| mean >= promise - 3.0 * error;
        let nominal = run_length(25.0, |_, _, rng| largest(0.0, rng));
        assert!(keeps(nominal, 25.0), "{nominal:?}");
        // The law bites: numbers that depend on one another, as steps of an episode do, are not exchangeable.
        let dependent = run_length(25.0, |_, last, rng| 0.98 * last + 2.0 * rng.normal().abs());
        assert!(!keeps(dependent, 25.0), "{dependent:?}");
    }

    #[test]
    fn a_change_is_found_soon() {
        let changed = run_length(100.0, |k, _, rng| largest(if k > 20 { 6.0 } else { 0.0 }, rng));
        assert!(changed.0 < 40.0, "{changed:?}");
        let mut rng = Rng::new(3);
        let mut test = EpisodeMartingale::new(&calibration(50, &mut rng), 0.01).unwrap();
        let alarm = (0..60).position(|_| {
            let found = largest(6.0, &mut rng);
            test.observe(found, &mut rng)
        });
        assert!(alarm.is_some_and(|k| k < 30) && test.log_capital() >= 100.0_f64.ln(), "{alarm:?}");
    }

    #[test]
    fn impossible_promises_are_refused() {
        let error = EpisodeMartingale::new(&[], 1.0).unwrap_err().to_string();
        assert_eq!(error, "probability of a false alarm: expected a number between 0 and 1, found 1");
        let error = EpisodeCusum::new(&[], 0.5).unwrap_err().to_string();
        assert_eq!(error, "average run length: expected a finite number above 1, found 0.5");
        assert!(EpisodeCusum::new(&[f64::NAN], 9.0).is_err());
    }
}
