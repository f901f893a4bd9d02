//! How far two lists go up and down together.

use crate::StatsError;

/// Spearman's rank correlation of weighted pairs: Pearson's of their mid-ranks.
///
/// ```
/// use offnominal_stats::correlation::spearman;
/// let rho = spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 8.0, 27.0, 4.0], &[1.0; 4]).unwrap();
/// assert!((rho - 0.4).abs() < 1e-12);
/// ```
///
/// # Errors
/// If the lengths differ, or fewer than two different values carry weight in either list.
pub fn spearman(x: &[f64], y: &[f64], weights: &[f64]) -> Result<f64, StatsError> {
    StatsError::same_length("correlation", x.len(), y.len())?;
    StatsError::same_length("correlation", x.len(), weights.len())?;
    pearson(&ranks(x, weights), &ranks(y, weights), weights)
}

/// Pearson's correlation of weighted pairs.
///
/// # Errors
/// As [`spearman`].
pub fn pearson(x: &[f64], y: &[f64], weights: &[f64]) -> Result<f64, StatsError> {
    StatsError::same_length("correlation", x.len(), y.len())?;
    let total: f64 = weights.iter().sum();
    let mean = |v: &[f64]| v.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let (mx, my) = (mean(x), mean(y));
    let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| -> f64 {
        a.iter().zip(b).zip(weights).map(|((a, b), w)| w * (a - ma) * (b - mb)).sum()
    };
    let (xx, yy) = (product(x, mx, x, mx), product(y, my, y, my));
    if xx > 0.0 && yy > 0.0 {
        return Ok(product(x, mx, y, my) / (xx * yy).sqrt());
    }
    Err(StatsError::TooFew { what: "correlation", needed: 2, unit: "different values", found: 1 })
}

/// Scores that fall with the values, of mean about 0 and variance about 1 (Savage 1956): −ln r − 1, where r is the share of
/// values below one and half of those at it. They tell small values apart and hardly the large ones.
pub fn savage_scores(values: &[f64]) -> Vec<f64> {
    let ranks = ranks(values, &vec![1.0; values.len()]);
    ranks.into_iter().map(|rank| -(rank / values.len() as f64).ln() - 1.0).collect()
}

/// Mid-ranks: the weight below a value and half of the weight at it.
fn ranks(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut below) = (vec![0.0; values.len()], 0.0);
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let weight: f64 = tied.iter().map(|&i| weights[i]).sum();
        tied.iter().for_each(|&i| ranks[i] = below + 0.5 * weight);
        below += weight;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank_and_weights_are_repetitions() {
        // As scipy.stats.spearmanr([1, 2, 2, 3], [1, 3, 2, 4]): 0.9486832980505138.
        let (x, y) = ([1.0, 2.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0]);
        assert!((spearman(&x, &y, &[1.0; 4]).unwrap() - 0.948_683_298_050_513_8).abs() < 1e-12);
        let twice = spearman(&[1.0, 2.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 3.0, 2.0, 4.0], &[1.0; 5]).unwrap();
        assert!((spearman(&x, &y, &[1.0, 2.0, 1.0, 1.0]).unwrap() - twice).abs() < 1e-12);
    }

    #[test]
    fn savage_scores_forget_the_unit_and_are_those_of_an_exponential_variable() {
        let scores = savage_scores(&[3.0, -1e9, 4.0]);
        let want = [2.0, 6.0, 1.2_f64].map(|share| share.ln() - 1.0);
        assert!(scores.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-12), "{scores:?}");
        let many: Vec<f64> = (0..10_000).map(f64::from).collect();
        let scores = savage_scores(&many);
        let mean = |of: &dyn Fn(f64) -> f64| scores.iter().map(|s| of(*s)).sum::<f64>() / 10_000.0;
        assert!(mean(&|s| s).abs() < 1e-3 && (mean(&|s| s * s) - 1.0).abs() < 0.02);
    }

    #[test]
    fn what_never_changes_correlates_with_nothing() {
        assert!(spearman(&[1.0, 1.0], &[1.0, 2.0], &[1.0, 1.0]).is_err());
        assert!(spearman(&[1.0], &[1.0, 2.0], &[1.0, 1.0]).is_err());
    }
}
