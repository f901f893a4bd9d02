//! Detectors that are made of others and of what those say of successful rollouts.

use super::{Fitted, Lesson, Scorer, Seen, Start};
use anyhow::{Result, ensure};
use offnominal_core::archive::{ArchiveError, Reader, Writer};
use std::sync::Arc;

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
pub(super) struct Band {
    of: Box<dyn Fitted>,
    /// Mean and deviation at each step; those of the last step hold beyond it.
    steps: Arc<[(f64, f64)]>,
}

impl Band {
    pub(super) fn fit(of: Box<dyn Fitted>, lesson: &Lesson<'_>) -> Result<Band> {
        let scores = successes(of.as_ref(), lesson)?;
        let longest = scores.iter().map(Vec::len).max().unwrap_or(0);
        let at = |step: usize| scores.iter().filter_map(move |s| s.get(step).copied());
        let steps = (0..longest).take_while(|&step| at(step).count() >= FEWEST).map(|step| {
            let n = at(step).count() as f64;
            let mean = at(step).sum::<f64>() / n;
            (mean, (at(step).map(|s| (s - mean).powi(2)).sum::<f64>() / n).sqrt())
        });
        let steps: Vec<(f64, f64)> = steps.collect();
        let largest = steps.iter().map(|(_, deviation)| *deviation).fold(0.0, f64::max);
        let floor = if largest > 0.0 { FLOOR * largest } else { 1.0 };
        Ok(Band { of, steps: steps.into_iter().map(|(mean, d)| (mean, d.max(floor))).collect() })
    }

    pub(super) fn load(of: Box<dyn Fitted>, from: &Reader<'_>) -> Result<Band, ArchiveError> {
        let means: &[f64] = from.list("means")?;
        let deviations = from.exactly::<f64>("deviations", means.len())?;
        from.require(!means.is_empty(), "means", "a step or more", "none")?;
        let smallest = deviations.iter().copied().fold(f64::INFINITY, f64::min);
        from.require(smallest > 0.0, "deviations", "numbers above zero", smallest)?;
        Ok(Band { of, steps: means.iter().copied().zip(deviations.iter().copied()).collect() })
    }
}

impl Fitted for Band {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (mut of, steps, mut step) = (self.of.begin(start)?, Arc::clone(&self.steps), 0);
        Ok(Box::new(move |seen: Seen<'_>| {
            let (mean, deviation) = steps[step.min(steps.len() - 1)];
            step += 1;
            (of.step(seen) - mean) / deviation
        }))
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.of.save(&mut to.part("of"));
        let (means, deviations): (Vec<f64>, Vec<f64>) = self.steps.iter().copied().unzip();
        to.put("means", &means);
        to.put("deviations", &deviations);
    }
}

/// The smaller of two ranks: the share of successes whose largest score is below this one, plus half of those that are
/// equal. Both must be unusual (FIPER, arXiv 2510.09459), and one threshold for the smaller rank spends its false alarms
/// exactly, which two thresholds do not. Beyond all successes the rank grows on with the score, so that there are no ties.
pub(super) struct And {
    of: [Box<dyn Fitted>; 2],
    /// The largest scores of successes, in ascending order.
    sorted: [Arc<[f64]>; 2],
}

impl And {
    pub(super) fn fit(of: [Box<dyn Fitted>; 2], lesson: &Lesson<'_>) -> Result<And> {
        let largest = |of: &dyn Fitted| -> Result<Arc<[f64]>> {
            let scores = successes(of, lesson)?;
            let mut largest: Vec<f64> =
                scores.iter().map(|s| s.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
            largest.sort_by(f64::total_cmp);
            Ok(largest.into())
        };
        let sorted = [largest(of[0].as_ref())?, largest(of[1].as_ref())?];
        Ok(And { of, sorted })
    }

    pub(super) fn load(of: [Box<dyn Fitted>; 2], from: &Reader<'_>) -> Result<And, ArchiveError> {
        let sorted = |k: usize| -> Result<Arc<[f64]>, ArchiveError> {
            let part = from.part(k);
            let list: &[f64] = part.list("largest")?;
            part.require(!list.is_empty(), "largest", "a number or more", "none")?;
            part.require(list.is_sorted(), "largest", "ascending numbers", "others")?;
            Ok(list.into())
        };
        Ok(And { of, sorted: [sorted(0)?, sorted(1)?] })
    }
}

impl Fitted for And {
    fn begin(&self, start: &Start<'_>) -> Result<Box<dyn Scorer>> {
        let (mut a, mut b) = (self.of[0].begin(start)?, self.of[1].begin(start)?);
        let sorted = self.sorted.clone();
        Ok(Box::new(move |seen: Seen<'_>| rank(a.step(seen), &sorted[0]).min(rank(b.step(seen), &sorted[1]))))
    }

    fn save(&self, to: &mut Writer<'_>) {
        for (k, (of, sorted)) in self.of.iter().zip(&self.sorted).enumerate() {
            of.save(&mut to.part(k).part("of"));
            to.part(k).put("largest", sorted);
        }
    }
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
