//! A surrogate of the margin, by which moves are proposed that are likely to stay below a limit: a linear trend, and a Gaussian
//! process for what the trend leaves.
//!
//! Kernel: exp(−‖x − y‖² / 2d) over covariates standardised to deviation 1, with a nugget of 0.01. Its rows are those whose
//! margin is nearest to the limit, and as many of all others. What it is wrong by is the root mean square of its errors with
//! each row left out. It decides only how often a move is accepted, never what is estimated.
//!
//! Cost: O(n d² + d³ + m³) to fit n rows, m ≤ 100; O(m d) to ask.
//! Reference: Rasmussen & Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, sections 2.7 and 5.4.2.

use super::linear::Linear;
use crate::regression::Factor;

/// Most rows of the Gaussian process.
const MOST: usize = 100;
/// Variance of what neighbours do not share, in units of the variance of the residuals.
const NUGGET: f64 = 0.01;
/// The least error, in deviations of the margin: of a margin that is a plane nothing is left.
const LEAST_ERROR: f64 = 1e-3;
/// How many times larger the error is taken than it is: where it is underestimated, a chain stays where it is, because the
/// surrogate calls everywhere else likelier.
const CAUTION: f64 = 2.0;
/// Deviation of the standard logistic distribution, π / √3.
const LOGISTIC: f64 = 1.813_799_364_234_218;

/// What was tried, and how far it was from failing.
#[derive(Debug, Clone, Default)]
pub(super) struct Tried {
    /// Flat rows of covariates.
    rows: Vec<f32>,
    margins: Vec<f64>,
}

impl Tried {
    /// Adds an experiment.
    pub fn add(&mut self, row: &[f64], margin: f64) {
        self.rows.extend(row.iter().map(|&x| x as f32));
        self.margins.push(margin);
    }

    fn width(&self) -> usize {
        self.rows.len() / self.margins.len()
    }

    /// Margins as they are learned: how far beyond the limit one is does not matter, or else a single one could matter most.
    fn clipped(&self, limit: f64) -> Vec<f64> {
        let mut sorted = self.margins.clone();
        sorted.sort_by(f64::total_cmp);
        let reach = sorted[sorted.len() / 2] - limit;
        self.margins.iter().map(|m| m.clamp(limit - reach.abs(), limit + 2.0 * reach.abs())).collect()
    }

    /// The rows nearest to the limit, and as many of the others.
    fn chosen(&self, margins: &[f64], limit: f64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..margins.len()).collect();
        order.sort_by(|&a, &b| (margins[a] - limit).abs().total_cmp(&(margins[b] - limit).abs()));
        let others = order.split_off(order.len().min(MOST / 2));
        order.extend(others.iter().step_by((others.len() / (MOST / 2)).max(1)).take(MOST / 2));
        order
    }
}

/// A fitted surrogate.
#[derive(Debug, Clone)]
pub(super) struct Surrogate {
    trend: Linear,
    /// One over the deviation of each covariate; 0 of one that does not vary.
    scales: Vec<f64>,
    /// Flat rows, scaled.
    centres: Vec<f64>,
    weights: Vec<f64>,
    limit: f64,
    /// Of a logistic distribution of errors.
    scale: f64,
}

impl Surrogate {
    /// Of what was tried; nothing if there are no covariates, or margins do not vary.
    pub fn fit(tried: &Tried, limit: f64) -> Option<Surrogate> {
        let width = tried.width();
        let margins = tried.clipped(limit);
        let deviation = deviation(&margins);
        if width == 0 || deviation <= 0.0 {
            return None;
        }
        let targets: Vec<f64> = margins.iter().map(|m| (m - limit) / deviation).collect();
        let trend = Linear::mean(&tried.rows, &targets).scaled(deviation, limit);
        let column =
            |j: usize| tried.rows.iter().skip(j).step_by(width).map(|&x| f64::from(x)).collect::<Vec<_>>();
        let scales = (0..width).map(|j| one_over(self::deviation(&column(j)))).collect();
        let mut fitted = Surrogate { trend, scales, centres: vec![], weights: vec![], limit, scale: 0.0 };
        let error = fitted.learn_residuals(tried, &margins)?;
        fitted.scale = CAUTION * error.max(LEAST_ERROR * deviation) / LOGISTIC;
        Some(fitted)
    }

    /// The Gaussian process of what the trend leaves; its error with each row left out.
    fn learn_residuals(&mut self, tried: &Tried, margins: &[f64]) -> Option<f64> {
        let (width, chosen) = (self.scales.len(), tried.chosen(margins, self.limit));
        let row = |i: usize| &tried.rows[i * width..][..width];
        let residuals: Vec<f64> = chosen.iter().map(|&i| margins[i] - self.trend.score(row(i))).collect();
        let scaled = |(x, scale): (&f32, &f64)| f64::from(*x) * scale;
        self.centres = chosen.iter().flat_map(|&i| row(i).iter().zip(&self.scales).map(scaled)).collect();
        let n = chosen.len();
        let mut kernel: Vec<f64> =
            self.centres.chunks_exact(width).flat_map(|c| self.kernel(c).collect::<Vec<_>>()).collect();
        (0..n).for_each(|i| kernel[i * n + i] += NUGGET);
        let factor = Factor::of(&kernel, n)?;
        self.weights = factor.solve(&residuals);
        let left_out =
            self.weights.iter().zip(factor.inverse_diagonal()).map(|(w, inverse)| (w / inverse).powi(2));
        Some((left_out.sum::<f64>() / n as f64).sqrt())
    }

    /// Likeness of a scaled row to each centre.
    fn kernel<'a>(&'a self, scaled: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let width = scaled.len();
        let square = move |c: &[f64]| c.iter().zip(scaled).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        self.centres.chunks_exact(width).map(move |c| libm::exp(-square(c) / (2 * width) as f64))
    }

    /// ln of the chance that the margin of a row is below the limit.
    pub fn ln_chance(&self, row: &[f64]) -> f64 {
        let narrow: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        let scaled: Vec<f64> = row.iter().zip(&self.scales).map(|(x, scale)| x * scale).collect();
        let rest: f64 = self.kernel(&scaled).zip(&self.weights).map(|(k, w)| k * w).sum();
        let above = (self.trend.score(&narrow) + rest - self.limit) / self.scale;
        -(above.max(0.0) + libm::log1p(libm::exp(-above.abs())))
    }
}

fn one_over(deviation: f64) -> f64 {
    if deviation > 0.0 { 1.0 / deviation } else { 0.0 }
}

fn deviation(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// What a surrogate says of rows, fitted on a thousand draws of a margin.
    fn fitted(margin: fn(&[f64]) -> f64, limit: f64) -> Surrogate {
        let (mut rng, mut tried) = (Rng::new(1), Tried::default());
        for _ in 0..1000 {
            let row = [rng.normal(), rng.normal()];
            tried.add(&row, margin(&row));
        }
        Surrogate::fit(&tried, limit).unwrap()
    }

    #[test]
    fn planes_and_rings_are_told_from_what_lies_beyond_them() {
        for margin in [(|x| 2.0 - x[0]) as fn(&[f64]) -> f64, |x| 3.0 - x[0].hypot(x[1])] {
            let surrogate = fitted(margin, 1.0);
            let (inside, outside) = (surrogate.ln_chance(&[2.2, 0.0]), surrogate.ln_chance(&[0.3, 0.0]));
            assert!(inside > -0.3 && outside < -2.0, "{inside} {outside}");
        }
    }

    #[test]
    fn one_margin_without_bounds_does_not_decide() {
        let mut tried = Tried::default();
        let mut rng = Rng::new(1);
        for i in 0..500 {
            let x = rng.normal();
            tried.add(
                &[x],
                if i == 7 {
                    f64::INFINITY
                } else if i == 8 {
                    -1e9
                } else {
                    2.0 - x
                },
            );
        }
        let surrogate = Surrogate::fit(&tried, 1.0).unwrap();
        assert!(surrogate.ln_chance(&[1.5]) > -0.7 && surrogate.ln_chance(&[0.0]) < -2.0);
    }

    #[test]
    fn nothing_is_learned_from_nothing() {
        let mut tried = Tried::default();
        tried.add(&[], 1.0);
        assert!(Surrogate::fit(&tried, 0.5).is_none());
    }
}
