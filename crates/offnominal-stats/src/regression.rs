//! Generalised linear models by iteratively reweighted least squares, and how well they predict what they have not seen.
//!
//! g(E yᵢ) = xᵢᵀβ with an intercept first. Each step solves Σ wᵢ xᵢ xᵢᵀ β = Σ wᵢ xᵢ zᵢ, where zᵢ = ηᵢ + (yᵢ − μᵢ) g′(μᵢ)
//! and wᵢ = nᵢ / (g′(μᵢ)² V(μᵢ)). A step that makes the fit worse is halved.
//!
//! | family   | link  | V(μ)     | response                                              |
//! |----------|-------|----------|-------------------------------------------------------|
//! | binomial | logit | μ(1 − μ) | share of successes; the weight n is their number with the failures |
//! | gaussian | log   | 1        | any number; the mean is positive                      |
//!
//! Reference: McCullagh & Nelder, Generalized Linear Models, 1989, section 2.5. Equal to statsmodels 0.15.0 to 1e-6
//! (`tests/it/regression.rs`).

mod crossed;
mod held_out;
mod solve;

use crate::StatsError;
pub use crossed::Crossed;
pub use held_out::{HeldOut, held_out};
pub use solve::Factor;

/// What the responses are, and the link that belongs to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Shares of successes, by their log odds.
    BinomialLogit,
    /// Numbers with the same spread everywhere, by the logarithm of their mean.
    GaussianLog,
}

/// One observation.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The covariates, without the intercept.
    pub x: Vec<f64>,
    /// The response.
    pub y: f64,
    /// How much it counts.
    pub weight: f64,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    family: Family,
    /// β, the intercept first.
    pub coefficients: Vec<f64>,
    /// The standard error of each, if all points are independent.
    pub standard_errors: Vec<f64>,
    /// Twice the log likelihood that a perfect model has more.
    pub deviance: f64,
    /// The same of the model with an intercept only.
    pub null_deviance: f64,
}

const STEPS: usize = 200;
const HALVINGS: usize = 40;
const TOLERANCE: f64 = 1e-13;

/// Fits a model.
///
/// # Errors
/// If there are fewer points than coefficients and one, a number is none or a response is impossible, the covariates
/// depend on each other, or the steps do not converge (as when a covariate separates successes from failures).
pub fn fit(family: Family, points: &[Point]) -> Result<Fit, StatsError> {
    let width = points.first().map_or(0, |p| p.x.len()) + 1;
    StatsError::require("regression", width + 1, "points", points.len())?;
    points.iter().try_for_each(|p| family.check(p, width))?;
    let null = coefficients(family, points, 1)?;
    let (found, factor) = if width == 1 { null.clone() } else { coefficients(family, points, width)? };
    let (deviance, null_deviance) = (family.deviance(points, &found), family.deviance(points, &null.0));
    let scale = match family {
        Family::BinomialLogit => 1.0,
        Family::GaussianLog => deviance / (points.len() - width) as f64,
    };
    let standard_errors = factor.inverse_diagonal().into_iter().map(|v| (scale * v).sqrt()).collect();
    Ok(Fit { family, coefficients: found, standard_errors, deviance, null_deviance })
}

/// The coefficients for the first covariates, intercept included, with the last weighted normal equations.
fn coefficients(family: Family, points: &[Point], width: usize) -> Result<(Vec<f64>, Factor), StatsError> {
    let mut beta = vec![0.0; width];
    beta[0] = family.start(points);
    let mut deviance = family.deviance(points, &beta);
    for _ in 0..STEPS {
        let (normal, right) = equations(family, points, &beta);
        let factor = Factor::of(&normal, width).ok_or(dependent())?;
        let full = factor.solve(&right);
        let (next, reached) = best_along(family, points, &beta, &full, deviance);
        let settled = (deviance - reached).abs() <= TOLERANCE * (1.0 + deviance.abs());
        (beta, deviance) = (next, reached);
        if settled {
            // The errors belong to the last coefficients, not to those before them.
            let (normal, _) = equations(family, points, &beta);
            return Factor::of(&normal, width).map(|factor| (beta, factor)).ok_or(dependent());
        }
    }
    Err(StatsError::OutOfRange { what: "regression", expected: "steps that converge", found: deviance })
}

/// The farthest of the step, its half, its quarter, … that does not make the fit worse.
fn best_along(family: Family, points: &[Point], from: &[f64], to: &[f64], at_least: f64) -> (Vec<f64>, f64) {
    let mut share = 1.0;
    for _ in 0..HALVINGS {
        let there: Vec<f64> = from.iter().zip(to).map(|(a, b)| a + share * (b - a)).collect();
        let reached = family.deviance(points, &there);
        if reached <= at_least {
            return (there, reached);
        }
        share *= 0.5;
    }
    (from.to_vec(), at_least)
}

/// Σ w x xᵀ row by row, and Σ w x z.
fn equations(family: Family, points: &[Point], beta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let k = beta.len();
    let (mut normal, mut right) = (vec![0.0; k * k], vec![0.0; k]);
    for point in points {
        let eta = predictor(beta, &point.x);
        let (mean, slope) = (family.mean(eta), family.slope(eta));
        let weight = point.weight * slope * slope / family.variance(mean);
        let target = weight * eta + point.weight * slope / family.variance(mean) * (point.y - mean);
        let x = |i: usize| if i == 0 { 1.0 } else { point.x[i - 1] };
        for i in 0..k {
            right[i] += target * x(i);
            (0..k).for_each(|j| normal[i * k + j] += weight * x(i) * x(j));
        }
    }
    (normal, right)
}

/// η = xᵀβ, of as many covariates as there are coefficients.
fn predictor(beta: &[f64], x: &[f64]) -> f64 {
    beta[0] + beta[1..].iter().zip(x).map(|(b, x)| b * x).sum::<f64>()
}

fn dependent() -> StatsError {
    StatsError::OutOfRange { what: "regression", expected: "covariates that vary independently", found: 0.0 }
}

impl Family {
    fn mean(self, eta: f64) -> f64 {
        match self {
            Family::BinomialLogit => 1.0 / (1.0 + (-eta).exp()),
            Family::GaussianLog => eta.exp(),
        }
    }

    /// dμ/dη.
    fn slope(self, eta: f64) -> f64 {
        let mean = self.mean(eta);
        match self {
            // A weight that is zero would leave the equations without a solution.
            Family::BinomialLogit => (mean * (1.0 - mean)).max(1e-300),
            Family::GaussianLog => mean,
        }
    }

    fn variance(self, mean: f64) -> f64 {
        match self {
            Family::BinomialLogit => (mean * (1.0 - mean)).max(1e-300),
            Family::GaussianLog => 1.0,
        }
    }

    /// The intercept to begin with: the link of the mean response.
    fn start(self, points: &[Point]) -> f64 {
        let total: f64 = points.iter().map(|p| p.weight).sum();
        let mean = points.iter().map(|p| p.weight * p.y).sum::<f64>() / total;
        match self {
            Family::BinomialLogit => {
                let mean = mean.clamp(1e-6, 1.0 - 1e-6);
                (mean / (1.0 - mean)).ln()
            }
            Family::GaussianLog => mean.max(1e-6).ln(),
        }
    }

    fn deviance(self, points: &[Point], beta: &[f64]) -> f64 {
        points.iter().map(|p| p.weight * self.misfit(p.y, predictor(beta, &p.x))).sum()
    }

    /// What a point of weight one adds to the deviance.
    fn misfit(self, y: f64, eta: f64) -> f64 {
        match self {
            Family::BinomialLogit => {
                // ln μ and ln (1 − μ) without rounding one of them to zero.
                let (ln_mean, ln_rest) = (-softplus(-eta), -softplus(eta));
                2.0 * (entropy(y) - y * ln_mean + entropy(1.0 - y) - (1.0 - y) * ln_rest)
            }
            Family::GaussianLog => (y - eta.exp()).powi(2),
        }
    }

    fn check(self, point: &Point, width: usize) -> Result<(), StatsError> {
        StatsError::same_length("covariates of a point", width - 1, point.x.len())?;
        let mut numbers = point.x.iter().chain([&point.y, &point.weight]);
        let share = self == Family::GaussianLog || (0.0..=1.0).contains(&point.y);
        numbers.try_for_each(|&v| StatsError::within(v.is_finite(), "regression", "finite numbers", v))?;
        StatsError::within(share, "response", "a share from 0 to 1", point.y)?;
        StatsError::within(point.weight >= 0.0, "weight", "not negative", point.weight)
    }
}

/// y ln y, which is zero at zero.
fn entropy(y: f64) -> f64 {
    if y > 0.0 { y * y.ln() } else { 0.0 }
}

/// ln (1 + eˣ).
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

impl Fit {
    /// The mean response at the given covariates.
    ///
    /// # Panics
    /// If there are not as many as the model was fitted with.
    pub fn predict(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len() + 1, self.coefficients.len(), "covariates of the model");
        self.family.mean(predictor(&self.coefficients, x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rows: &[(f64, f64, f64)]) -> Vec<Point> {
        rows.iter().map(|&(x, y, weight)| Point { x: vec![x], y, weight }).collect()
    }

    #[test]
    fn two_groups_have_the_log_odds_of_their_shares() {
        let found =
            fit(Family::BinomialLogit, &points(&[(0.0, 0.25, 8.0), (1.0, 0.5, 4.0), (1.0, 0.5, 2.0)]))
                .unwrap();
        assert!((found.coefficients[0] - (1.0_f64 / 3.0).ln()).abs() < 1e-9, "{found:?}");
        assert!((found.coefficients[1] - 3.0_f64.ln()).abs() < 1e-9);
        // Var of a log odds: 1 / (n p (1 − p)).
        assert!((found.standard_errors[0] - (1.0 / 1.5_f64).sqrt()).abs() < 1e-7);
        assert!((found.predict(&[1.0]) - 0.5).abs() < 1e-9);
        assert!(found.deviance < 1e-3 * found.null_deviance);
    }

    #[test]
    fn an_exponential_without_noise_is_found_exactly() {
        let rows: Vec<_> = (0..9).map(|i| (f64::from(i), (0.3 * f64::from(i) - 1.0).exp(), 1.0)).collect();
        let found = fit(Family::GaussianLog, &points(&rows)).unwrap();
        assert!((found.coefficients[0] + 1.0).abs() < 1e-8 && (found.coefficients[1] - 0.3).abs() < 1e-8);
    }

    #[test]
    fn what_cannot_be_fitted_is_an_error() {
        let refuse = |family, rows: &[_]| fit(family, &points(rows)).unwrap_err().to_string();
        let few = refuse(Family::GaussianLog, &[(0.0, 1.0, 1.0), (1.0, 2.0, 1.0)]);
        assert_eq!(few, "regression: expected at least 3 points, found 2");
        let rows = [(0.0, 0.2, 1.0), (1.0, 1.2, 1.0), (2.0, 0.4, 1.0)];
        assert_eq!(refuse(Family::BinomialLogit, &rows), "response: expected a share from 0 to 1, found 1.2");
        let same = [(1.0, 0.2, 1.0), (1.0, 0.3, 1.0), (1.0, 0.4, 1.0)];
        assert!(refuse(Family::BinomialLogit, &same).contains("covariates that vary independently"));
    }
}
