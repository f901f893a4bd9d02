//! Linear scores from few examples: the log odds of an outcome, or the mean of a number, as b + Σ βᵢ zᵢ with standardised
//! covariates z.
//!
//! Each β has a normal prior with mean 0 (a ridge), so that there is always one fit, with more covariates than examples
//! and with outcomes that a plane separates too. Outcomes are balanced: both kinds weigh as much as the other, which
//! shifts the log odds by a constant and keeps a rare kind from being ignored.
//!
//! Assumes: what decides acts in one direction. Blind to: what only two covariates together do. Cost: O(n d² + d³) a
//! Newton step.
//! Reference: Hoerl & Kennard, Technometrics 12(1), 1970; le Cessie & Van Houwelingen, "Ridge estimators in logistic
//! regression", JRSS C 41(1), 1992.

use crate::regression::Factor;

/// A linear score.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    offset: f64,
    /// β over the standard deviation of each covariate; 0 of one that does not vary.
    slopes: Vec<f64>,
}

/// Standard deviation of the prior of a slope, in log odds, or standard deviations of the target, per standard deviation of
/// a covariate.
const PRIOR: f64 = 0.6;
/// Newton steps at most, and the largest change at which they end.
const STEPS: usize = 50;
const TOLERANCE: f64 = 1e-9;

impl Linear {
    /// The log odds of an outcome, but for a constant, by the examples in flat rows; nothing if they are of one kind.
    ///
    /// # Panics
    /// If there are not as many rows as outcomes.
    pub fn log_odds(rows: &[f32], outcomes: &[bool]) -> Option<Linear> {
        let design = Design::of(rows, outcomes.len());
        let weights = balanced(outcomes)?;
        let mut beta = vec![0.0; design.width];
        for _ in 0..STEPS {
            let (mut slope, mut curve) = (Vec::new(), Vec::new());
            for (i, (&y, w)) in outcomes.iter().zip(&weights).enumerate() {
                let chance = 1.0 / (1.0 + (-dot(&beta, design.row(i))).exp());
                slope.push(w * (f64::from(u8::from(y)) - chance));
                curve.push(w * chance * (1.0 - chance));
            }
            let step = design.newton(&beta, &slope, &curve)?;
            beta.iter_mut().zip(&step).for_each(|(b, s)| *b += s);
            if step.iter().all(|s| s.abs() < TOLERANCE) {
                break;
            }
        }
        Some(design.raw(&beta))
    }

    /// The mean of targets of variance 1.
    ///
    /// # Panics
    /// If there are not as many rows as targets, or none.
    pub fn mean(rows: &[f32], targets: &[f64]) -> Linear {
        let design = Design::of(rows, targets.len());
        let (none, ones) = (vec![0.0; design.width], vec![1.0; targets.len()]);
        // A ridge leaves no direction flat but the intercept's, which has as much curvature as there are targets.
        let beta = design.newton(&none, targets, &ones).expect("a ridge is positive definite");
        design.raw(&beta)
    }

    /// The score of a row.
    pub fn score(&self, row: &[f32]) -> f64 {
        self.offset + self.slopes.iter().zip(row).map(|(slope, &x)| slope * f64::from(x)).sum::<f64>()
    }

    /// The same score times a factor, plus a constant.
    #[must_use]
    pub fn scaled(&self, factor: f64, constant: f64) -> Linear {
        let slopes = self.slopes.iter().map(|slope| factor * slope).collect();
        Linear { offset: factor * self.offset + constant, slopes }
    }

    /// This score, made log odds but for a constant by the outcomes of some rows: a score of one covariate. Nothing if they
    /// are of one kind.
    pub fn as_log_odds(&self, rows: &[f32], outcomes: &[bool]) -> Option<Linear> {
        let width = rows.len() / outcomes.len();
        let scores: Vec<f32> = rows.chunks_exact(width).map(|row| self.score(row) as f32).collect();
        let of_score = Linear::log_odds(&scores, outcomes)?;
        Some(self.scaled(of_score.slopes[0], of_score.offset))
    }
}

/// Mean cross-entropy of log odds, where both outcomes weigh as much; ln 2 is that of knowing nothing. Nothing if outcomes are
/// of one kind.
///
/// # Panics
/// If there are not as many scores as outcomes.
pub fn balanced_cross_entropy(scores: &[f64], outcomes: &[bool]) -> Option<f64> {
    assert_eq!(scores.len(), outcomes.len(), "scores and outcomes");
    let weights = balanced(outcomes)?;
    let cost = |(score, y): (&f64, &bool)| {
        let wrong = if *y { -score } else { *score };
        wrong.max(0.0) + (-wrong.abs()).exp().ln_1p()
    };
    let terms = scores.iter().zip(outcomes).map(cost).zip(&weights);
    Some(terms.map(|(cost, weight)| cost * weight).sum::<f64>() / outcomes.len() as f64)
}

/// The weights with which both outcomes count as half of all; nothing if there is only one.
fn balanced(outcomes: &[bool]) -> Option<Vec<f64>> {
    let (n, yes) = (outcomes.len() as f64, outcomes.iter().filter(|y| **y).count() as f64);
    let weight = |y: &bool| 0.5 * n / if *y { yes } else { n - yes };
    (yes > 0.0 && yes < n).then(|| outcomes.iter().map(weight).collect())
}

/// Standardised rows, each with a 1 for the intercept at its end.
struct Design {
    width: usize,
    rows: Vec<f64>,
    mean: Vec<f64>,
    scale: Vec<f64>,
}

impl Design {
    fn of(rows: &[f32], n: usize) -> Design {
        assert!(n > 0 && rows.len().is_multiple_of(n), "{} numbers in {n} rows", rows.len());
        let inputs = rows.len() / n;
        let column = |c: usize| rows.iter().skip(c).step_by(inputs).map(|&x| f64::from(x));
        let mean: Vec<f64> = (0..inputs).map(|c| column(c).sum::<f64>() / n as f64).collect();
        let spread = |c: usize| (column(c).map(|x| (x - mean[c]).powi(2)).sum::<f64>() / n as f64).sqrt();
        let is_still = |c: usize, sd: f64| sd <= 1e-6 * mean[c].abs().max(1e-12);
        let scale = |c: usize| if is_still(c, spread(c)) { f64::INFINITY } else { spread(c) };
        let scale: Vec<f64> = (0..inputs).map(scale).collect();
        let standard = |(c, &x): (usize, &f32)| (f64::from(x) - mean[c]) / scale[c];
        let row = |row: &[f32]| row.iter().enumerate().map(standard).chain([1.0]).collect::<Vec<_>>();
        Design { width: inputs + 1, rows: rows.chunks_exact(inputs).flat_map(row).collect(), mean, scale }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..][..self.width]
    }

    /// The step to the maximum of a log density with these derivatives by the score of each row, and the prior.
    fn newton(&self, beta: &[f64], slope: &[f64], curve: &[f64]) -> Option<Vec<f64>> {
        let d = self.width;
        let (mut right, mut normal) = (vec![0.0; d], vec![0.0; d * d]);
        for (i, (slope, curve)) in slope.iter().zip(curve).enumerate() {
            let row = self.row(i);
            for (a, x) in row.iter().enumerate() {
                right[a] += slope * x;
                let with = &mut normal[a * d..=a * d + a];
                with.iter_mut().zip(row).for_each(|(sum, y)| *sum += curve * x * y);
            }
        }
        let precision = PRIOR.powi(-2);
        for a in 0..d - 1 {
            right[a] -= precision * beta[a];
            normal[a * d + a] += precision;
        }
        (0..d).for_each(|a| (0..a).for_each(|b| normal[b * d + a] = normal[a * d + b]));
        Factor::of(&normal, d).map(|factor| factor.solve(&right))
    }

    fn raw(&self, beta: &[f64]) -> Linear {
        let (slopes, intercept) = beta.split_at(self.width - 1);
        let slopes: Vec<f64> = slopes.iter().zip(&self.scale).map(|(b, scale)| b / scale).collect();
        Linear { offset: intercept[0] - dot(&slopes, &self.mean), slopes }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// Rows of three covariates, of which the last does not vary.
    fn rows(n: usize, rng: &mut Rng) -> Vec<f32> {
        (0..n).flat_map(|_| [3.0 + 2.0 * rng.normal() as f32, rng.normal() as f32, 7.0]).collect()
    }

    #[test]
    fn the_log_odds_of_a_known_plane_are_found() {
        let mut rng = Rng::new(1);
        let rows = rows(20_000, &mut rng);
        let true_odds = |row: &[f32]| 0.5 * f64::from(row[0]) - 1.5 * f64::from(row[1]) - 4.0;
        let fails = |row: &[f32]| rng.uniform() < 1.0 / (1.0 + (-true_odds(row)).exp());
        let outcomes: Vec<bool> = rows.chunks_exact(3).map(fails).collect();
        let found = Linear::log_odds(&rows, &outcomes).unwrap();
        for (slope, want) in found.slopes.iter().zip([0.5, -1.5, 0.0]) {
            assert!((slope - want).abs() < 0.1, "{found:?}");
        }
        let scores: Vec<f64> = rows.chunks_exact(3).map(|row| found.score(row)).collect();
        let told = balanced_cross_entropy(&scores, &outcomes).unwrap();
        assert!(told < 0.5, "{told}");
        // Any score that is in order can be made log odds.
        let other = found.scaled(-17.0, 4.0).as_log_odds(&rows, &outcomes).unwrap();
        assert!((other.score(&rows[..3]) - found.score(&rows[..3])).abs() < 0.1, "{other:?}");
    }

    #[test]
    fn a_plane_that_separates_and_few_rows_have_a_fit() {
        let rows: Vec<f32> = (0..40).map(|i| (i % 10) as f32).collect();
        let outcomes = [false, true, false, true];
        assert!(Linear::log_odds(&rows, &outcomes).unwrap().score(&rows[..10]).is_finite());
        assert!(Linear::log_odds(&rows, &[true; 4]).is_none());
    }

    #[test]
    fn a_mean_is_the_ridge_estimate() {
        // One covariate of mean 0 and variance 1: β = Σ x y / (n + λ).
        let found = Linear::mean(&[-1.0, 1.0, -1.0, 1.0], &[0.0, 2.0, 0.0, 2.0]);
        let beta = 4.0 / (4.0 + PRIOR.powi(-2));
        assert!((found.score(&[1.0]) - (1.0 + beta)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn knowing_nothing_costs_the_logarithm_of_two() {
        let outcomes = [true, false, false, false];
        let cost = balanced_cross_entropy(&[0.0; 4], &outcomes).unwrap();
        assert!((cost - std::f64::consts::LN_2).abs() < 1e-12);
        assert!(balanced_cross_entropy(&[0.0; 2], &[true; 2]).is_none());
    }
}
