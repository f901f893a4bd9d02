//! Logistic regression with an offset for each example and a quadratic penalty, by Newton's method.

use offnominal_stats::regression::Factor;

/// One running step.
#[derive(Debug, Clone)]
pub(super) struct Example {
    /// Features.
    pub(super) x: Vec<f64>,
    /// Log odds without them.
    pub(super) offset: f64,
    /// Whether it fails in the end.
    pub(super) fails: bool,
}

/// Steps of Newton's method, which is done after a few.
const STEPS: usize = 50;

impl Example {
    fn logit(&self, beta: &[f64]) -> f64 {
        self.offset + self.x.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>()
    }

    /// The probability to fail.
    pub(super) fn probability(&self, beta: &[f64]) -> f64 {
        1.0 / (1.0 + (-self.logit(beta)).exp())
    }
}

/// The mean cross entropy.
pub(super) fn cross_entropy(examples: &[Example], beta: &[f64]) -> f64 {
    let loss = |example: &Example| {
        let z = example.logit(beta);
        z.max(0.0) + (-z.abs()).exp().ln_1p() - if example.fails { z } else { 0.0 }
    };
    examples.iter().map(loss).sum::<f64>() / examples.len() as f64
}

/// The coefficients that minimise the mean cross entropy plus `penalty`/2 times their squares; none if a feature is not finite.
pub(super) fn fit(examples: &[Example], n: usize, penalty: f64) -> Option<Vec<f64>> {
    let objective = |beta: &[f64]| {
        cross_entropy(examples, beta) + 0.5 * penalty * beta.iter().map(|b| b * b).sum::<f64>()
    };
    let (mut beta, mut value) = (vec![0.0; n], f64::INFINITY);
    for _ in 0..STEPS {
        let before = value.min(objective(&beta));
        let step = newton(examples, &beta, penalty)?;
        let mut size = 1.0;
        // The objective is convex, so a step that is short enough makes it smaller.
        let (next, found) = loop {
            let next: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b - size * s).collect();
            let found = objective(&next);
            if found <= before || size < 1e-6 {
                break (next, found);
            }
            size *= 0.5;
        };
        if before - found < 1e-12 {
            break;
        }
        (beta, value) = (next, found);
    }
    Some(beta)
}

/// H⁻¹ g of the penalised objective.
fn newton(examples: &[Example], beta: &[f64], penalty: f64) -> Option<Vec<f64>> {
    let n = beta.len();
    let (mut g, mut h): (Vec<f64>, Vec<f64>) = (beta.iter().map(|b| penalty * b).collect(), vec![0.0; n * n]);
    let weight = 1.0 / examples.len() as f64;
    for example in examples {
        let p = example.probability(beta);
        let (slope, curve) = (weight * (p - f64::from(u8::from(example.fails))), weight * p * (1.0 - p));
        for (i, x) in example.x.iter().enumerate() {
            g[i] += slope * x;
            example.x[..=i].iter().enumerate().for_each(|(j, y)| h[i * n + j] += curve * x * y);
        }
    }
    (0..n).for_each(|i| h[i * n + i] += penalty);
    Factor::of(&h, n).map(|factor| factor.solve(&g))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    fn drawn(n: usize, beta: [f64; 2]) -> Vec<Example> {
        let mut rng = Rng::new(2);
        let one = |_| {
            let (x, offset) = (vec![rng.normal(), rng.normal()], rng.normal());
            let mut example = Example { x, offset, fails: false };
            example.fails = rng.uniform() < example.probability(&beta);
            example
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn coefficients_are_found() {
        let found = fit(&drawn(20_000, [1.0, -0.5]), 2, 0.0).unwrap();
        assert!((found[0] - 1.0).abs() < 0.06 && (found[1] + 0.5).abs() < 0.06, "{found:?}");
    }

    #[test]
    fn the_gradient_vanishes_and_a_penalty_shrinks() {
        let examples = drawn(500, [1.0, -0.5]);
        let mut before = f64::INFINITY;
        for penalty in [0.0, 0.1, 1.0, 100.0] {
            let found = fit(&examples, 2, penalty).unwrap();
            let slope = |i: usize| {
                let of = |e: &Example| (e.probability(&found) - f64::from(u8::from(e.fails))) * e.x[i];
                examples.iter().map(of).sum::<f64>() / 500.0 + penalty * found[i]
            };
            assert!(slope(0).abs() < 1e-6 && slope(1).abs() < 1e-6, "{penalty}: {} {}", slope(0), slope(1));
            assert!(found[0].abs() < before, "{penalty}");
            before = found[0].abs();
        }
    }
}
