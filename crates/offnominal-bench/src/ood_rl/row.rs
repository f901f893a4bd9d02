//! The rows of `results.csv`: one policy in one variant, judged by one measure.

use crate::ood_rl::Method;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The measure in which the tables of the publication are made again.
pub const MAIN: &str = "mean-sd";

/// One policy in one variant, judged by one measure. Intervals are at 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The world.
    pub env: String,
    /// How the policy disagrees with itself.
    pub method: Method,
    /// Which of the trials, from 1.
    pub trial: u32,
    /// What is different; `none` at home.
    pub anomaly: String,
    /// Its value; 0 at home.
    pub magnitude: f64,
    /// Whether nothing can be detected.
    pub null: bool,
    /// Episodes played in the variant.
    pub episodes: usize,
    /// Their mean return, with Student's interval.
    pub mean_return: f64,
    /// Its lower end.
    pub return_low: f64,
    /// Its upper end.
    pub return_high: f64,
    /// Whether the mean return is below what counts as solved.
    pub fails: bool,
    /// The measure of disagreement, or another detector.
    pub measure: String,
    /// Steps in the variant.
    pub positives: usize,
    /// Steps at home.
    pub negatives: usize,
    /// AUROC of all steps pooled; nothing at home.
    pub auroc: Option<f64>,
    /// Its interval by resampling episodes, for the main measure and other detectors.
    pub auroc_low: Option<f64>,
    /// Its upper end.
    pub auroc_high: Option<f64>,
    /// Average precision; by chance it is the prevalence, positives / (positives + negatives).
    pub aupr: Option<f64>,
    /// False positive rate where 95 % of the steps in the variant are found.
    pub fpr95: Option<f64>,
    /// AUROC against steps at home at the same times; a clock has one half.
    pub auroc_matched: Option<f64>,
    /// Threshold with the largest difference of true and false positive rates.
    pub youden: Option<f64>,
}

/// Five significant digits: more than the intervals bear, and half the size.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

impl Row {
    fn rounded(&self) -> Row {
        let mut row = self.clone();
        let numbers = [&mut row.mean_return, &mut row.return_low, &mut row.return_high];
        let shares = [
            &mut row.auroc,
            &mut row.auroc_low,
            &mut row.auroc_high,
            &mut row.aupr,
            &mut row.fpr95,
            &mut row.auroc_matched,
            &mut row.youden,
        ];
        for number in numbers.into_iter().chain(shares.into_iter().flatten()) {
            *number = rounded(*number);
        }
        row
    }
}

/// The rows as CSV with a header, to five significant digits.
pub fn to_csv(rows: &[Row]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row.rounded()))?;
    Ok(writer.into_inner()?)
}

/// The rows of a file.
///
/// # Errors
/// If it cannot be read, or a line is no row; both are named.
pub fn from_csv(bytes: &[u8], path: &Path) -> Result<Vec<Row>> {
    let rows: Result<Vec<Row>, csv::Error> = csv::Reader::from_reader(bytes).deserialize().collect();
    rows.with_context(|| path.display().to_string())
}
