//! How many episodes must be counted to know a failure probability within a factor?
//!
//! An estimate is a δ-approximation of p if it lies in [p / δ, δ p]. After N episodes with K failures, plain counting
//! misses with probability m(N) = P(K < N p / δ) + P(K > N p δ), K ~ Bin(N, p), which is computed exactly.
//!
//! m is not monotone in N: it jumps where an integer enters or leaves the allowed range. Between two jumps the chance
//! to hit is unimodal in N, so every stretch is searched by bisection and none is left out; beyond
//! ln(2 / (1 − confidence)) divided by the smaller Chernoff exponent it can no longer miss too often.
//!
//! Reference: the criterion is that of Uesato et al. (2018), section 4.2; probabilities after Loader, "Fast and accurate
//! computation of binomial probabilities", 2000.

use super::Refusal;
use crate::{Level, StatsError};
use statrs::function::gamma::ln_gamma;

/// The smallest number of episodes from which on plain counting gives a `delta`-approximation of `p` with the given
/// confidence, however many more there are.
///
/// Some smaller numbers have the confidence too, but lose it again: three quarters of this one, if `delta` is 3.
///
/// ```
/// use offnominal_stats::{Level, risk::budget};
/// let enough = budget(1e-4, 3.0, Level::P95).unwrap();
/// assert_eq!((enough + 500) / 1000, 63); // 6.30 / p
/// ```
///
/// # Errors
/// If `p` is not between 0 and 1, or `delta` is below 1.01 or not finite.
pub fn budget(p: f64, delta: f64, confidence: Level) -> Result<u64, Refusal> {
    check(p, delta)?;
    let task = Task { p, delta, miss: 1.0 - confidence.get() };
    let (mut last_bad, mut n) = (0, 1);
    while n <= task.surely() {
        let stretch = task.stretch(n);
        last_bad = task.last_bad(&stretch).unwrap_or(last_bad);
        n = stretch.to + 1;
    }
    Ok(last_bad + 1)
}

/// The probability that counting after so many episodes is off by more than the factor `delta`.
///
/// # Errors
/// As [`budget`].
pub fn miss(p: f64, delta: f64, episodes: u64) -> Result<f64, Refusal> {
    check(p, delta)?;
    let task = Task { p, delta, miss: 0.0 };
    let (fewest, most) = task.allowed(episodes);
    Ok((1.0 - task.hit(episodes, &Stretch { from: episodes, to: episodes, fewest, most })).clamp(0.0, 1.0))
}

/// The smallest numbers of episodes that show a failure probability of at most `p` if none of them fails: by a one-sided
/// bound, and by the upper end of the two-sided interval of Clopper and Pearson. (1 − p)ⁿ is then at most 1 − confidence,
/// and half of it.
///
/// ```
/// use offnominal_stats::{Level, risk::budget::clean_episodes};
/// assert_eq!(clean_episodes(1e-3, Level::P95).unwrap(), [2995, 3688]);
/// ```
///
/// # Errors
/// If `p` is not between 0 and 1.
pub fn clean_episodes(p: f64, confidence: Level) -> Result<[u64; 2], Refusal> {
    check(p, 2.0)?;
    let tail = confidence.tail();
    Ok([2.0 * tail, tail].map(|miss| (miss.ln() / (-p).ln_1p()).ceil() as u64))
}

fn check(p: f64, delta: f64) -> Result<(), StatsError> {
    StatsError::within(p > 1e-12 && p < 1.0, "failure probability", "a number between 1e-12 and 1", p)?;
    StatsError::within((1.01..=1e6).contains(&delta), "delta", "a factor from 1.01 to 1e6", delta)
}

struct Task {
    p: f64,
    delta: f64,
    /// Allowed probability of an estimate that is off by more than the factor.
    miss: f64,
}

/// Numbers of episodes, first and last, for which the same numbers of failures are allowed.
struct Stretch {
    from: u64,
    to: u64,
    fewest: u64,
    most: u64,
}

impl Task {
    /// Episodes after which Chernoff's bounds promise the confidence.
    fn surely(&self) -> u64 {
        let (up, down) = (self.delta, 1.0 / self.delta);
        let exponent = (up * up.ln() - up + 1.0).min(1.0 - down + down * down.ln());
        ((2.0 / self.miss).ln() / exponent / self.p).ceil() as u64
    }

    /// The failures that are allowed after `n` episodes; a hair of slack where a bound is an integer but for rounding.
    fn allowed(&self, n: u64) -> (u64, u64) {
        let mean = n as f64 * self.p;
        let fewest = (mean / self.delta * (1.0 - 1e-12)).ceil();
        let most = (mean * self.delta * (1.0 + 1e-12)).floor();
        (fewest as u64, (most as u64).min(n))
    }

    fn stretch(&self, from: u64) -> Stretch {
        let (fewest, most) = self.allowed(from);
        if self.delta * self.p >= 1.0 {
            return Stretch { from, to: from, fewest, most };
        }
        let (mut to, mut beyond) = (from, from + (self.delta / self.p).ceil() as u64 + 2);
        while beyond - to > 1 {
            let middle = to + (beyond - to) / 2;
            if self.allowed(middle) == (fewest, most) { to = middle } else { beyond = middle }
        }
        Stretch { from, to, fewest, most }
    }

    fn is_good(&self, n: u64, stretch: &Stretch) -> bool {
        self.hit(n, stretch) >= 1.0 - self.miss
    }

    /// P(fewest ≤ K ≤ most).
    fn hit(&self, n: u64, stretch: &Stretch) -> f64 {
        if stretch.fewest > stretch.most {
            return 0.0;
        }
        let odds = self.p / (1.0 - self.p);
        let mut probability = probability(stretch.fewest, n, self.p);
        let mut sum = probability;
        for k in stretch.fewest..stretch.most {
            probability *= (n - k) as f64 / (k + 1) as f64 * odds;
            sum += probability;
        }
        sum
    }

    fn last_bad(&self, stretch: &Stretch) -> Option<u64> {
        if !self.is_good(stretch.to, stretch) {
            return Some(stretch.to);
        }
        let is_bad_first = !self.is_good(stretch.from, stretch);
        // Only the rising side can be bad, since the falling side ends well.
        is_bad_first.then(|| first(stretch.from, stretch.to, |n| self.is_good(n, stretch)) - 1)
    }
}

/// The first number of a range from which on a condition holds; it holds at the end.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// P(K = k) for K ~ Bin(n, p), to nearly full precision for any n.
fn probability(k: u64, n: u64, p: f64) -> f64 {
    let (kf, nf) = (k as f64, n as f64);
    if k == 0 {
        return (nf * (-p).ln_1p()).exp();
    }
    if k == n {
        return (nf * p.ln()).exp();
    }
    let off = kf - nf * p;
    let deviance = |x: f64, off: f64, mean: f64| x * (off / mean).ln_1p() - off;
    let exponent = stirling_error(nf)
        - stirling_error(kf)
        - stirling_error(nf - kf)
        - deviance(kf, off, nf * p)
        - deviance(nf - kf, -off, nf * (1.0 - p));
    exponent.exp() * (nf / (std::f64::consts::TAU * kf * (nf - kf))).sqrt()
}

/// ln n! minus Stirling's approximation of it.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * std::f64::consts::TAU.ln();
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In units of 1 / p, for small p.
    #[track_caller]
    fn check(delta: f64, enough: f64) {
        for p in [1e-4, 1.0 / 110_000.0] {
            let found = budget(p, delta, Level::P95).unwrap() as f64 * p;
            assert!((found - enough).abs() < 0.051, "expected {enough}, found {found}");
        }
    }

    #[test]
    fn the_poisson_limits_are_known() {
        check(1.5, 27.1);
        check(2.0, 10.6);
        check(3.0, 6.3);
        check(5.0, 3.0);
        check(10.0, 3.0);
    }

    /// Every number of episodes, one after the other.
    fn by_hand(p: f64, delta: f64) -> u64 {
        let task = Task { p, delta, miss: 0.05 };
        let miss = |n: u64| {
            let is_off =
                |k: u64| (k as f64) < n as f64 * p / delta - 1e-9 || k as f64 > n as f64 * p * delta + 1e-9;
            (0..=n).filter(|&k| is_off(k)).map(|k| probability(k, n, p)).sum::<f64>()
        };
        let good: Vec<bool> = (1..=task.surely()).map(|n| miss(n) <= 0.05).collect();
        let last_bad = good.iter().rposition(|g| !g).map_or(0, |i| i as u64 + 1);
        last_bad + 1
    }

    #[test]
    fn the_search_leaves_nothing_out() {
        for (p, delta) in [(0.02, 3.0), (0.013, 2.0), (0.05, 1.5), (0.3, 1.4), (0.6, 3.0), (0.9, 1.05)] {
            assert_eq!(budget(p, delta, Level::P95).unwrap(), by_hand(p, delta), "p = {p}, delta = {delta}");
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (n, p) in [(7, 0.3), (200, 0.02), (5000, 0.9)] {
            let sum: f64 = (0..=n).map(|k| probability(k, n, p)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{n} {p}: {sum}");
        }
    }

    #[test]
    fn the_chance_to_miss_is_not_monotone() {
        // K ~ Poisson(N p) outside [N p / 3, 3 N p].
        for (mean, want) in
            [(3.0, 0.051), (3.5, 0.137), (4.0, 0.092), (4.75, 0.050), (6.0, 0.017), (7.0, 0.030)]
        {
            let found = miss(1e-5, 3.0, (mean * 1e5) as u64).unwrap();
            assert!((found - want).abs() < 1e-3, "{mean}: expected {want}, found {found}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let message = budget(0.0, 3.0, Level::P95).unwrap_err().to_string();
        assert_eq!(message, "failure probability: expected a number between 1e-12 and 1, found 0");
        assert!(budget(f64::NAN, 3.0, Level::P95).is_err() && budget(0.1, 1.0, Level::P95).is_err());
        assert!(clean_episodes(0.0, Level::P95).is_err() && clean_episodes(1.0, Level::P95).is_err());
    }
}
