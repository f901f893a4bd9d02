//! What a model is worth for points that it was not fitted to.

use super::{Family, Point, fit};
use crate::StatsError;
use offnominal_core::Rng;

/// The error of predictions for groups that were left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Root of the mean squared error of the model.
    pub rmse: f64,
    /// The same of the mean of the points that were fitted.
    pub rmse_of_mean: f64,
    /// 1 − rmse² / rmse_of_mean²: negative if the model is worse than the mean.
    pub skill: f64,
}

/// Leaves out one fold of the points after another; a point's weight counts in the fit and in the error.
///
/// A prediction beyond everything that its model was fitted to is cut to the nearest of that, as a logarithmic link would
/// otherwise extrapolate without end.
///
/// # Errors
/// If there are fewer points than folds, or no fold's model can be fitted.
pub fn held_out(
    family: Family,
    points: &[Point],
    folds: usize,
    rng: &mut Rng,
) -> Result<HeldOut, StatsError> {
    StatsError::require("cross-validation", folds.max(2), "points", points.len())?;
    let mut order: Vec<usize> = (0..points.len()).collect();
    rng.shuffle(&mut order);
    let mut sums = [0.0; 3];
    for fold in 0..folds {
        let is_left_out = |at: usize| at % folds == fold;
        let pick = |left_out: bool| {
            let chosen = order.iter().enumerate().filter(move |(at, _)| is_left_out(*at) == left_out);
            chosen.map(|(_, &i)| points[i].clone()).collect::<Vec<Point>>()
        };
        let (kept, left) = (pick(false), pick(true));
        let model = fit(family, &kept)?;
        let mean = weighted_mean(&kept);
        let (low, high) = range(&kept);
        for point in left {
            sums[0] += point.weight;
            sums[1] += point.weight * (point.y - model.predict(&point.x).clamp(low, high)).powi(2);
            sums[2] += point.weight * (point.y - mean).powi(2);
        }
    }
    let [total, model, mean] = sums;
    Ok(HeldOut {
        rmse: (model / total).sqrt(),
        rmse_of_mean: (mean / total).sqrt(),
        skill: 1.0 - model / mean,
    })
}

fn range(points: &[Point]) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    points.iter().fold(start, |(low, high), p| (low.min(p.y), high.max(p.y)))
}

fn weighted_mean(points: &[Point]) -> f64 {
    let total: f64 = points.iter().map(|p| p.weight).sum();
    points.iter().map(|p| p.weight * p.y).sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(signal: f64) -> Vec<Point> {
        let mut rng = Rng::new(3);
        let point = |i: u32| {
            let x = f64::from(i) / 100.0;
            Point { x: vec![x], y: (signal * x).exp() + 0.05 * rng.normal(), weight: 1.0 }
        };
        (0..100).map(point).collect()
    }

    #[test]
    fn a_model_that_knows_beats_the_mean_and_noise_does_not() {
        let skill =
            |signal| held_out(Family::GaussianLog, &points(signal), 10, &mut Rng::new(1)).unwrap().skill;
        assert!(skill(1.0) > 0.9, "{}", skill(1.0));
        assert!(skill(0.0) < 0.05, "{}", skill(0.0));
    }
}
