//! When importance weights are not to be trusted.
//!
//! | quantity         | definition                                            | doubtful                    |
//! |------------------|-------------------------------------------------------|-----------------------------|
//! | failures         | experiments that failed                               | fewer than 5                |
//! | effective        | (Σ w C)² / Σ (w C)², failures of equal weight that say as much | below 5            |
//! | largest share    | max w C / Σ w C                                       | above ½                     |
//! | largest weight   | max w / Σ w                                           | above a fifth, of 25 or more |
//! | mean weight      | Σ w / n, whose expectation is 1                       | 3 standard errors from 1    |
//! | tail             | Pareto shape k̂ of the largest failing weights; from ½ on the variance is infinite | above 0.7 |
//! | drift            | difference of the estimates of both halves            | above 3 standard errors     |
//!
//! The standard error comes from the same sample and is too small when the sample misses the large weights, so that no
//! single check suffices.
//!
//! References: Owen, Monte Carlo Theory, Methods and Examples, section 9.3; Zhang and Stephens, Technometrics 51(3), 2009
//! (the fit of the shape); Vehtari et al., "Pareto smoothed importance sampling", JMLR 25, 2024 (its prior and limit).

use super::refusal::Refusal;
use super::warning::{FEWEST_FAILURES, Warning};
use super::weighted::{Weighted, mean};
use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// Failing weights from which a tail can be fitted.
const FEWEST_FOR_TAIL: usize = 25;
const LARGEST_TAIL: f64 = 0.7;
const LARGEST_SHARE: f64 = 0.5;
const LARGEST_WEIGHT: f64 = 0.2;
/// Standard errors of a deviation that cannot be chance.
const FAR: f64 = 3.0;

/// What a sample says of its own weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// Experiments that failed.
    pub failures: usize,
    /// How many failures of equal weight would say as much.
    pub effective_failures: f64,
    /// The share of the largest term in the estimate; zero without a failure.
    pub largest_share: f64,
    /// The share of the largest weight in all weights, failing or not.
    pub largest_weight: f64,
    /// Mean weight of a draw, with its normal interval.
    pub mean_weight: Estimate,
    /// Pareto shape of the failing weights, if there are enough and they differ.
    pub pareto_shape: Option<f64>,
    /// Difference of the halves' estimates in standard errors, if both have failures.
    pub drift: Option<f64>,
}

impl Diagnostics {
    /// Diagnostics of a sample in the order in which it was taken, of `n` draws; draws without an experiment have
    /// weight 0.
    ///
    /// # Errors
    /// If there are no experiments.
    pub fn of(sample: &[Weighted], n: usize) -> Result<Diagnostics, Refusal> {
        StatsError::require("diagnostics", 1, "experiments", sample.len())?;
        let mut terms: Vec<f64> = sample.iter().map(Weighted::term).filter(|t| *t > 0.0).collect();
        let (sum, squares) = terms.iter().fold((0.0, 0.0), |(s, q), t| (s + t, q + t * t));
        terms.sort_unstable_by(f64::total_cmp);
        let (level, (weight, error)) = (Level::P95, mean(sample, n, |e| e.weight));
        let ends = (weight - level.z() * error, weight + level.z() * error);
        Ok(Diagnostics {
            failures: terms.len(),
            effective_failures: if squares > 0.0 { sum * sum / squares } else { 0.0 },
            largest_share: terms.last().map_or(0.0, |largest| largest / sum),
            largest_weight: largest_weight(sample),
            mean_weight: level.estimate(weight, ends, sample.len(), "normal"),
            pareto_shape: tail(&terms),
            drift: drift(sample),
        })
    }

    /// Everything that is doubtful, the worst first; nothing if the weights look sound.
    pub fn warnings(&self) -> Vec<Warning> {
        let weight = &self.mean_weight;
        let error = (weight.high - weight.low) / (2.0 * Level::P95.z());
        let (tail, drift) = (self.pareto_shape.unwrap_or(0.0), self.drift.unwrap_or(0.0));
        let checks = [
            (self.failures < FEWEST_FAILURES, Warning::FewFailures { found: self.failures }),
            ((weight.value - 1.0).abs() > FAR * error + 1e-9, Warning::MeanWeight { found: weight.value }),
            (self.largest_share > LARGEST_SHARE, Warning::OneWeight { share: self.largest_share }),
            (self.largest_weight > LARGEST_WEIGHT, Warning::OneExperiment { share: self.largest_weight }),
            (
                self.effective_failures < FEWEST_FAILURES as f64,
                Warning::FewEffective { effective: self.effective_failures },
            ),
            (tail > LARGEST_TAIL, Warning::HeavyTail { shape: tail }),
            (drift > FAR, Warning::Drift { errors: drift }),
        ];
        checks.into_iter().filter(|(is_doubtful, _)| *is_doubtful).map(|(_, warning)| warning).collect()
    }
}

/// The share of the largest weight; of few experiments each has a large one, which means nothing.
fn largest_weight(sample: &[Weighted]) -> f64 {
    let (sum, most) = sample.iter().fold((0.0_f64, 0.0_f64), |(s, m), e| (s + e.weight, m.max(e.weight)));
    if sample.len() >= FEWEST_FOR_TAIL { most / sum } else { 0.0 }
}

/// How far the estimates of both halves are apart, in standard errors.
fn drift(sample: &[Weighted]) -> Option<f64> {
    let halves = sample.split_at(sample.len() / 2);
    let [(a, sa), (b, sb)] = [halves.0, halves.1].map(|half| mean(half, half.len().max(1), Weighted::term));
    (a > 0.0 && b > 0.0).then(|| (a - b).abs() / sa.hypot(sb))
}

/// Pareto shape of the largest of sorted positive numbers.
fn tail(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    if n < FEWEST_FOR_TAIL {
        return None;
    }
    let kept = (n / 5).min((3.0 * (n as f64).sqrt()) as usize).max(10);
    let threshold = sorted[n - kept - 1];
    let exceedances: Vec<f64> = sorted[n - kept..].iter().map(|t| t - threshold).collect();
    let differs = exceedances[kept / 4] > 1e-9 * threshold;
    differs.then(|| shape(&exceedances))
}

/// The shape of a generalised Pareto distribution: a posterior mean over its scale, drawn towards ½ as if by ten more
/// exceedances.
fn shape(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let (largest, quarter) = (sorted[sorted.len() - 1], sorted[(n / 4.0 + 0.5) as usize - 1]);
    let grid = 30 + n.sqrt() as usize;
    let rate = |j: usize| 1.0 / largest + (1.0 - (grid as f64 / (j as f64 + 0.5)).sqrt()) / (3.0 * quarter);
    let shape_at = |b: f64| sorted.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
    let likelihood = |b: f64| n * ((-b / shape_at(b)).ln() - shape_at(b) - 1.0);
    let points: Vec<(f64, f64)> = (0..grid).map(|j| (rate(j), likelihood(rate(j)))).collect();
    let most = points.iter().map(|p| p.1).filter(|l| l.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let weigh = |sums: (f64, f64), (b, l): &(f64, f64)| {
        let weight = if l.is_finite() { (l - most).exp() } else { 0.0 };
        (sums.0 + weight * b, sums.1 + weight)
    };
    let (weighted, total) = points.iter().fold((0.0, 0.0), weigh);
    (n * shape_at(weighted / total) + 5.0) / (n + 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// Failing weights U^−k, whose Pareto shape is k.
    fn pareto(k: f64, n: usize) -> Vec<f64> {
        let mut rng = Rng::new(4);
        let mut values: Vec<f64> = (0..n).map(|_| (1.0 - rng.uniform()).powf(-k)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn the_shape_of_a_pareto_tail_is_found() {
        for k in [0.2, 0.5, 1.0] {
            let found = tail(&pareto(k, 20_000)).unwrap();
            assert!((found - k).abs() < 0.12, "{k}: {found}");
        }
        assert!(tail(&pareto(0.5, 20)).is_none() && tail(&[1.0; 100]).is_none());
    }

    fn warned(sample: &[Weighted]) -> Vec<Warning> {
        Diagnostics::of(sample, sample.len()).unwrap().warnings()
    }

    #[test]
    fn each_fault_has_its_warning() {
        let failing = |weight: f64| Weighted { weight, failed: true };
        let mut sample = vec![failing(1.0); 40];
        assert_eq!(warned(&sample), []);
        assert!(matches!(warned(&sample[..4])[..], [Warning::FewFailures { found: 4 }, ..]));
        sample[0].weight = 1000.0;
        assert!(warned(&sample).iter().any(|w| matches!(w, Warning::OneWeight { share } if *share > 0.9)));
        assert!(warned(&[failing(3.0); 40]).contains(&Warning::MeanWeight { found: 3.0 }));
        let heavy: Vec<Weighted> = pareto(1.3, 2000).into_iter().map(failing).collect();
        let found = warned(&heavy);
        assert!(found.iter().any(|w| matches!(w, Warning::HeavyTail { .. })), "{found:?}");
        let drifting: Vec<Weighted> =
            (0..200).map(|i| failing(if i < 100 { 0.5 } else { 1.5 + 0.01 * f64::from(i % 2) })).collect();
        let found = warned(&drifting);
        assert!(found.iter().any(|w| matches!(w, Warning::Drift { .. })), "{found:?}");
    }
}
