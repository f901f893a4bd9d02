//! Whether anything can be above a threshold.
//!
//! Detectors hold what is far outside within bounds, so that a freak is not remembered for long; most scores have a largest
//! value therefore. If a calibration episode comes near it, as one may that is not nominal, no later episode has an alarm,
//! and nobody would notice. Where the largest value lies is not known of most detectors. So a gross fault is tried, and equal
//! largest values are looked for, which next to nothing else explains.

use offnominal_core::detector::Signals;
use offnominal_stats::Threshold;
use offnominal_stats::alarm::statistic::Statistic;

/// The most steps of an episode with a gross fault.
const STEPS: usize = 1000;
/// How far every channel lies outside of its usual range, in widths of it, and in parts of its magnitude if that is more.
const WIDTHS: f32 = 100.0;
/// The largest values of gross faults differ by such a part of themselves.
const NEAR: f64 = 0.01;
/// Beyond any sensor, and within single precision after whatever a detector does to it first.
const MOST: f32 = 1e12;

/// The observations of the first steps of an episode, from whose middle on every channel lies far outside of its usual range.
pub(crate) fn gross(episode: &Signals<'_>, usual: &[[f32; 2]]) -> Vec<f32> {
    let steps = episode.len().min(STEPS);
    let mut rows = episode.until(steps).observations().to_vec();
    for row in rows.chunks_exact_mut(usual.len()).skip(steps / 2) {
        for (x, [low, high]) in row.iter_mut().zip(usual) {
            let width = (high - low).max(0.01 * high.abs().max(low.abs())).max(f32::EPSILON);
            *x = (high + WIDTHS * width).clamp(-MOST, MOST);
        }
    }
    rows
}

/// What is to be said if no alarm is to be expected above the threshold of some episodes, of which the scores are given, and
/// those of an episode with a gross fault.
pub(crate) fn doubt(whose: &str, threshold: &Threshold, nominal: &[&[f64]], gross: &[f64]) -> Option<String> {
    // The evidence of a stream grows from block to block, and one episode may have few.
    if matches!(threshold.statistic, Statistic::Blocks(_)) {
        return None;
    }
    let largest = threshold.statistic.largest(gross);
    let why = match threshold.tied(nominal) {
        n if n > 1 => format!(
            "{n} calibration episodes have this same largest value, which seems to be the largest there is"
        ),
        _ if threshold.value >= largest - NEAR * largest.abs() => {
            "an episode in which every channel jumps far out of its usual range is not clearly above it"
                .into()
        }
        _ => return None,
    };
    Some(format!(
        "threshold {:.4} of {whose}: hardly any alarm is possible, as {why}; look at the calibration episodes with the largest scores, \
         which may not be nominal, or take another detector",
        threshold.value
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::{Level, Rule};

    fn said(nominal: &[&[f64]], gross: &[f64]) -> Option<String> {
        let threshold = Rule::Max.threshold(nominal, Level::P95).unwrap();
        doubt("knn", &threshold, nominal, gross)
    }

    #[test]
    fn equal_largest_values_and_a_gross_fault_below_the_threshold_are_said() {
        let usual: &[&[f64]] = &[&[1.0, 2.0], &[3.0, 0.0]];
        assert_eq!(said(usual, &[1.0, 9.0]), None);
        assert!(said(usual, &[1.0, 3.01]).unwrap().contains("is not clearly above it"));
        let capped: &[&[f64]] = &[&[1.0, 20.0], &[20.0, 0.0], &[3.0, 4.0]];
        assert!(
            said(capped, &[99.0])
                .unwrap()
                .starts_with("threshold 20.0000 of knn: hardly any alarm is possible, as 2 cal")
        );
        // An episode that comes twice says nothing of the detector.
        let copied: &[&[f64]] = &[&[1.0, 20.0], &[1.0, 20.0], &[3.0, 4.0]];
        assert_eq!(said(copied, &[99.0]), None);
    }

    #[test]
    fn a_gross_fault_begins_in_the_middle_and_is_outside_in_every_channel() {
        let (observations, usual) = (vec![0.5_f32; 2 * 2001], [[0.0, 1.0], [5.0, 5.0]]);
        let rows = gross(&Signals::new(&observations, &[], 2, 0), &usual);
        assert_eq!(rows.len(), 2 * (STEPS + 1));
        assert!(rows[..STEPS].iter().all(|x| *x == 0.5) && rows[STEPS..].iter().all(|x| *x > 9.0));
    }
}
