//! Intervals for the mean of independent values.

use crate::{Level, StatsError};
use offnominal_core::estimate::Estimate;

/// Mean and the interval of Student (1908): mean ± t · s / √n. Exact for normal values, close for many others.
///
/// # Errors
/// If there are fewer than two values: one value says nothing of the spread.
pub fn student_t(values: &[f64], level: Level) -> Result<Estimate, StatsError> {
    StatsError::require("mean", 2, "values", values.len())?;
    let (mean, variance) = moments(values);
    let half = level.t(values.len() - 1) * (variance / values.len() as f64).sqrt();
    Ok(level.estimate(mean, (mean - half, mean + half), values.len(), "student-t"))
}

/// Σ wᵢ xᵢ / Σ wᵢ; none without weight.
pub(crate) fn weighted(values: &[f64], weights: &[u32]) -> Option<f64> {
    let total: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    let sum: f64 = values.iter().zip(weights).map(|(x, &w)| x * f64::from(w)).sum();
    (total > 0).then(|| sum / total as f64)
}

/// Mean and unbiased variance; the variance of a single value is 0.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::{Bootstrap, Range};
    use offnominal_core::{Rng, Seed};

    #[test]
    fn student_in_closed_form() {
        // Values 0 and 2: mean 1, s/√n = 1, t(1) = 12.7062.
        let found = student_t(&[0.0, 2.0], Level::P95).unwrap();
        assert!(
            (found.value - 1.0).abs() < 1e-12 && (found.high - 13.706204736174694).abs() < 1e-8,
            "{found}"
        );
    }

    #[test]
    fn one_value_is_not_enough() {
        assert!(student_t(&[1.0], Level::P95).is_err());
    }

    #[test]
    fn the_bootstrap_agrees_with_student_on_normal_values() {
        let mut rng = Rng::new(1);
        let values: Vec<f64> = (0..400).map(|_| rng.normal()).collect();
        let plan = Bootstrap::new(2000, Level::P95, Seed(0));
        let mean = |w: &[u32]| Some([weighted(&values, w)?]);
        let [b] = plan.estimates("mean", values.len(), [Range::Real], mean).unwrap();
        let t = student_t(&values, Level::P95).unwrap();
        let width = t.high - t.low;
        assert!((t.low - b.low).abs() < 0.1 * width && (t.high - b.high).abs() < 0.1 * width, "{t} {b}");
    }
}
