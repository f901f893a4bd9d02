//! How often an estimate is off by more than a factor, after fewer experiments than were made.
//!
//! An estimate is the mean over n units, draws or experiments, of terms of which nearly all are zero and the others
//! are weights of failures. A run of m units is played from the sample itself: the number of its failures is binomial
//! with the share of failures in the sample, and their weights are drawn from those that were seen. The share of such
//! runs whose mean is not within [p̂ / δ, δ p̂] has the exact binomial interval.
//!
//! Assumes: the sample itself is a good one; a failure that it missed is missed here too. Where all weights are equal the
//! number is known exactly ([`miss`](super::budget::miss)).
//! Reference: the curves are those of Uesato et al. (2018), figures 1 and 3; Efron, Annals of Statistics 7(1), 1979.

use super::Refusal;
use crate::proportion::clopper_pearson;
use crate::{Level, StatsError};
use offnominal_core::Rng;
use offnominal_core::estimate::Estimate;

/// The units of an estimate: how many there were, and the weights of those that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// All of them.
    pub n: u64,
    /// The weights of the failures.
    pub weights: Vec<f64>,
}

impl Units {
    /// The mean over all units.
    pub fn mean(&self) -> f64 {
        self.weights.iter().sum::<f64>() / self.n as f64
    }

    /// The share of runs of `m` units whose mean is off by more than the factor `delta`.
    ///
    /// # Errors
    /// If there are fewer than five failures, of which no run can be made, or no runs.
    pub fn miss(
        &self,
        delta: f64,
        m: u64,
        runs: usize,
        level: Level,
        rng: &mut Rng,
    ) -> Result<Estimate, Refusal> {
        StatsError::require("reliability", super::warning::FEWEST_FAILURES, "failures", self.weights.len())?;
        let truth = self.mean();
        let is_off = |value: f64| value < truth / delta || value > truth * delta;
        let missed = (0..runs).filter(|_| is_off(self.run(m, rng))).count();
        Ok(clopper_pearson(missed, runs, level)?)
    }

    /// The mean of a run.
    fn run(&self, m: u64, rng: &mut Rng) -> f64 {
        let failures = binomial(m, self.weights.len() as f64 / self.n as f64, rng);
        let sum: f64 = (0..failures).map(|_| self.weights[rng.below(self.weights.len())]).sum();
        sum / m as f64
    }

    /// The smallest of the given numbers of units, in order, from which on runs miss with a probability of at most
    /// `most`.
    ///
    /// # Errors
    /// As [`miss`](Units::miss).
    pub fn needed(
        &self,
        (delta, most): (f64, f64),
        sizes: &[u64],
        runs: usize,
        rng: &mut Rng,
    ) -> Result<Option<u64>, Refusal> {
        let mut needed = None;
        for &m in sizes {
            let is_good = self.miss(delta, m, runs, Level::P95, rng)?.value <= most;
            needed = if is_good { needed.or(Some(m)) } else { None };
        }
        Ok(needed)
    }
}

/// A binomial number, by the gaps between successes.
fn binomial(n: u64, p: f64, rng: &mut Rng) -> usize {
    if p >= 1.0 {
        return n as usize;
    }
    let (mut at, mut found) = (0.0, 0);
    loop {
        at += ((1.0 - rng.uniform()).ln() / (-p).ln_1p()).floor() + 1.0;
        if at > n as f64 {
            return found;
        }
        found += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget;
    use super::*;

    #[test]
    fn equal_weights_miss_as_often_as_counting() {
        let units = Units { n: 100_000, weights: vec![1.0; 100] };
        for m in [3000, 3500, 4750, 6000] {
            let found = units.miss(3.0, m, 4000, Level::try_from(0.99).unwrap(), &mut Rng::new(m)).unwrap();
            let exact = budget::miss(1e-3, 3.0, m).unwrap();
            assert!(found.covers(exact), "{m}: {found} {exact}");
        }
        let needed = units.needed((3.0, 0.06), &[1000, 3500, 5000, 7000], 4000, &mut Rng::new(1)).unwrap();
        assert_eq!(needed, Some(5000));
    }

    #[test]
    fn one_heavy_failure_among_many_light_ones_is_hard() {
        let mut weights = vec![0.01; 200];
        weights[0] = 50.0;
        let units = Units { n: 1000, weights };
        let found = units.miss(3.0, 500, 1000, Level::P95, &mut Rng::new(1)).unwrap();
        assert!(found.low > 0.5, "{found}");
        assert!(Units { n: 10, weights: vec![1.0] }.miss(3.0, 5, 10, Level::P95, &mut Rng::new(1)).is_err());
    }

    #[test]
    fn binomial_numbers_have_their_mean() {
        let mut rng = Rng::new(3);
        let mean = (0..2000).map(|_| binomial(500, 0.02, &mut rng)).sum::<usize>() as f64 / 2000.0;
        assert!((mean - 10.0).abs() < 0.25, "{mean}");
        assert_eq!(binomial(7, 1.0, &mut rng), 7);
    }
}
