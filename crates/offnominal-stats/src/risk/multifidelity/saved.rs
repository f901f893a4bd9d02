//! What the low-fidelity episodes saved, by the pairs that were played.
//!
//! The share of the high-fidelity episodes is 1 − Var Z / Var Y: with it, as many high-fidelity episodes less give the same variance. Z is as
//! it was used, so what learning λ cost is in it. Both numbers have a bootstrap interval over pairs, for a planned number
//! of them: they are a description, and nothing is decided by them.

use crate::bootstrap::{Bootstrap, Range};
use crate::{Level, StatsError};
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use serde::Serialize;

/// Draws of the bootstrap.
const REPLICATES: usize = 500;

/// What the low-fidelity episodes saved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saved {
    /// Pearson's correlation of the high-fidelity and the low-fidelity outcome of a pair.
    pub correlation: Estimate,
    /// Share of the high-fidelity episodes that counting would need in addition for the same variance: 1 − Var Z / Var Y.
    pub share: Estimate,
}

/// What pairs of outcome, low-fidelity score and Z say.
pub(super) fn saved(pairs: &[[f64; 3]], level: Level, seed: Seed) -> Result<Saved, StatsError> {
    let plan = Bootstrap::new(REPLICATES, level, seed);
    let statistic = |weights: &[u32]| statistic(pairs, weights);
    let [correlation, share] =
        plan.estimates("correlation of pairs", pairs.len(), [Range::Real; 2], statistic)?;
    Ok(Saved { correlation, share })
}

/// Var Z / Var Y of these pairs.
pub(super) fn ratio(pairs: &[[f64; 3]]) -> Option<f64> {
    let spread = |k: usize| {
        let mean = pairs.iter().map(|pair| pair[k]).sum::<f64>() / pairs.len() as f64;
        pairs.iter().map(|pair| (pair[k] - mean).powi(2)).sum::<f64>()
    };
    let of_dear = spread(0);
    (of_dear > 1e-12).then(|| spread(2) / of_dear)
}

fn statistic(pairs: &[[f64; 3]], weights: &[u32]) -> Option<[f64; 2]> {
    let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let mean =
        |k: usize| pairs.iter().zip(weights).map(|(pair, &w)| pair[k] * f64::from(w)).sum::<f64>() / total;
    let means = [mean(0), mean(1), mean(2)];
    let [mut yy, mut ff, mut yf, mut zz] = [0.0; 4];
    for (pair, &w) in pairs.iter().zip(weights) {
        let [y, f, z]: [f64; 3] = std::array::from_fn(|k| pair[k] - means[k]);
        let w = f64::from(w);
        (yy, ff, yf, zz) = (yy + w * y * y, ff + w * f * f, yf + w * y * f, zz + w * z * z);
    }
    // What differs by rounding alone does not vary.
    let varies = |squares: f64, mean: f64| squares > 1e-18 * total * mean * mean;
    (varies(yy, means[0]) && varies(ff, means[1])).then(|| [yf / (yy * ff).sqrt(), 1.0 - zz / yy])
}
