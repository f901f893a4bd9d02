//! Intervals for a share k / n of independent trials.
//!
//! | function          | interval                                                    | use                           |
//! |-------------------|-------------------------------------------------------------|-------------------------------|
//! | [`wilson`]        | inverts the score test; close to the nominal level          | reporting rates               |
//! | [`clopper_pearson`] | inverts the exact binomial test; never below the nominal level | guarantees, zero events seen |
//!
//! Reference: Brown, Cai & DasGupta, Statistical Science 16(2), 2001, sections 3.1.1 and 4.2.1.
//!
//! ```
//! use offnominal_stats::{Level, proportion::clopper_pearson};
//! // No event in n trials: the upper end is 1 − (α/2)^(1/n).
//! let none = clopper_pearson(0, 10, Level::P95).unwrap();
//! assert!((none.high - (1.0 - 0.025_f64.powf(0.1))).abs() < 1e-12 && none.low == 0.0);
//! ```

use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;
use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::beta::ln_beta;

/// Wilson's score interval.
///
/// # Errors
/// If there are no trials.
///
/// # Panics
/// If there are more successes than trials.
pub fn wilson(successes: usize, n: usize, level: Level) -> Result<Estimate, StatsError> {
    let share = share(successes, n)?;
    let (trials, z) = (n as f64, level.z());
    let shrunk = (share + z * z / (2.0 * trials)) / (1.0 + z * z / trials);
    let half = z / (1.0 + z * z / trials)
        * (share * (1.0 - share) / trials + z * z / (4.0 * trials * trials)).sqrt();
    let low = if successes == 0 { 0.0 } else { shrunk - half };
    let high = if successes == n { 1.0 } else { shrunk + half };
    Ok(level.estimate(share, (low, high), n, "wilson"))
}

/// The exact interval of Clopper and Pearson.
///
/// # Errors
/// If there are no trials.
///
/// # Panics
/// If there are more successes than trials.
pub fn clopper_pearson(successes: usize, n: usize, level: Level) -> Result<Estimate, StatsError> {
    let share = share(successes, n)?;
    let (k, misses, tail) = (successes as f64, (n - successes) as f64, level.tail());
    let low = if successes == 0 { 0.0 } else { beta_quantile(k, misses + 1.0, tail) };
    let high = if successes == n { 1.0 } else { beta_quantile(k + 1.0, misses, 1.0 - tail) };
    Ok(level.estimate(share, (low, high), n, "clopper-pearson"))
}

fn share(successes: usize, n: usize) -> Result<f64, StatsError> {
    assert!(successes <= n, "{successes} successes in {n} trials");
    StatsError::require("share", 1, "trials", n)?;
    Ok(successes as f64 / n as f64)
}

/// The smallest number of successes in n trials that a beta-binomial number, whose probability follows a Beta law with
/// the two whole exponents, does not exceed with probability `p`.
///
/// ```
/// use offnominal_stats::proportion::beta_binomial_quantile;
/// // With both exponents 1 all numbers from 0 to n have the same probability.
/// assert_eq!(beta_binomial_quantile(9, (1, 1), 0.45), 4);
/// ```
pub fn beta_binomial_quantile(n: usize, (a, b): (usize, usize), p: f64) -> usize {
    let (n_f, a, b) = (n as f64, a as f64, b as f64);
    // P(0) = B(a, n + b) / B(a, b); then term by term.
    let mut probability = (ln_beta(a, n_f + b) - ln_beta(a, b)).exp();
    let mut below = probability;
    for k in 0..n {
        if below >= p - 1e-12 {
            return k;
        }
        let k = k as f64;
        probability *= (n_f - k) / (k + 1.0) * (k + a) / (n_f - k - 1.0 + b);
        below += probability;
    }
    n
}

/// The quantile of a Beta distribution: closed forms where one exponent is 1, else bisection of the distribution
/// function, which is monotone and cannot miss.
pub(crate) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    if a == 1.0 {
        return 1.0 - (1.0 - p).powf(1.0 / b);
    }
    if b == 1.0 {
        return p.powf(1.0 / a);
    }
    let beta = Beta::new(a, b).expect("positive exponents");
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > f64::EPSILON * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if beta.cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Result<Estimate, StatsError>, low: f64, high: f64) {
        let found = found.unwrap();
        assert!((found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9, "{found:.12}");
    }

    /// Reference values: scipy 1.17.1, `binomtest(k, n).proportion_ci(level, method="exact" | "wilson")`.
    #[test]
    fn agrees_with_scipy() {
        check(clopper_pearson(0, 10, Level::P95), 0.0, 0.30849710781876294);
        check(wilson(0, 10, Level::P95), 0.0, 0.27753279986288926);
        check(clopper_pearson(1, 10, Level::P95), 0.0025285785444625728, 0.44501611702819543);
        check(wilson(1, 10, Level::P95), 0.017876213095072896, 0.4041500267952385);
        check(clopper_pearson(7, 20, Level::P95), 0.1539092047845412, 0.5921885345328283);
        check(wilson(7, 20, Level::P95), 0.1811918241010821, 0.5671457233147637);
        check(clopper_pearson(50, 100, Level::P95), 0.39832112950330095, 0.6016788704966991);
        check(wilson(50, 100, Level::P95), 0.4038315303659956, 0.5961684696340044);
        check(clopper_pearson(99, 100, Level::P95), 0.9455406146079194, 0.9997468539673181);
        check(wilson(99, 100, Level::P95), 0.9455138038212946, 0.9982325679358593);
        check(clopper_pearson(100, 100, Level::P95), 0.9637833073548094, 1.0);
        check(wilson(100, 100, Level::P95), 0.9630065017930143, 1.0);
        check(clopper_pearson(3, 5000, Level::P95), 0.00012375152045600987, 0.0017524436035038196);
        check(wilson(3, 5000, Level::P95), 0.00020407465419434653, 0.001762706048528709);
    }

    #[test]
    fn nothing_tried_is_not_a_rate_of_zero() {
        assert_eq!(
            wilson(0, 0, Level::P95).unwrap_err().to_string(),
            "share: expected at least 1 trials, found 0"
        );
    }

    /// The share of all outcomes k, weighted by their probability, whose interval contains p.
    fn coverage(interval: fn(usize, usize, Level) -> Result<Estimate, StatsError>, n: usize, p: f64) -> f64 {
        let mut probability = (1.0 - p).powi(n as i32);
        let mut covered = 0.0;
        for k in 0..=n {
            if interval(k, n, Level::P95).unwrap().covers(p) {
                covered += probability;
            }
            probability *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        covered
    }

    #[test]
    fn the_exact_interval_never_undercovers_and_wilson_is_close() {
        for n in [5, 20, 100] {
            for percent in 1..100 {
                let p = f64::from(percent) / 100.0;
                assert!(coverage(clopper_pearson, n, p) >= 0.95, "{n} {p}");
            }
        }
        let mean = (5..95).map(|i| coverage(wilson, 50, f64::from(i) / 100.0)).sum::<f64>() / 90.0;
        assert!((mean - 0.95).abs() < 0.01, "{mean}");
    }

    #[test]
    fn the_exact_coverage_check_rejects_a_normal_approximation() {
        fn wald(k: usize, n: usize, level: Level) -> Result<Estimate, StatsError> {
            let p = k as f64 / n as f64;
            let half = level.z() * (p * (1.0 - p) / n as f64).sqrt();
            Ok(level.estimate(p, (p - half, p + half), n, "wald"))
        }
        assert!(coverage(wald, 20, 0.05) < 0.7);
    }
}
