//! The chance of each draw to be tried, from what has failed so far.
//!
//! aᵢ = min(1, floor + gain √ĝ(sᵢ)). The score s says how dangerous a draw looks, by whatever has been learned; ĝ is the
//! chance to fail at a score: the non-decreasing function nearest to past experiments, each of which counts as often as it
//! stands for draws, 1 / a. Of all rules that try as many draws, a ∝ √g has the least variance (Neyman 1934). So no exponent
//! has to be chosen, and a score that tells nothing makes all chances equal.
//!
//! A fit from few failures is not to be believed where it says zero: one more failure, anywhere with equal chance, is
//! counted among those seen.
//!
//! The rule may be fitted anew from all experiments before: the next chance depends on the past only, which is all that
//! [`HorvitzThompson`](super::HorvitzThompson) asks for. Its floor must stay the same.
//!
//! Assumes: nothing that an interval would need. Blind to: what the score does not tell.
//! Reference: Neyman, "On the two different aspects of the representative method", JRSS 97(4), 1934 (optimum allocation);
//! Barlow et al., 1972 (isotonic regression).

use super::refusal::Refusal;
use crate::StatsError;
use crate::isotonic::decreasing;

/// A rule that tries about a given share of all draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    floor: f64,
    gain: f64,
    /// Lowest score of each step of √ĝ, ascending, and its value from there on; what lies below the first has its value.
    steps: Vec<(f64, f64)>,
}

/// An experiment that was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// How dangerous its draw looks now; larger is more.
    pub score: f64,
    /// How many draws it stands for: one over the chance that its draw had to be tried.
    pub weight: f64,
    /// Whether it failed.
    pub failed: bool,
}

impl Allocation {
    /// The rule before anything is known: every draw is tried with the chance `rate`. The chance of no draw will be below
    /// `rate` times `plain_share` later.
    ///
    /// # Errors
    /// If one of both is not above 0, at most 1.
    pub fn even(rate: f64, plain_share: f64) -> Result<Allocation, Refusal> {
        let floor = floor(rate, plain_share)?;
        Ok(Allocation { floor, gain: rate - floor, steps: vec![(f64::NEG_INFINITY, 1.0)] })
    }

    /// The rule that follows from experiments. `draws` are the scores of draws of P, whose mean chance is to be `rate`.
    ///
    /// # Errors
    /// If a setting is out of its range, or nothing failed, or there are no draws.
    pub fn fit(rate: f64, plain_share: f64, seen: &[Scored], draws: &[f64]) -> Result<Allocation, Refusal> {
        let floor = floor(rate, plain_share)?;
        let failures = seen.iter().filter(|s| s.failed).count();
        StatsError::require("allocation", 1, "failures", failures)?;
        StatsError::require("allocation", 1, "draws", draws.len())?;
        let steps = roots(seen, failures);
        let mut rule = Allocation { floor, gain: 0.0, steps };
        let roots: Vec<f64> = draws.iter().map(|&score| rule.root(score)).collect();
        rule.gain = gain(&roots, floor, rate);
        Ok(rule)
    }

    /// The smallest chance of any draw.
    pub fn floor(&self) -> f64 {
        self.floor
    }

    /// The chance of a draw with that score to be tried.
    pub fn chance(&self, score: f64) -> f64 {
        (self.floor + self.gain * self.root(score)).min(1.0)
    }

    /// √ĝ at a score.
    fn root(&self, score: f64) -> f64 {
        let above = self.steps.partition_point(|(from, _)| *from <= score);
        self.steps[above.saturating_sub(1)].1
    }
}

fn floor(rate: f64, plain_share: f64) -> Result<f64, Refusal> {
    let is_share = |v: f64| v > 0.0 && v <= 1.0;
    let expected = "a number above 0, at most 1";
    StatsError::within(is_share(rate), "experiments per draw", expected, rate)?;
    StatsError::within(is_share(plain_share), "plain share", expected, plain_share)?;
    Ok(rate * plain_share)
}

/// The steps of √ĝ.
fn roots(seen: &[Scored], failures: usize) -> Vec<(f64, f64)> {
    let mut seen = seen.to_vec();
    seen.sort_by(|a, b| b.score.total_cmp(&a.score));
    // Experiments of one score are one value.
    let groups: Vec<&[Scored]> = seen.chunk_by(|a, b| a.score == b.score).collect();
    let weight = |of: &[Scored]| of.iter().map(|s| s.weight).sum::<f64>();
    let failed = |of: &[Scored]| of.iter().filter(|s| s.failed).map(|s| s.weight).sum::<f64>();
    let weights: Vec<f64> = groups.iter().map(|g| weight(g)).collect();
    let shares: Vec<f64> = groups.iter().zip(&weights).map(|(g, w)| failed(g) / w).collect();
    let (n, mean) = (failures as f64, failed(&seen) / weight(&seen));
    let fitted = decreasing(&shares, &weights);
    let mut steps: Vec<(f64, f64)> = groups
        .iter()
        .zip(fitted)
        .map(|(g, share)| (g[0].score, ((n * share + mean) / (n + 1.0)).sqrt()))
        .collect();
    steps.reverse();
    steps.dedup_by(|next, kept| next.1 == kept.1);
    steps
}

/// The gain that makes the mean chance the rate, by bisection: the mean grows with the gain.
fn gain(roots: &[f64], floor: f64, rate: f64) -> f64 {
    let mean =
        |gain: f64| roots.iter().map(|root| (floor + gain * root).min(1.0)).sum::<f64>() / roots.len() as f64;
    // No root is zero, so at this gain every draw is tried.
    let smallest = roots.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (0.0, 1.0 / smallest);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if mean(middle) < rate { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::HorvitzThompson;
    use super::super::toy::{Toy, assert_covers};
    use super::*;
    use crate::Level;
    use offnominal_core::Rng;

    fn seen(n: usize, score: f64, failures: usize) -> Vec<Scored> {
        (0..n).map(|i| Scored { score, weight: 2.0, failed: i < failures }).collect()
    }

    #[test]
    fn chances_are_in_the_ratio_of_the_roots_and_as_many_as_asked() {
        // A tenth of all draws fails with the chance .4, the others with .1.
        let known = [seen(100_000, 2.0, 40_000), seen(900_000, 1.0, 90_000)].concat();
        let draws: Vec<f64> = (0..1000).map(|i| if i < 100 { 2.0 } else { 1.0 }).collect();
        let rule = Allocation::fit(0.1, 0.1, &known, &draws).unwrap();
        let (high, low) = (rule.chance(2.5), rule.chance(0.0));
        assert!(((high - 0.01) / (low - 0.01) - 2.0).abs() < 1e-3, "{high} {low}");
        let mean = draws.iter().map(|&s| rule.chance(s)).sum::<f64>() / 1000.0;
        assert!((mean - 0.1).abs() < 1e-9, "{mean}");
        assert_eq!(rule.floor(), 0.1 * 0.1);
    }

    #[test]
    fn a_score_that_tells_nothing_makes_all_chances_equal() {
        let rule = Allocation::fit(0.2, 0.1, &seen(50, 0.0, 3), &[0.0; 9]).unwrap();
        assert!((rule.chance(5.0) - 0.2).abs() < 1e-9 && rule.chance(5.0) == rule.chance(-5.0));
        let even = Allocation::even(0.2, 0.1).unwrap();
        assert!((even.chance(f64::NEG_INFINITY) - 0.2).abs() < 1e-12 && even.floor() == rule.floor());
    }

    #[test]
    fn experiments_count_as_often_as_they_stand_for_draws() {
        // Both scores were tried and failed equally often, but the lower one had a tenth of the chance.
        let at = |score: f64, weight: f64| (0..100).map(move |i| Scored { score, weight, failed: i < 10 });
        let known: Vec<Scored> = at(2.0, 2.0).chain(at(1.0, 20.0)).collect();
        let rule = Allocation::fit(0.2, 0.1, &known, &[1.0, 2.0]).unwrap();
        assert!((rule.chance(2.0) - rule.chance(1.0)).abs() < 1e-9);
    }

    #[test]
    fn few_failures_leave_a_chance_everywhere() {
        let known = [seen(10, 2.0, 1), seen(990, 1.0, 0)].concat();
        let rule = Allocation::fit(0.1, 0.1, &known, &[vec![2.0; 10], vec![1.0; 990]].concat()).unwrap();
        assert!(
            rule.chance(1.0) > 3.0 * rule.floor() && rule.chance(2.0) > 5.0 * rule.chance(1.0),
            "{rule:?}"
        );
    }

    #[test]
    fn the_interval_covers_while_the_rule_is_fitted_again_and_again() {
        let toy = Toy { height: 0.5, decay: 20.0 };
        assert_covers(toy.p(), |rng: &mut Rng| {
            let mut rule = Allocation::even(0.2, 0.1).unwrap();
            let (mut found, mut known) = (HorvitzThompson::new(rule.floor()), Vec::new());
            for i in 1..=3000 {
                let x = rng.uniform();
                let (score, chance) = (-x, rule.chance(-x));
                if rng.uniform() >= chance {
                    found.skip();
                    continue;
                }
                let failed = toy.fails(x, rng);
                found.record(chance, failed);
                known.push(Scored { score, weight: 1.0 / chance, failed });
                if i % 50 == 0 && known.iter().any(|k| k.failed) {
                    let draws: Vec<f64> = (0..100).map(|i| -f64::from(i) / 100.0).collect();
                    rule = Allocation::fit(0.2, 0.1, &known, &draws).unwrap();
                }
            }
            found.estimate(Level::P95).unwrap()
        });
    }

    #[test]
    fn nothing_to_learn_from_is_refused() {
        let message = Allocation::fit(0.1, 0.1, &seen(5, 0.0, 0), &[0.0]).unwrap_err().to_string();
        assert!(message.contains("failures"), "{message}");
        assert!(Allocation::fit(0.1, 0.1, &seen(5, 0.0, 1), &[]).is_err());
        assert!(Allocation::even(0.0, 0.1).is_err() && Allocation::even(0.1, 1.5).is_err());
    }
}
