//! Means of bounded terms in constant memory.
//!
//! Weights λₜ that depend on earlier terms only give the centre Σ λₜ Xₜ / Σ λₜ and, with the means m̂ and variances
//! σ̂² of what came before, the half-width (ln(2 / α) + 4 Σ (Xₜ − m̂ₜ₋₁)² ψ(λₜ)) / Σ λₜ, where ψ(λ) = (−ln(1 − λ) −
//! λ) / 4 and λₜ = min(½, √(2 ln(2 / α) / (σ̂²ₜ₋₁ t ln(1 + t)))).
//!
//! Assumes: terms in [0, 1] with the same mean given those before them. For terms that are nearly all zero
//! [`Bounded`](offnominal_stats::risk::Bounded) is sharper. Valid at every number of terms at once.
//! Cost: a term O(1).
//! Reference: Waudby-Smith and Ramdas, JRSS B 86(1), 2024, theorem 2.

use anyhow::{Result, ensure};
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;

/// An empirical-Bernstein confidence sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Bernstein {
    level: Level,
    n: usize,
    sum: f64,
    /// Sum of (Xₜ − m̂ₜ)², with ¼ to begin with.
    squares: f64,
    weights: f64,
    weighted: f64,
    spread: f64,
}

impl Bernstein {
    /// No terms yet. The level belongs to the weights, so it is chosen before the first term.
    pub fn new(level: Level) -> Bernstein {
        Bernstein { level, n: 0, sum: 0.0, squares: 0.25, weights: 0.0, weighted: 0.0, spread: 0.0 }
    }

    /// One term more.
    ///
    /// # Panics
    /// If it is not in [0, 1].
    pub fn push(&mut self, term: f64) {
        assert!((0.0..=1.0).contains(&term), "expected a term in [0, 1], found {term}");
        let (before, weight) = (self.centre(), self.weight());
        self.n += 1;
        self.sum += term;
        self.weights += weight;
        self.weighted += weight * term;
        self.spread += (term - before).powi(2) * (-(-weight).ln_1p() - weight);
        self.squares += (term - self.centre()).powi(2);
    }

    /// The mean and its interval.
    ///
    /// # Errors
    /// If there are no terms.
    pub fn estimate(&self) -> Result<Estimate> {
        ensure!(self.n > 0, "expected terms of which to take the mean, found none");
        let (middle, half) = (self.weighted / self.weights, (self.limit() + self.spread) / self.weights);
        let ends = ((middle - half).max(0.0), (middle + half).min(1.0));
        Ok(self.level.estimate(self.sum / self.n as f64, ends, self.n, "bernstein-sequence"))
    }

    fn limit(&self) -> f64 {
        -self.level.tail().ln()
    }

    fn centre(&self) -> f64 {
        (0.5 + self.sum) / (self.n as f64 + 1.0)
    }

    fn weight(&self) -> f64 {
        let t = self.n as f64 + 1.0;
        let variance = self.squares / t;
        (2.0 * self.limit() / (variance * t * t.ln_1p())).sqrt().min(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn skewed_terms_are_covered_and_nothing_known_is_an_error() {
        let covers = |seed: u64| {
            let (mut sequence, mut rng) = (Bernstein::new(Level::P95), Rng::new(seed));
            (0..500).for_each(|_| sequence.push(rng.uniform().powi(3)));
            sequence.estimate().unwrap().covers(0.25)
        };
        assert!((0..100).filter(|&seed| covers(seed)).count() >= 95);
        assert!(Bernstein::new(Level::P95).estimate().is_err());
    }
}
