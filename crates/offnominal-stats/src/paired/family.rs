//! Several hypotheses with one error: which of them are rejected, so that any false rejection has probability α at most?
//!
//! Closed testing: a hypothesis is rejected where every set of hypotheses that holds it is. A set is tested by the mean of
//! its e-values, which is an e-value however they depend on one another. The worst set of size k + 1 is the hypothesis
//! with the k smallest of the others, so the adjusted e-value is
//!
//! ```text
//! eᵢ* = min over k of (eᵢ + the k smallest others) / (k + 1)
//! ```
//!
//! and eᵢ* ≥ eᵢ / K: it never rejects less than Bonferroni.
//!
//! Reference: Vovk and Wang, "Confidence and discoveries with e-values", Statistical Science 38(2), 2023, algorithm 1.

/// The adjusted e-values, as logarithms; the given ones are logarithms too.
///
/// ```
/// use offnominal_stats::paired::family::adjusted;
/// // 8 with 2 and 0: min(8, 8/2, 10/3).
/// let found = adjusted(&[8_f64.ln(), 2_f64.ln(), f64::NEG_INFINITY]);
/// assert!((found[0].exp() - 10.0 / 3.0).abs() < 1e-12);
/// ```
pub fn adjusted(logs: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..logs.len()).collect();
    order.sort_by(|&a, &b| logs[a].total_cmp(&logs[b]));
    (0..logs.len()).map(|i| smallest_mean(i, logs, &order)).collect()
}

/// The smallest mean of number i and others, in logarithms: they are added relative to the largest so far.
fn smallest_mean(i: usize, logs: &[f64], order: &[usize]) -> f64 {
    let (mut sum, mut best) = (logs[i], logs[i]);
    for (k, &other) in order.iter().filter(|&&other| other != i).enumerate() {
        sum = added(sum, logs[other]);
        best = best.min(sum - (k as f64 + 2.0).ln());
    }
    best
}

fn added(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_between_bonferroni_and_no_correction() {
        let logs = [5.0, 0.3, -2.0, 7.0, 5.0];
        for (found, log) in adjusted(&logs).iter().zip(logs) {
            assert!(*found <= log && *found >= log - 5_f64.ln() - 1e-12, "{found} {log}");
        }
        assert_eq!(adjusted(&[3.0]), [3.0]);
    }

    #[test]
    fn equal_evidence_needs_no_correction_and_the_order_is_kept() {
        assert!(adjusted(&[4.0; 7]).iter().all(|e| (e - 4.0).abs() < 1e-12));
        let found = adjusted(&[1.0, 900.0, 2.0]);
        assert!(found[0] < found[2] && found[2] < found[1] && found[1].is_finite(), "{found:?}");
    }

    #[test]
    fn every_set_is_tested() {
        // By hand: all sets of three that hold the first.
        let e = [6.0_f64, 4.0, 1.0];
        let want = [6.0, 5.0, 3.5, 11.0 / 3.0].into_iter().fold(f64::INFINITY, f64::min);
        assert!((adjusted(&e.map(f64::ln))[0].exp() - want).abs() < 1e-12);
    }
}
