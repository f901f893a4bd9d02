//! Detectors that are made of others and of what those say of successful rollouts.

use super::{Fitted, Lesson};
use crate::rollout::Rollouts;
use anyhow::{Result, ensure};

/// Successes that must run at a step; later steps are compared with the last step that has so many.
const FEWEST: usize = 5;
/// The least deviation, relative to the largest at any step.
const FLOOR: f64 = 1e-3;

/// What the detector says of the successes that are learned from.
fn successes(of: &dyn Fitted, lesson: &Lesson<'_>) -> Result<Vec<Vec<f64>>> {
    let train = lesson.part.train.iter().filter(|&&i| !lesson.data.rollouts[i].fails);
    let scores: Vec<Vec<f64>> = train.map(|&i| of.scores(lesson.data, i)).collect();
    ensure!(
        scores.len() >= FEWEST,
        "expected at least {FEWEST} successes to learn from, found {}",
        scores.len()
    );
    Ok(scores)
}

/// Scores in deviations from the mean of the successes that run at the step.
///
/// The functional band of SAFE (arXiv 2506.09937) pads successes to the longest one; here a step counts those that run, so
/// that a success that has ended says nothing of later steps.
pub(super) fn band(of: Box<dyn Fitted>, lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let scores = successes(of.as_ref(), lesson)?;
    let longest = scores.iter().map(Vec::len).max().unwrap_or(0);
    let at = |step: usize| scores.iter().filter_map(move |s| s.get(step).copied());
    let steps: Vec<(f64, f64)> = (0..longest)
        .take_while(|&step| at(step).count() >= FEWEST)
        .map(|step| {
            let n = at(step).count() as f64;
            let mean = at(step).sum::<f64>() / n;
            (mean, (at(step).map(|s| (s - mean).powi(2)).sum::<f64>() / n).sqrt())
        })
        .collect();
    let largest = steps.iter().map(|(_, deviation)| *deviation).fold(0.0, f64::max);
    let floor = if largest > 0.0 { FLOOR * largest } else { 1.0 };
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let z = |(step, score): (usize, f64)| {
            let (mean, deviation) = steps[step.min(steps.len() - 1)];
            (score - mean) / deviation.max(floor)
        };
        of.scores(data, i).into_iter().enumerate().map(z).collect()
    }))
}

/// The smaller of two ranks: the share of successes whose largest score is below this one, plus half of those that are
/// equal. Both must be unusual (FIPER, arXiv 2510.09459), and one threshold for the smaller rank spends its false alarms
/// exactly, which two thresholds do not. Beyond all successes the rank grows on with the score, so that there are no ties.
pub(super) fn and(of: [Box<dyn Fitted>; 2], lesson: &Lesson<'_>) -> Result<Box<dyn Fitted>> {
    let largest = |of: &dyn Fitted| -> Result<Vec<f64>> {
        let scores = successes(of, lesson)?;
        let mut largest: Vec<f64> =
            scores.iter().map(|s| s.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
        largest.sort_by(f64::total_cmp);
        Ok(largest)
    };
    let sorted = [largest(of[0].as_ref())?, largest(of[1].as_ref())?];
    Ok(Box::new(move |data: &Rollouts, i: usize| {
        let [a, b] = [0, 1].map(|k| {
            let ranks = of[k].scores(data, i).into_iter().map(|score| rank(score, &sorted[k]));
            ranks.collect::<Vec<f64>>()
        });
        a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect()
    }))
}

/// The rank of a score among sorted ones, in [0, 2): linear between them, and beyond the last one towards 2.
fn rank(score: f64, sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let (below, up_to) = (sorted.partition_point(|&s| s < score), sorted.partition_point(|&s| s <= score));
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let width = (last - first).max(f64::MIN_POSITIVE);
    if score > last {
        let beyond = (score - last) / width;
        return 1.0 + beyond / (1.0 + beyond);
    }
    if below < up_to || below == 0 {
        return (below + up_to) as f64 / (2.0 * n);
    }
    let (left, right) = (sorted[below - 1], sorted[below]);
    (below as f64 - 0.5 + (score - left) / (right - left)) / n
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn ranks_rise_with_the_score() {
        let sorted = [1.0, 2.0, 2.0, 4.0];
        let scores: Vec<f64> = (0..80).map(|i| f64::from(i) * 0.1).collect();
        let ranks: Vec<f64> = scores.iter().map(|&s| rank(s, &sorted)).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert_eq!((rank(1.0, &sorted), rank(2.0, &sorted), rank(4.0, &sorted)), (0.125, 0.5, 0.875));
        assert!(rank(4.1, &sorted) > 1.0 && rank(1e300, &sorted) <= 2.0 && rank(-1.0, &sorted) == 0.0);
    }
}
