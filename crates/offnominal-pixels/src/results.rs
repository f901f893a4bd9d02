//! What an evaluation comes to, as plain data: the documented JSON is exactly this.

use crate::failures::Failures;
use crate::gallery::Gallery;
use crate::layout::Layout;
use crate::scorer::Scorer;
use offnominal_core::estimate::Estimate;
use offnominal_files::provenance::Provenance;
use offnominal_stats::pixel::components::ComponentMetrics;
use offnominal_stats::pixel::{Judged, ModeMetrics, disagreement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The metrics of a mode: id, name, and whether larger is better.
pub const METRICS: [(&str, &str, bool); 4] = [
    ("auroc", "AUROC", true),
    ("auprc", "AUPRC", true),
    ("fpr95", "FPR at 95 % TPR", false),
    ("max_iou", "MaxIoU", true),
];

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What made it.
    #[serde(flatten)]
    pub made: Provenance,
    /// One entry for each data set.
    pub evaluations: Vec<Evaluation>,
    /// The page.
    #[serde(skip)]
    pub page: PathBuf,
}

/// What came of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Name of the data set.
    pub data: String,
    /// How each of its folders is laid out.
    pub layouts: Vec<Layout>,
    /// Images that were judged.
    pub images: usize,
    /// Images that were left out, each with the reason.
    pub left_out: Vec<String>,
    /// Images that were held out for ODIN.
    pub held_out: usize,
    /// ODIN's temperature, if it took part.
    pub odin_temperature: Option<f64>,
    /// Unknown pixels that were judged.
    pub unknown_pixels: Option<u64>,
    /// Known pixels that were judged.
    pub known_pixels: Option<u64>,
    /// Images with unknown and known pixels.
    #[serde(skip)]
    pub images_with_both: usize,
    /// How well the network segments the known pixels.
    pub mean_iou: Option<Estimate>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// One entry for each method.
    pub methods: Vec<MethodResult>,
    /// What went wrong with the best method.
    pub failures: Failures,
    /// Mean distance of two thresholds, over methods whose scores lie in [0, 1] (the paper's section 4.1).
    pub threshold_disagreement: Option<f64>,
    /// Images to look at.
    #[serde(skip)]
    pub panels: Vec<Panel>,
}

/// A row of images, of which the page shows one for each cause of failures.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What it shows.
    pub caption: String,
    /// Image and prediction (if there are any), truth, score: names and PNG files.
    pub images: Vec<(&'static str, Vec<u8>)>,
}

/// What came of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodResult {
    /// Its name.
    pub method: String,
    /// Whether it saw unknown pixels before.
    pub has_seen_unknown: bool,
    /// Whether it learned from things that were pasted into known images.
    pub has_seen_pasted: bool,
    /// Metrics of pixels by mode: `exact` (unless there are too many pixels), `histogram`, `paper400`, `per_image`.
    pub modes: BTreeMap<String, ModeResult>,
    /// The AUROC of the first mode, with an interval that holds if images which were not seen are alike; none for few.
    pub auroc_if_alike: Option<Estimate>,
    /// Metrics of components at the threshold with the best F1; none without components.
    pub components: Option<ComponentMetrics>,
    /// Area under the per-region overlap up to a false positive rate of .3, divided by .3; none without components.
    pub aupro: Option<Estimate>,
    /// The threshold of MaxIoU.
    pub max_iou_threshold: f64,
    /// The threshold with the largest TPR − FPR.
    pub youden_threshold: f64,
    /// Largest F1.
    pub best_f1: f64,
    /// Its threshold.
    pub best_f1_threshold: f64,
    /// The most that each metric of the histogram can be off, downwards and upwards.
    pub histogram_error: [[f64; 2]; 4],
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Mean score of the pixels of each class, of the unknown ones last.
    pub class_means: Vec<Option<f64>>,
    /// The same on nominal images.
    pub nominal_class_means: Vec<Option<f64>>,
    /// Its largest mistakes, for the page.
    #[serde(skip)]
    pub gallery: Gallery,
}

/// What is measured of components.
pub(crate) struct MethodComponents {
    /// At the threshold with the best F1.
    pub metrics: Option<ComponentMetrics>,
    /// Over thresholds.
    pub aupro: Option<Estimate>,
}

/// The metrics in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeResult {
    /// Area under the ROC curve.
    pub auroc: Estimate,
    /// Area under the precision-recall curve.
    pub auprc: Estimate,
    /// False positive rate where 95 % of the unknown pixels are found.
    pub fpr95: Estimate,
    /// Largest intersection over union.
    pub max_iou: Estimate,
    /// Thresholds that change anything; none for means over images.
    pub distinct_thresholds: Option<usize>,
}

impl MethodResult {
    /// Its name with what it saw before.
    pub fn marked(&self) -> String {
        let seen = match (self.has_seen_unknown, self.has_seen_pasted) {
            (true, _) => " (has seen unknown pixels)",
            (false, true) => " (trained on synthetic unknowns)",
            (false, false) => "",
        };
        format!("{}{seen}", self.method)
    }

    /// The result of a method; `class_means` are those here and on nominal images.
    pub(crate) fn new(
        scorer: &Scorer,
        judged: Judged,
        components: MethodComponents,
        [class_means, nominal_class_means]: [Vec<Option<f64>>; 2],
    ) -> MethodResult {
        let best = judged.best;
        MethodResult {
            method: scorer.id.clone(),
            has_seen_unknown: scorer.seen.unknown,
            has_seen_pasted: scorer.seen.pasted,
            modes: judged.modes.into_iter().map(|m| (m.mode.to_string(), m.into())).collect(),
            auroc_if_alike: judged.if_alike,
            components: components.metrics,
            aupro: components.aupro,
            max_iou_threshold: best.max_iou_threshold,
            youden_threshold: best.youden_threshold,
            best_f1: best.best_f1,
            best_f1_threshold: best.best_f1_threshold,
            histogram_error: judged.histogram_error,
            warnings: judged.warnings,
            class_means,
            nominal_class_means,
            gallery: Gallery::default(),
        }
    }

    /// The metrics of the most exact mode.
    pub fn main(&self) -> Option<&ModeResult> {
        self.modes.values().next()
    }

    /// Every number: mode, metric, estimate.
    pub fn estimates(&self) -> Vec<(&str, &'static str, &Estimate)> {
        let mut all = Vec::new();
        for (mode, result) in &self.modes {
            all.extend(METRICS.iter().zip(result.values()).map(|(m, value)| (mode.as_str(), m.0, value)));
        }
        if let Some(c) = &self.components {
            all.push(("components", "siou", &c.siou));
            all.extend(c.ppv.as_ref().map(|ppv| ("components", "ppv", ppv)));
            all.push(("components", "f1", &c.f1));
        }
        all.extend(self.aupro.as_ref().map(|aupro| ("components", "aupro", aupro)));
        all.extend(self.auroc_if_alike.as_ref().map(|auroc| ("if_alike", "auroc", auroc)));
        all
    }
}

impl ModeResult {
    /// The values in the order of [`METRICS`].
    pub fn values(&self) -> [&Estimate; 4] {
        [&self.auroc, &self.auprc, &self.fpr95, &self.max_iou]
    }
}

impl From<ModeMetrics> for ModeResult {
    fn from(found: ModeMetrics) -> ModeResult {
        let [auroc, auprc, fpr95, max_iou] = found.values;
        ModeResult { auroc, auprc, fpr95, max_iou, distinct_thresholds: found.distinct }
    }
}

/// The paper's comparison of thresholds, over the methods whose scores lie in [0, 1].
pub fn threshold_disagreement(methods: &[MethodResult]) -> Option<f64> {
    let inside = |m: &&MethodResult| !m.warnings.iter().any(|w| w.contains("outside [0, 1]"));
    let pairs = methods.iter().filter(inside).map(|m| [m.youden_threshold, m.max_iou_threshold]);
    disagreement(&pairs.collect::<Vec<_>>())
}
