//! How well whole objects are found: components of the truth against components of what is called unknown.
//!
//! Components are 8-connected. With K a component of the truth and K̂ the union of predicted components that touch it:
//!
//! | measure | definition                                                                                      |
//! |---------|-------------------------------------------------------------------------------------------------|
//! | sIoU(K) | \|K ∩ K̂\| / \|(K ∪ K̂) \ A\|, with A the pixels of K̂ in other components of the truth               |
//! | PPV(k̂)  | share of a predicted component that is unknown                                                  |
//! | F1(τ)   | 2 TP / (2 TP + FN + FP), TP = #(sIoU ≥ τ), FN = #(sIoU < τ), FP = #(PPV < τ)                      |
//!
//! The mean F1 averages over τ = .25, .30, …, .75. Ignored pixels are never predicted. Small predicted components are
//! dropped, and small true ones become ignored.
//! Reference: Chan et al., SegmentMeIfYouCan, NeurIPS 2021 datasets track, section 4.

mod set;

pub use set::Components;

use super::Truth;
use crate::StatsError;
use crate::bootstrap::{Bootstrap, Range};
use offnominal_core::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// The smallest components that count, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Smallest {
    /// Of the prediction; smaller ones are dropped.
    pub predicted: usize,
    /// Of the truth; smaller ones are ignored.
    pub truth: usize,
}

impl Smallest {
    /// Those of SegmentMeIfYouCan's track of anomalies, for images of about two million pixels.
    pub const ANOMALY_TRACK: Smallest = Smallest { predicted: 500, truth: 100 };
    /// Those of its track of obstacles on the road.
    pub const OBSTACLE_TRACK: Smallest = Smallest { predicted: 50, truth: 10 };

    /// Those of the track of anomalies, scaled to images of so many pixels.
    pub fn for_pixels(pixels: usize) -> Smallest {
        let scaled = |n: usize| (n * pixels / 2_000_000).max(1);
        let Smallest { predicted, truth } = Smallest::ANOMALY_TRACK;
        Smallest { predicted: scaled(predicted), truth: scaled(truth) }
    }
}

/// What one image says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImageComponents {
    /// sIoU of each component of the truth.
    pub siou: Vec<f64>,
    /// PPV of each predicted component.
    pub ppv: Vec<f64>,
}

/// Component metrics of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentMetrics {
    /// Mean sIoU over the components of the truth.
    pub siou: Estimate,
    /// Mean PPV over the predicted components; none if nothing was predicted.
    pub ppv: Option<Estimate>,
    /// Mean F1 over the thresholds τ.
    pub f1: Estimate,
    /// Components of the truth.
    pub of_truth: usize,
    /// Predicted components.
    pub predicted: usize,
}

/// Compares the components of one image, `width` pixels wide; a pixel is called unknown if its score is at or above
/// the threshold.
///
/// # Panics
/// If the lengths differ or are no multiple of the width.
pub fn compare(
    scores: &[f32],
    truth: &[Truth],
    width: usize,
    threshold: f64,
    least: Smallest,
) -> ImageComponents {
    Compared::new(scores, truth, width, threshold, least).measures()
}

/// The components of one image: of the truth, and of what is called unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Of the truth.
    pub real: Components,
    /// Of what is called unknown.
    pub predicted: Components,
}

impl Compared {
    /// Finds the components of an image, as [`compare`] does.
    ///
    /// # Panics
    /// If the lengths differ or are no multiple of the width.
    pub fn new(scores: &[f32], truth: &[Truth], width: usize, threshold: f64, least: Smallest) -> Compared {
        assert!(scores.len() == truth.len() && scores.len().is_multiple_of(width), "shapes of an image");
        let is_unknown: Vec<bool> = truth.iter().map(|&t| t == Truth::Unknown).collect();
        let mut real = Components::of(&is_unknown, width);
        let is_small = |i: usize| real.labels[i] > 0 && real.size(real.labels[i]) < least.truth;
        let ignored: Vec<bool> =
            (0..truth.len()).map(|i| truth[i] == Truth::Ignored || is_small(i)).collect();
        real.drop_below(least.truth);
        let called: Vec<bool> =
            (0..scores.len()).map(|i| f64::from(scores[i]) >= threshold && !ignored[i]).collect();
        let mut predicted = Components::of(&called, width);
        predicted.drop_below(least.predicted);
        Compared { real, predicted }
    }

    /// What they say.
    pub fn measures(&self) -> ImageComponents {
        let Compared { real, predicted } = self;
        ImageComponents { siou: sious(real, predicted), ppv: ppvs(real, predicted) }
    }

    /// The largest component of the truth of which less than half is called unknown; the first of equal ones.
    pub fn largest_missed(&self) -> Option<u32> {
        self.real.largest_outside(&self.predicted)
    }

    /// The largest predicted component of which less than half is unknown; the first of equal ones.
    pub fn largest_invented(&self) -> Option<u32> {
        self.predicted.largest_outside(&self.real)
    }
}

/// sIoU of each component of the truth.
fn sious(real: &Components, predicted: &Components) -> Vec<f64> {
    let ids = (1..=real.sizes.len() as u32).filter(|&k| real.size(k) > 0);
    ids.map(|k| {
        let mut touches = vec![false; predicted.sizes.len() + 1];
        let pairs = || real.labels.iter().zip(&predicted.labels);
        pairs().filter(|(r, _)| **r == k).for_each(|(_, &p)| touches[p as usize] = true);
        touches[0] = false;
        let (mut shared, mut extra) = (0, 0);
        for (&r, _) in pairs().filter(|(_, p)| touches[**p as usize]) {
            shared += usize::from(r == k);
            extra += usize::from(r == 0);
        }
        shared as f64 / (real.size(k) + extra) as f64
    })
    .collect()
}

/// PPV of each predicted component.
fn ppvs(real: &Components, predicted: &Components) -> Vec<f64> {
    let mut hits = vec![0; predicted.sizes.len() + 1];
    for (&r, &p) in real.labels.iter().zip(&predicted.labels) {
        hits[p as usize] += usize::from(r > 0);
    }
    let ids = (1..=predicted.sizes.len() as u32).filter(|&k| predicted.size(k) > 0);
    ids.map(|k| hits[k as usize] as f64 / predicted.size(k) as f64).collect()
}

/// Pools images; intervals resample them.
///
/// # Errors
/// If the truth has no component.
pub fn summarise(images: &[ImageComponents], plan: &Bootstrap) -> Result<ComponentMetrics, StatsError> {
    let pooled = |list: fn(&ImageComponents) -> &Vec<f64>| {
        move |weights: &[u32]| {
            let (mut sum, mut total) = (0.0, 0.0);
            for (image, &weight) in images.iter().zip(weights) {
                sum += f64::from(weight) * list(image).iter().sum::<f64>();
                total += f64::from(weight) * list(image).len() as f64;
            }
            (total > 0.0).then(|| sum / total)
        }
    };
    let (siou, ppv) = (pooled(|i| &i.siou), pooled(|i| &i.ppv));
    let values = plan.estimates("components of the truth", images.len(), [Range::Quality; 2], |w| {
        Some([siou(w)?, mean_f1(images, w)])
    })?;
    let ppv = plan.estimates("predicted components", images.len(), [Range::Quality], |w| Some([ppv(w)?]));
    let count = |list: fn(&ImageComponents) -> &Vec<f64>| images.iter().map(|i| list(i).len()).sum();
    let (of_truth, predicted) = (count(|i| &i.siou), count(|i| &i.ppv));
    let [siou, f1] = values;
    Ok(ComponentMetrics { siou, ppv: ppv.ok().map(|[ppv]| ppv), f1, of_truth, predicted })
}

fn mean_f1(images: &[ImageComponents], weights: &[u32]) -> f64 {
    let f1 = |tau: f64| {
        let (mut tp, mut wrong) = (0.0, 0.0);
        for (image, &weight) in images.iter().zip(weights) {
            let hits = image.siou.iter().filter(|&&s| s >= tau).count();
            let false_alarms = image.ppv.iter().filter(|&&p| p < tau).count();
            tp += f64::from(weight) * hits as f64;
            wrong += f64::from(weight) * (image.siou.len() - hits + false_alarms) as f64;
        }
        if tp > 0.0 { 2.0 * tp / (2.0 * tp + wrong) } else { 0.0 }
    };
    (5..=15).map(|i| f1(0.05 * f64::from(i))).sum::<f64>() / 11.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::Seed;

    /// `#` unknown and called, `o` unknown and missed, `x` known but called, `?` ignored and called, `.` neither.
    fn image(rows: &[&str], least: Smallest) -> ImageComponents {
        compared(rows, least).measures()
    }

    fn compared(rows: &[&str], least: Smallest) -> Compared {
        let text: Vec<char> = rows.iter().flat_map(|r| r.chars()).collect();
        let truth: Vec<Truth> = text
            .iter()
            .map(|c| match c {
                '#' | 'o' => Truth::Unknown,
                '?' => Truth::Ignored,
                _ => Truth::Known,
            })
            .collect();
        let scores: Vec<f32> = text.iter().map(|c| if "#x?".contains(*c) { 1.0 } else { 0.0 }).collect();
        Compared::new(&scores, &truth, rows[0].len(), 0.5, least)
    }

    const ALL: Smallest = Smallest { predicted: 1, truth: 1 };

    #[test]
    fn overlap_by_hand() {
        let found = image(&["##x..", "#o...", "....."], ALL);
        assert_eq!((found.siou, found.ppv), (vec![3.0 / 5.0], vec![3.0 / 4.0]));
    }

    #[test]
    fn one_prediction_over_two_objects_does_not_count_the_other_against_either() {
        let found = image(&["##x##"], ALL);
        assert_eq!((found.siou, found.ppv), (vec![2.0 / 3.0; 2], vec![4.0 / 5.0]));
    }

    #[test]
    fn corners_connect_and_borders_do_not_wrap() {
        assert_eq!(image(&["#..", ".#.", "..#"], ALL).siou, [1.0]);
        assert_eq!(image(&["..#", "#..", "..."], ALL).siou, [1.0, 1.0]);
    }

    #[test]
    fn ignored_and_small_components_vanish() {
        let found = image(&["??.#", "....", "xx.."], ALL);
        assert_eq!((found.siou.len(), found.ppv), (1, vec![1.0, 0.0]));
        let found = image(&["oo..x", ".....", "ooo.."], Smallest { predicted: 2, truth: 3 });
        assert_eq!((found.siou, found.ppv), (vec![0.0], vec![]));
    }

    /// Sizes of the largest missed and the largest invented component.
    fn mistakes(rows: &[&str], least: Smallest) -> [Option<usize>; 2] {
        let found = compared(rows, least);
        [
            found.largest_missed().map(|l| found.real.size(l)),
            found.largest_invented().map(|l| found.predicted.size(l)),
        ]
    }

    #[test]
    fn the_largest_mistakes_are_covered_by_less_than_half() {
        // Of the truth 2, 3 and 5 pixels, of which 0, 2 and 3 are found; one prediction has nothing true.
        assert_eq!(mistakes(&["oo.##o.###oo", "............", "xxx........."], ALL), [Some(2), Some(3)]);
        // Half is enough, on both sides.
        assert_eq!(mistakes(&["##oo...", ".......", "....#x."], ALL), [None, None]);
        assert_eq!(mistakes(&["##ooo..", ".......", "...#xxo"], ALL), [Some(5), Some(3)]);
        assert_eq!(mistakes(&["...", "..."], ALL), [None, None]);
    }

    #[test]
    fn what_is_ignored_or_too_small_is_no_mistake() {
        assert_eq!(mistakes(&["??.oo", ".....", "xx..."], ALL), [Some(2), Some(2)]);
        let least = Smallest { predicted: 3, truth: 3 };
        assert_eq!(mistakes(&["??.oo", ".....", "xx..."], least), [None, None]);
        // A prediction that is dropped finds nothing.
        assert_eq!(mistakes(&["##o", "..."], least), [Some(3), None]);
    }

    #[test]
    fn of_equal_mistakes_the_first_is_taken() {
        let found = compared(&["oo.oo", ".....", "xx.xx"], ALL);
        assert_eq!((found.largest_missed(), found.largest_invented()), (Some(1), Some(1)));
    }

    #[test]
    fn a_perfect_prediction_has_an_f1_of_one_and_a_blind_one_none() {
        let plan = Bootstrap::new(50, Level::P95, Seed(0));
        let perfect = image(&["##.", "...", "..#"], ALL);
        let found = summarise(&[perfect.clone(), perfect], &plan).unwrap();
        assert_eq!((found.f1.value, found.siou.value, found.of_truth, found.predicted), (1.0, 1.0, 4, 4));
        let found = summarise(&[image(&["oo.", "..."], ALL)], &plan).unwrap();
        assert!(found.f1.value == 0.0 && found.ppv.is_none());
        assert!(summarise(&[image(&["..."], ALL)], &plan).is_err());
    }

    #[test]
    fn sizes_scale_with_the_image() {
        assert_eq!(Smallest::for_pixels(2_000_000), Smallest { predicted: 500, truth: 100 });
        assert_eq!(Smallest::for_pixels(128 * 256), Smallest { predicted: 8, truth: 1 });
    }
}
