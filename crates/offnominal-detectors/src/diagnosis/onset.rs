//! Since when: the maximum-likelihood change point of surprises.
//!
//! Nominal surprises are exponential with mean one; from the change on their mean is m > 1, unknown. For a change at
//! step τ of n steps up to now, with the mean m of their surprises, the log likelihood ratio is n (m − 1 − ln m).

/// A single step says no more than this, so that one freak does not outweigh all that lasts.
pub(super) const MOST: f64 = 8.0;

/// Log likelihood ratio of a change of the mean of n surprises from one to m; zero if they are not larger than usual.
pub(super) fn evidence(n: f64, m: f64) -> f64 {
    if m > 1.0 { n * (m - 1.0 - m.ln()) } else { 0.0 }
}

/// The step at which the change most likely happened; the last one if nothing speaks for a change.
///
/// # Panics
/// If there is no surprise.
pub(super) fn change_point(surprises: &[f64]) -> usize {
    let (mut sum, mut best, mut at) = (0.0, 0.0, surprises.len() - 1);
    for (ago, surprise) in surprises.iter().rev().enumerate() {
        sum += surprise.min(MOST);
        let n = (ago + 1) as f64;
        let found = evidence(n, sum / n);
        if found > best {
            (best, at) = (found, surprises.len() - 1 - ago);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn a_step_in_the_mean_is_found() {
        assert_eq!(change_point(&[1.0, 1.0, 1.0, 4.0, 4.0, 4.0]), 3);
        assert_eq!(change_point(&[1.0, 1.0, 9.0]), 2);
        assert_eq!(change_point(&[0.5, 0.5, 0.5]), 2, "nothing has changed");
        let with_a_freak = [&[0.5, 1e6][..], &[0.5; 12], &[5.0; 4]].concat();
        assert_eq!(change_point(&with_a_freak), 14);
    }

    #[test]
    fn the_error_shrinks_with_the_size_of_the_change() {
        let median_error = |mean: f64| {
            let mut rng = Rng::new(1);
            let mut exponential = |mean: f64| -mean * rng.uniform().max(1e-300).ln();
            let mut errors: Vec<usize> = (0..301)
                .map(|_| {
                    let drawn: Vec<f64> =
                        (0..80).map(|t| exponential(if t < 50 { 1.0 } else { mean })).collect();
                    change_point(&drawn).abs_diff(50)
                })
                .collect();
            errors.sort_unstable();
            errors[150]
        };
        let (weak, strong) = (median_error(2.0), median_error(6.0));
        assert!(strong <= 1 && weak > strong && weak < 20, "{weak} {strong}");
    }

    #[test]
    fn evidence_in_closed_form() {
        assert_eq!((evidence(9.0, 1.0), evidence(9.0, 0.3)), (0.0, 0.0));
        assert!((evidence(2.0, std::f64::consts::E) - 2.0 * (std::f64::consts::E - 2.0)).abs() < 1e-12);
    }
}
