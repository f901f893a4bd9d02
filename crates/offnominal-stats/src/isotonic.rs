//! The non-increasing sequence nearest to given values: pool adjacent violators.
//!
//! Minimises Σ wᵢ (fᵢ − xᵢ)² over f₁ ≥ f₂ ≥ …; the solution replaces each run that rises by its weighted mean.
//!
//! Cost: O(n). Reference: Barlow, Bartholomew, Bremner & Brunk, Statistical Inference under Order Restrictions, 1972.
//!
//! ```
//! use offnominal_stats::isotonic::decreasing;
//! assert_eq!(decreasing(&[3.0, 1.0, 2.0], &[1.0, 1.0, 1.0]), [3.0, 1.5, 1.5]);
//! ```

/// The fitted values.
///
/// # Panics
/// If there is not one positive weight for each value.
pub fn decreasing(values: &[f64], weights: &[f64]) -> Vec<f64> {
    assert!(
        values.len() == weights.len() && weights.iter().all(|&w| w > 0.0),
        "one positive weight per value"
    );
    let mut blocks: Vec<Block> = Vec::with_capacity(values.len());
    for (&mean, &weight) in values.iter().zip(weights) {
        let mut block = Block { mean, weight, len: 1 };
        while let Some(before) = blocks.pop_if(|before| before.mean < block.mean) {
            block = before.join(block);
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|b| std::iter::repeat_n(b.mean, b.len)).collect()
}

struct Block {
    mean: f64,
    weight: f64,
    len: usize,
}

impl Block {
    fn join(self, next: Block) -> Block {
        let weight = self.weight + next.weight;
        let mean = (self.mean * self.weight + next.mean * next.weight) / weight;
        Block { mean, weight, len: self.len + next.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    /// The min-max formula: fᵢ = min over a ≤ i of max over b ≥ i of the mean of a … b.
    fn by_formula(values: &[f64], weights: &[f64]) -> Vec<f64> {
        let mean = |a: usize, b: usize| {
            let weight: f64 = weights[a..=b].iter().sum();
            values[a..=b].iter().zip(&weights[a..=b]).map(|(x, w)| x * w).sum::<f64>() / weight
        };
        let n = values.len();
        let greatest = |a: usize, i: usize| (i..n).map(|b| mean(a, b)).fold(f64::NEG_INFINITY, f64::max);
        (0..n).map(|i| (0..=i).map(|a| greatest(a, i)).fold(f64::INFINITY, f64::min)).collect()
    }

    #[test]
    fn agrees_with_the_min_max_formula() {
        let mut rng = Rng::new(1);
        for n in 0..12 {
            let values: Vec<f64> = (0..n).map(|i| rng.normal() - 0.3 * i as f64).collect();
            let weights: Vec<f64> = (0..n).map(|_| rng.range(0.5, 3.0)).collect();
            let (found, want) = (decreasing(&values, &weights), by_formula(&values, &weights));
            assert!(found.iter().zip(&want).all(|(f, w)| (f - w).abs() < 1e-12), "{found:?} {want:?}");
        }
    }
}
