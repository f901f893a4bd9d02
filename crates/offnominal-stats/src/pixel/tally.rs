//! The four modes side by side, filled image by image.

use super::{Area, Curve, Exact, Histogram, Images, Paper400, PixelMetrics, Truth};
use crate::{Bootstrap, StatsError};
use offnominal_core::estimate::Estimate;

/// With fewer distinct thresholds than this, metrics say more about the thresholds than about the scores.
pub const FEW_THRESHOLDS: usize = 50;

/// Pixels that are kept for the exact mode at most: 1.6 GB.
const EXACT_LIMIT: usize = 200_000_000;

/// Everything that is counted while images pass by.
#[derive(Debug, Clone, Default)]
pub struct PixelTally {
    exact: Exact,
    /// Whether there were too many pixels for the exact mode.
    overflowed: bool,
    histogram: Histogram,
    paper: Paper400,
    images: Images,
}

/// The metrics in one mode: AUROC, AUPRC, FPR95, MaxIoU.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeMetrics {
    /// `exact`, `histogram`, `paper400` or `per_image`.
    pub mode: &'static str,
    /// The values with intervals that come from resampling images.
    pub values: [Estimate; 4],
    /// Thresholds that change anything; none for means over images.
    pub distinct: Option<usize>,
}

/// What the pixels of a data set say about a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Unknown and known pixels.
    pub counts: (u64, u64),
    /// All images, and those with both kinds of pixels.
    pub images: (usize, usize),
    /// One entry for each mode that could be had.
    pub modes: Vec<ModeMetrics>,
    /// The most that each metric of the histogram can be off, downwards and upwards.
    pub histogram_error: [[f64; 2]; 4],
    /// The AUROC of the most exact mode, with the interval that holds if other images are alike.
    pub if_alike: Option<Estimate>,
    /// Thresholds and best F1, of the exact mode, or of the histogram if there are too many pixels.
    pub best: PixelMetrics,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

impl PixelTally {
    /// Adds an image.
    ///
    /// # Errors
    /// If the lengths differ or a score is not finite.
    pub fn add(&mut self, scores: &[f32], truth: &[Truth]) -> Result<(), StatsError> {
        self.histogram.add(scores, truth)?;
        self.paper.add(scores, truth)?;
        self.images.add(scores, truth)?;
        self.overflowed |= self.exact.len() + scores.len() > EXACT_LIMIT;
        if self.overflowed {
            self.exact = Exact::default();
            return Ok(());
        }
        self.exact.add(scores, truth)
    }

    /// What was remembered of each image.
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// Judges what was added.
    ///
    /// # Errors
    /// If there are no unknown or no known pixels.
    pub fn judge(mut self, plan: &Bootstrap) -> Result<Judged, StatsError> {
        let histogram = self.histogram.curve();
        let (binned, bounds) = (histogram.metrics(Area::Steps)?, histogram.bounds()?);
        let exact = (!self.overflowed).then(|| self.exact.curve());
        let best = exact.as_ref().map_or(Ok(binned), |c| c.metrics(Area::Steps))?;
        let paper = self.paper.curve();
        let intervals = self.images.pooled(plan)?;
        let mut modes = Vec::new();
        if let Some(curve) = &exact {
            modes.push(pooled("exact", best, &intervals, curve));
        }
        modes.push(pooled("histogram", binned, &intervals, &histogram));
        modes.push(pooled("paper400", paper.metrics(Area::Trapezoids)?, &intervals, &paper));
        if let Ok(values) = self.images.means(plan) {
            modes.push(ModeMetrics { mode: "per_image", values, distinct: None });
        }
        let warnings = self.warnings(&modes);
        let histogram_error = std::array::from_fn(|i| bounds[i].map(|bound| bound - binned.shares()[i]));
        let (counts, images) = (histogram.counts(), self.images.counts());
        let if_alike = self.images.if_alike(modes[0].values[0].value, plan.level);
        Ok(Judged { counts, images, modes, histogram_error, if_alike, best, warnings })
    }

    fn warnings(&self, modes: &[ModeMetrics]) -> Vec<String> {
        let few =
            modes.iter().filter_map(|m| m.distinct.filter(|&n| n < FEW_THRESHOLDS).map(|n| (m.mode, n)));
        let mut all: Vec<String> = few
            .map(|(mode, n)| {
                format!("{mode}: only {n} distinct thresholds (at least {FEW_THRESHOLDS} are needed): the metrics depend on where they lie")
            })
            .collect();
        if self.paper.outside() > 0 {
            let n = self.paper.outside();
            all.push(format!(
                "paper400: {n} scores outside [0, 1] were clipped, so this mode does not apply"
            ));
        }
        if self.overflowed {
            all.push(format!("exact: left out, more than {EXACT_LIMIT} pixels"));
        }
        all
    }
}

/// The values of a mode, with the half-widths of the resampled intervals around them.
fn pooled(
    mode: &'static str,
    metrics: PixelMetrics,
    intervals: &[Estimate; 4],
    curve: &Curve,
) -> ModeMetrics {
    let around = |i: usize| {
        let (value, found) = (metrics.shares()[i], &intervals[i]);
        let shift = value - found.value;
        let end = |end: f64| (end + shift).clamp(0.0, 1.0);
        let (low, high) = (end(found.low).min(value), end(found.high).max(value));
        Estimate { value, low, high, ..found.clone() }
    };
    ModeMetrics { mode, values: std::array::from_fn(around), distinct: Some(curve.distinct()) }
}

/// Mean absolute difference between the thresholds of Youden and of MaxIoU over methods whose scores lie in [0, 1]
/// (the paper's section 4.1); none without methods.
pub fn disagreement(all: &[[f64; 2]]) -> Option<f64> {
    let sum: f64 = all.iter().map(|[youden, max_iou]| (youden - max_iou).abs()).sum();
    (!all.is_empty()).then(|| sum / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use offnominal_core::{Rng, Seed};

    fn judged(score: impl Fn(f64) -> f64) -> Judged {
        let (mut rng, mut tally) = (Rng::new(5), PixelTally::default());
        for _ in 0..12 {
            let truth: Vec<Truth> =
                (0..1000).map(|p| if p < 60 { Truth::Unknown } else { Truth::Known }).collect();
            let scores: Vec<f32> =
                truth.iter().map(|t| score(rng.normal() + 1.5 * f64::from(*t as u8)) as f32).collect();
            tally.add(&scores, &truth).unwrap();
        }
        tally.judge(&Bootstrap::new(100, Level::P95, Seed(0))).unwrap()
    }

    fn logistic(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[test]
    fn four_modes_agree_where_scores_fill_the_range() {
        let found = judged(logistic);
        let names: Vec<_> = found.modes.iter().map(|m| m.mode).collect();
        assert_eq!(names, ["exact", "histogram", "paper400", "per_image"]);
        // Φ(1.5/√2) = .8556.
        assert!(found.modes.iter().all(|m| (m.values[0].value - 0.8556).abs() < 0.02), "{:?}", found.modes);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        assert!(found.modes.iter().flat_map(|m| &m.values).all(|e| e.low <= e.value && e.value <= e.high));
        assert_eq!((found.counts, found.images), ((720, 11_280), (12, 12)));
    }

    #[test]
    fn a_flat_temperature_makes_the_paper_s_thresholds_blind_and_is_reported() {
        let found = judged(|x| 18.0 / 19.0 - 1e-4 * (10.0 - x));
        assert!(found.modes[0].values[0].value > 0.8 && found.modes[2].values[0].value == 0.5);
        assert!(
            found.warnings.iter().any(|w| w.starts_with("paper400: only 1 distinct")),
            "{:?}",
            found.warnings
        );
    }

    #[test]
    fn energies_do_not_fit_the_paper_s_thresholds() {
        assert!(judged(|x| 10.0 * x).warnings.iter().any(|w| w.contains("outside [0, 1]")));
    }

    #[test]
    fn thresholds_of_youden_and_max_iou_differ() {
        let best = judged(logistic).best;
        assert!(best.max_iou_threshold > best.youden_threshold, "rare unknowns make MaxIoU strict: {best:?}");
        let want = best.max_iou_threshold - best.youden_threshold;
        assert!(
            (disagreement(&[[best.youden_threshold, best.max_iou_threshold]]).unwrap() - want).abs() < 1e-12
                && disagreement(&[]).is_none()
        );
    }
}
