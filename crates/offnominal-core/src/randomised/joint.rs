//! Numbers with distributions of their own that go together: marginals and a Gaussian copula.
//!
//! z = L ε, with ε standard normal and L Lᵀ the correlation, and each number is the quantile of its own distribution at
//! Φ(z). So each number has the distribution that was stated, whatever it goes together with.
//!
//! Reference: Nelsen, "An introduction to copulas", 2006, section 2.9 for simulation.

use crate::Rng;
use serde::{Deserialize, Serialize};

/// How far a step of [`Draws::vary`](super::Draws) goes: 1 draws anew, 0 stays.
pub(super) const STEP: f64 = 0.5;

/// Numbers that are drawn together: parameters first, and then entries of an initial condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// The numbers.
    pub variables: Vec<Variable>,
    /// How many of the last of them are entries of an initial condition.
    pub entries: usize,
    /// L, row by row: row i has i + 1 numbers.
    pub factor: Vec<Vec<f64>>,
}

/// A number with its distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its distribution, where it is not cut off.
    pub marginal: Marginal,
    /// The smallest value that is drawn.
    pub low: Option<f64>,
    /// The largest value that is drawn.
    pub high: Option<f64>,
}

/// A distribution of one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Marginal {
    /// N(mean, sd²).
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// exp N(ln median, σ²).
    LogNormal {
        /// Its median.
        median: f64,
        /// The standard deviation of its logarithm.
        sigma: f64,
    },
    /// All values of a range alike.
    Uniform {
        /// Where it begins.
        low: f64,
        /// Where it ends.
        high: f64,
    },
    /// A density that rises in a straight line to the mode and falls in one.
    Triangular {
        /// Where it begins.
        low: f64,
        /// Its most likely value.
        mode: f64,
        /// Where it ends.
        high: f64,
    },
    /// One of these values, all with the same chance, from the smallest to the largest.
    Empirical(Vec<f64>),
}

impl Joint {
    /// Those that are parameters.
    pub fn parameters(&self) -> &[Variable] {
        &self.variables[..self.variables.len().saturating_sub(self.entries)]
    }

    /// Those that are entries of an initial condition.
    pub fn entries(&self) -> &[Variable] {
        &self.variables[self.variables.len().saturating_sub(self.entries)..]
    }

    /// A value for each.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.of_normals(&self.variables.iter().map(|_| rng.normal()).collect::<Vec<_>>())
    }

    /// The values that independent standard normal numbers stand for: ε of the head of this page.
    pub(super) fn of_normals(&self, noise: &[f64]) -> Vec<f64> {
        let correlated = |row: &Vec<f64>| row.iter().zip(noise).map(|(l, e)| l * e).sum::<f64>();
        let scores = self.factor.iter().map(correlated);
        self.variables.iter().zip(scores).map(|(variable, z)| variable.marginal.at(z)).collect()
    }

    /// Whether values are within what is drawn.
    pub(super) fn admit(&self, values: &[f64]) -> bool {
        self.variables.iter().zip(values).all(|(variable, value)| variable.admits(*value))
    }

    /// A neighbour: ε ← √(1 − s²) ε + s ξ of the standard normal numbers that the values are made of, which leaves their
    /// distribution as it is and is as likely backwards; a step to what is never drawn is not made.
    pub(super) fn vary(&self, values: &[f64], rng: &mut Rng) -> Vec<f64> {
        let step = |e: f64, rng: &mut Rng| (1.0 - STEP * STEP).sqrt() * e + STEP * rng.normal();
        let noise: Vec<f64> = self.noise(values, rng).into_iter().map(|e| step(e, rng)).collect();
        let varied = self.of_normals(&noise);
        if self.admit(&varied) { varied } else { values.to_vec() }
    }

    /// The standard normal numbers that values are made of; where several make the same, one of them at random.
    fn noise(&self, values: &[f64], rng: &mut Rng) -> Vec<f64> {
        let mut noise: Vec<f64> = Vec::with_capacity(values.len());
        for ((variable, value), row) in self.variables.iter().zip(values).zip(&self.factor) {
            let score = variable.marginal.score(*value, rng);
            let (own, before) = (row.last().copied().unwrap_or(0.0), row.iter().zip(&noise));
            let rest = score - before.map(|(l, e)| l * e).sum::<f64>();
            noise.push(if own > 0.0 { rest / own } else { rng.normal() });
        }
        noise
    }
}

impl Variable {
    fn admits(&self, value: f64) -> bool {
        let within = self.low.is_none_or(|low| value >= low) && self.high.is_none_or(|high| value <= high);
        within && self.marginal.admits(value)
    }
}

impl Marginal {
    /// The quantile at Φ(z).
    pub fn at(&self, z: f64) -> f64 {
        match self {
            Marginal::Normal { mean, sd } => mean + sd * z,
            Marginal::LogNormal { median, sigma } => median * libm::exp(sigma * z),
            Marginal::Uniform { low, high } => low + (high - low) * phi(z),
            Marginal::Triangular { low, mode, high } => triangular([*low, *mode, *high], phi(z)),
            Marginal::Empirical(values) => {
                let place = (phi(z) * values.len() as f64) as usize;
                values[place.min(values.len() - 1)]
            }
        }
    }

    /// A z whose quantile this value is: of those of a value of a list, one at random.
    fn score(&self, value: f64, rng: &mut Rng) -> f64 {
        match self {
            Marginal::Normal { mean, sd } => (value - mean) / sd,
            Marginal::LogNormal { median, sigma } => libm::log(value / median) / sigma,
            Marginal::Uniform { low, high } => quantile((value - low) / (high - low)),
            Marginal::Triangular { low, mode, high } => quantile(below([*low, *mode, *high], value)),
            Marginal::Empirical(values) => {
                let from = values.partition_point(|v| *v < value) as f64;
                let to = values.partition_point(|v| *v <= value) as f64;
                quantile((from + (to - from) * rng.uniform()) / values.len() as f64)
            }
        }
    }

    /// Whether a value can be drawn.
    fn admits(&self, value: f64) -> bool {
        match self {
            Marginal::Normal { .. } => value.is_finite(),
            Marginal::LogNormal { .. } => value > 0.0,
            Marginal::Uniform { low, high } | Marginal::Triangular { low, high, .. } => {
                (*low..=*high).contains(&value)
            }
            Marginal::Empirical(values) => values.contains(&value),
        }
    }

    /// What is wrong with its numbers, if anything is.
    pub fn mistake(&self) -> Option<String> {
        let positive = |name: &str, x: f64| {
            (!(x > 0.0 && x.is_finite())).then(|| format!("{name}: expected a number above 0, found {x}"))
        };
        match self {
            Marginal::Normal { mean, sd } => {
                let wrong =
                    (!mean.is_finite()).then(|| format!("mean: expected a finite number, found {mean}"));
                wrong.or_else(|| positive("sd", *sd))
            }
            Marginal::LogNormal { median, sigma } => {
                positive("median", *median).or_else(|| positive("sigma", *sigma))
            }
            Marginal::Uniform { low, high } => {
                let holds = low < high && low.is_finite() && high.is_finite();
                (!holds).then(|| format!("expected low below high, found {low} and {high}"))
            }
            Marginal::Triangular { low, mode, high } => {
                let holds = low <= mode && mode <= high && low < high && low.is_finite() && high.is_finite();
                (!holds).then(|| {
                    format!("expected low, mode and high in this order, found {low}, {mode}, {high}")
                })
            }
            Marginal::Empirical(values) => {
                let holds = !values.is_empty() && values.iter().all(|x| x.is_finite());
                (!holds).then(|| "values: expected finite numbers, at least one".into())
            }
        }
    }
}

/// Φ, the standard normal distribution function.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Φ⁻¹ by bisection.
fn quantile(u: f64) -> f64 {
    const FAR: f64 = 38.0;
    if u > 0.5 {
        return -quantile(1.0 - u);
    }
    let (mut low, mut high) = (-FAR, 0.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if phi(middle) < u { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The part of a triangular distribution below a value.
fn below([low, mode, high]: [f64; 3], value: f64) -> f64 {
    if value < mode {
        (value - low).powi(2) / ((high - low) * (mode - low))
    } else {
        1.0 - (high - value).powi(2) / ((high - low) * (high - mode).max(f64::MIN_POSITIVE))
    }
}

fn triangular([low, mode, high]: [f64; 3], u: f64) -> f64 {
    let rising = (mode - low) / (high - low);
    if u < rising {
        low + (u * (high - low) * (mode - low)).sqrt()
    } else {
        high - ((1.0 - u) * (high - low) * (high - mode)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_in_closed_form() {
        // Φ(1.6448536269514722) = .95.
        let z = 1.644_853_626_951_472_2;
        let close = |marginal: Marginal, z: f64, expected: f64| {
            assert!((marginal.at(z) - expected).abs() < 1e-12, "{marginal:?}: {}", marginal.at(z));
        };
        close(Marginal::Normal { mean: 1.0, sd: 2.0 }, z, 1.0 + 2.0 * z);
        close(Marginal::LogNormal { median: 3.0, sigma: 0.5 }, z, 3.0 * (0.5 * z).exp());
        close(Marginal::Uniform { low: -1.0, high: 1.0 }, z, 0.9);
        close(Marginal::Triangular { low: 0.0, mode: 1.0, high: 1.0 }, z, 0.95_f64.sqrt());
        close(Marginal::Triangular { low: 0.0, mode: 0.0, high: 1.0 }, -z, 1.0 - 0.95_f64.sqrt());
        close(Marginal::Empirical((0..20).map(f64::from).collect()), z - 1e-9, 18.0);
        close(Marginal::Empirical((0..20).map(f64::from).collect()), 40.0, 19.0);
    }

    #[test]
    fn numbers_go_together_as_the_factor_says_and_keep_their_own_distributions() {
        let variable = |marginal: Marginal| Variable { name: "x".into(), marginal, low: None, high: None };
        let joint = Joint {
            variables: vec![
                variable(Marginal::Uniform { low: 0.0, high: 1.0 }),
                variable(Marginal::LogNormal { median: 1.0, sigma: 1.0 }),
            ],
            entries: 0,
            factor: vec![vec![1.0], vec![0.8, 0.6]],
        };
        let mut rng = Rng::new(1);
        let draws: Vec<Vec<f64>> = (0..20_000).map(|_| joint.draw(&mut rng)).collect();
        let mean = |of: &dyn Fn(&[f64]) -> f64| draws.iter().map(|x| of(x)).sum::<f64>() / 20_000.0;
        // A uniform number has mean ½ and variance 1/12; the logarithm of the other has variance 1.
        assert!((mean(&|x| x[0]) - 0.5).abs() < 0.01 && (mean(&|x| x[1].ln().powi(2)) - 1.0).abs() < 0.05);
        // Of a uniform and a normal one with correlation r of the scores: E u z = r / (2 √π).
        let expected = 0.8 / (2.0 * std::f64::consts::PI.sqrt());
        assert!((mean(&|x| x[0] * x[1].ln()) - expected).abs() < 0.01);
        let varied: Vec<Vec<f64>> = draws.iter().map(|x| joint.vary(x, &mut rng)).collect();
        // The same distribution, a step away: logarithms correlate by √(1 − s²).
        let square = varied.iter().map(|x| x[1].ln().powi(2)).sum::<f64>() / 20_000.0;
        let near = draws.iter().zip(&varied).map(|(x, y)| x[1].ln() * y[1].ln()).sum::<f64>() / 20_000.0;
        assert!(
            (square - 1.0).abs() < 0.05 && (near - (1.0 - STEP * STEP).sqrt()).abs() < 0.04,
            "{square} {near}"
        );
        assert!(varied.iter().all(|x| joint.admit(x)));
    }

    #[test]
    fn a_score_is_the_inverse_of_a_quantile() {
        let mut rng = Rng::new(2);
        for marginal in [
            Marginal::Normal { mean: 1.0, sd: 2.0 },
            Marginal::LogNormal { median: 3.0, sigma: 0.5 },
            Marginal::Uniform { low: -1.0, high: 1.0 },
            Marginal::Triangular { low: 0.0, mode: 0.3, high: 1.0 },
            Marginal::Triangular { low: 0.0, mode: 1.0, high: 1.0 },
            Marginal::Triangular { low: 0.0, mode: 0.0, high: 1.0 },
        ] {
            for z in [-3.0, -0.4, 0.0, 1.7] {
                let found = marginal.score(marginal.at(z), &mut rng);
                assert!((found - z).abs() < 1e-6, "{marginal:?}: {z} {found}");
            }
        }
        let listed = Marginal::Empirical(vec![1.0, 1.0, 2.0, 5.0]);
        assert!((0..100).all(|_| [1.0, 2.0, 5.0].iter().all(|&v| listed.at(listed.score(v, &mut rng)) == v)));
    }
}
