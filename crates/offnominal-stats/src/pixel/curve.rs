//! Counts of unknown and known pixels at descending thresholds, and every metric that follows from them.
//!
//! With P unknown and N known pixels, and TP, FP those at or above a threshold θ:
//!
//! | metric   | definition                                                                                   |
//! |----------|----------------------------------------------------------------------------------------------|
//! | AUROC    | P(s⁺ > s⁻) + ½ P(s⁺ = s⁻), the trapezoids below the points (FP / N, TP / P)                   |
//! | AUPRC    | Σ (Rₖ − Rₖ₋₁) Pₖ (steps), or Σ (Rₖ − Rₖ₋₁) (Pₖ + Pₖ₋₁) / 2 (trapezoids, optimistic)           |
//! | FPR95    | FP / N at the largest θ with TP / P ≥ 0.95 (steps), or interpolated linearly (trapezoids)     |
//! | MaxIoU   | max over θ of TP / (P + FP)                                                                  |
//! | Youden   | the θ with the largest TP / P − FP / N                                                       |
//! | best F1  | max over θ of 2 TP / (P + TP + FP)                                                           |
//!
//! Reference for MaxIoU: Angus et al., "Efficacy of pixel-level OOD detection for semantic segmentation", section 4.

use crate::StatsError;

/// Pixels that share a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// Scores at or above this belong to this group or to one before it.
    pub threshold: f64,
    /// Unknown pixels.
    pub unknown: u64,
    /// Known pixels.
    pub known: u64,
}

/// How areas between two thresholds are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// A step for precision and recall; the first threshold that reaches 95 %. As scikit-learn.
    Steps,
    /// Straight lines between the thresholds, as the paper.
    Trapezoids,
}

/// The metrics of one set of pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelMetrics {
    /// Area under the ROC curve.
    pub auroc: f64,
    /// Area under the precision-recall curve.
    pub auprc: f64,
    /// False positive rate where 95 % of the unknown pixels are found.
    pub fpr95: f64,
    /// Largest intersection over union.
    pub max_iou: f64,
    /// Its threshold.
    pub max_iou_threshold: f64,
    /// The threshold with the largest TPR − FPR.
    pub youden_threshold: f64,
    /// Largest F1.
    pub best_f1: f64,
    /// Its threshold.
    pub best_f1_threshold: f64,
}

impl PixelMetrics {
    /// The metrics that intervals are made for: AUROC, AUPRC, FPR95, MaxIoU.
    pub fn shares(&self) -> [f64; 4] {
        [self.auroc, self.auprc, self.fpr95, self.max_iou]
    }
}

/// Non-empty groups in descending order of threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    groups: Vec<Group>,
    unknown: u64,
    known: u64,
}

impl Curve {
    /// A curve of groups in descending order; empty ones are left out.
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Curve {
        let groups: Vec<Group> = groups.into_iter().filter(|g| g.unknown + g.known > 0).collect();
        debug_assert!(groups.is_sorted_by(|a, b| a.threshold >= b.threshold), "descending thresholds");
        let (unknown, known) = groups.iter().fold((0, 0), |(u, k), g| (u + g.unknown, k + g.known));
        Curve { groups, unknown, known }
    }

    /// Unknown and known pixels.
    pub fn counts(&self) -> (u64, u64) {
        (self.unknown, self.known)
    }

    /// Number of thresholds that change anything.
    pub fn distinct(&self) -> usize {
        self.groups.len()
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The metrics.
    ///
    /// # Errors
    /// If unknown or known pixels are missing.
    pub fn metrics(&self, area: Area) -> Result<PixelMetrics, StatsError> {
        let (unknown, known) = self.counts();
        if unknown == 0 || known == 0 {
            return Err(StatsError::NoContrast { unknown, known });
        }
        Ok(Sweep::new(unknown as f64, known as f64, area).run(&self.groups))
    }

    /// The least and the largest value of each of [`PixelMetrics::shares`] that any order of the pixels within their
    /// groups gives: all known pixels of a group first, or all unknown ones.
    ///
    /// # Errors
    /// If unknown or known pixels are missing.
    pub fn bounds(&self) -> Result<[[f64; 2]; 4], StatsError> {
        let worst = self.split(|g| [Group { unknown: 0, ..g }, Group { known: 0, ..g }]);
        let best = self.split(|g| [Group { known: 0, ..g }, Group { unknown: 0, ..g }]);
        let (worst, best) = (worst.metrics(Area::Steps)?.shares(), best.metrics(Area::Steps)?.shares());
        Ok(std::array::from_fn(|i| [worst[i].min(best[i]), worst[i].max(best[i])]))
    }

    fn split(&self, halves: impl Fn(Group) -> [Group; 2]) -> Curve {
        Curve::new(self.groups.iter().flat_map(|&g| halves(g)))
    }
}

/// A value and the threshold at which it is the largest.
#[derive(Clone, Copy)]
struct Best {
    value: f64,
    threshold: f64,
}

impl Best {
    const NONE: Best = Best { value: f64::NEG_INFINITY, threshold: f64::NAN };

    fn offer(&mut self, value: f64, threshold: f64) {
        if value > self.value {
            *self = Best { value, threshold };
        }
    }
}

/// The walk from the highest threshold to the lowest.
struct Sweep {
    unknown: f64,
    known: f64,
    area: Area,
    roc: f64,
    pr: f64,
    fpr95: Option<f64>,
    iou: Best,
    youden: Best,
    f1: Best,
}

/// The smallest share of unknown pixels that FPR95 asks for.
const TPR: f64 = 0.95;

impl Sweep {
    fn new(unknown: f64, known: f64, area: Area) -> Sweep {
        let (iou, youden, f1) = (Best::NONE, Best::NONE, Best::NONE);
        Sweep { unknown, known, area, roc: 0.0, pr: 0.0, fpr95: None, iou, youden, f1 }
    }

    fn run(mut self, groups: &[Group]) -> PixelMetrics {
        let (mut before, mut precision_before) = ([0.0, 0.0], 1.0);
        for group in groups {
            let now = [before[0] + group.unknown as f64, before[1] + group.known as f64];
            let precision = now[0] / (now[0] + now[1]);
            self.areas(before, now, [precision_before, precision]);
            self.optima(now, group.threshold);
            (before, precision_before) = (now, precision);
        }
        PixelMetrics {
            auroc: self.roc / (self.unknown * self.known),
            auprc: self.pr / self.unknown,
            fpr95: self.fpr95.unwrap_or(1.0),
            max_iou: self.iou.value,
            max_iou_threshold: self.iou.threshold,
            youden_threshold: self.youden.threshold,
            best_f1: self.f1.value,
            best_f1_threshold: self.f1.threshold,
        }
    }

    fn areas(&mut self, before: [f64; 2], now: [f64; 2], precision: [f64; 2]) {
        self.roc += (now[1] - before[1]) * 0.5 * (now[0] + before[0]);
        let height = match self.area {
            Area::Steps => precision[1],
            Area::Trapezoids => 0.5 * (precision[0] + precision[1]),
        };
        self.pr += (now[0] - before[0]) * height;
        if self.fpr95.is_none() && now[0] / self.unknown >= TPR {
            self.fpr95 = Some(self.crossing(before, now) / self.known);
        }
    }

    /// Known pixels where the share of unknown ones reaches 95 %.
    fn crossing(&self, before: [f64; 2], now: [f64; 2]) -> f64 {
        match self.area {
            Area::Steps => now[1],
            Area::Trapezoids => {
                let share = (TPR * self.unknown - before[0]) / (now[0] - before[0]);
                before[1] + share * (now[1] - before[1])
            }
        }
    }

    fn optima(&mut self, [tp, fp]: [f64; 2], threshold: f64) {
        self.iou.offer(tp / (self.unknown + fp), threshold);
        self.youden.offer(tp / self.unknown - fp / self.known, threshold);
        self.f1.offer(2.0 * tp / (self.unknown + tp + fp), threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(groups: &[(f64, u64, u64)]) -> Curve {
        Curve::new(groups.iter().map(|&(threshold, unknown, known)| Group { threshold, unknown, known }))
    }

    #[test]
    fn optima_by_hand() {
        // Two unknown above one known, then one unknown, then three known.
        let found =
            curve(&[(0.9, 2, 0), (0.5, 0, 1), (0.4, 1, 0), (0.1, 0, 3)]).metrics(Area::Steps).unwrap();
        assert_eq!((found.max_iou, found.max_iou_threshold), (0.75, 0.4));
        assert_eq!((found.youden_threshold, found.best_f1), (0.4, 6.0 / 7.0));
        assert_eq!((found.fpr95, found.auroc), (0.25, 11.0 / 12.0));
        assert_eq!(found.auprc, (2.0 + 0.75) / 3.0);
    }

    #[test]
    fn max_iou_punishes_false_alarms_more_than_youden_does() {
        // Rare unknown pixels: Youden takes the group with many false alarms, MaxIoU does not.
        let found = curve(&[(0.9, 6, 4), (0.5, 4, 100), (0.1, 0, 900)]).metrics(Area::Steps).unwrap();
        assert_eq!((found.max_iou_threshold, found.youden_threshold), (0.9, 0.5));
    }

    #[test]
    fn trapezoids_are_more_optimistic_than_steps_and_interpolate() {
        let curve = curve(&[(0.8, 1, 0), (0.4, 1, 3), (0.2, 0, 1)]);
        let (steps, lines) = (curve.metrics(Area::Steps).unwrap(), curve.metrics(Area::Trapezoids).unwrap());
        assert!(lines.auprc > steps.auprc && lines.auroc == steps.auroc);
        assert_eq!(steps.fpr95, 0.75);
        assert!((lines.fpr95 - 0.9 * 0.75).abs() < 1e-12);
    }

    #[test]
    fn one_class_has_no_metrics() {
        let error = curve(&[(0.8, 0, 3)]).metrics(Area::Steps).unwrap_err();
        assert_eq!(error.to_string(), "expected unknown and known pixels, found 0 unknown and 3 known ones");
    }

    #[test]
    fn bounds_hold_the_value_and_close_where_there_are_no_ties() {
        let tied = curve(&[(0.8, 3, 2), (0.2, 1, 5)]);
        let (value, bounds) = (tied.metrics(Area::Steps).unwrap().shares(), tied.bounds().unwrap());
        assert!(value.iter().zip(bounds).all(|(v, [low, high])| low <= *v && *v <= high && low < high));
        // Half the pairs of each group decide nothing: (3·2 + 1·5) / 28.
        assert!((bounds[0][1] - bounds[0][0] - 11.0 / 28.0).abs() < 1e-12);
        let untied = curve(&[(0.8, 3, 0), (0.2, 0, 5)]);
        assert!(untied.bounds().unwrap().iter().all(|[low, high]| low == high));
    }
}
