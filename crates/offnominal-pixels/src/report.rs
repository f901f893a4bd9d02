//! What an evaluation leaves behind: a table, the same as JSON, and a page.

mod charts;
mod galleries;
mod page;
mod warnings;

use crate::results::{Evaluation, MethodResult, Report};
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_files::{table, write};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The data set.
    pub data: String,
    /// The method.
    pub method: String,
    /// How the pixels were pooled; `components` for metrics of components.
    pub mode: String,
    /// The metric.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Images behind it.
    pub n: usize,
}

/// Writes pixels.csv, pixels.json and pixels.html into a folder.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, report: &Report) -> Result<()> {
    let rows: Vec<Row> = report.evaluations.iter().flat_map(rows).collect();
    write::atomically(&folder.join("pixels.csv"), &table::to_csv(&rows)?)?;
    write::atomically(&folder.join("pixels.json"), format!("{:#}", json!(report)).as_bytes())?;
    write::atomically(&report.page, page::render(report)?.as_bytes())
}

fn rows(e: &Evaluation) -> Vec<Row> {
    let methods = e.methods.iter().flat_map(|m| m.estimates().into_iter().map(move |found| (m, found)));
    let row = |(m, (mode, metric, found)): (&MethodResult, (&str, &str, &Estimate))| Row {
        data: e.data.clone(),
        method: m.method.clone(),
        mode: mode.into(),
        metric: metric.into(),
        value: found.value,
        low: found.low,
        high: found.high,
        level: found.level,
        n: found.n,
    };
    methods.map(row).collect()
}

/// A table for the terminal.
pub fn as_text(e: &Evaluation) -> String {
    let layouts: Vec<&str> = e.layouts.iter().map(|layout| layout.name()).collect();
    let mut text = format!("{}: {} images ({})", e.data, e.images, layouts.join(" + "));
    if !e.left_out.is_empty() {
        text += &format!(", {} left out", e.left_out.len());
    }
    if e.held_out > 0 {
        text += &format!(", {} more held out for ODIN's temperature", e.held_out);
    }
    if let Some(iou) = &e.mean_iou {
        text += &format!("; mean IoU of the known classes {iou:.3}");
    }
    text += &format!(
        "\n{:<28}{:>22}{:>22}{:>22}{:>22}{:>8}",
        "method", "AUROC", "AUPRC", "FPR95", "MaxIoU", "F1"
    );
    for m in &e.methods {
        let values = m.main().map_or(String::new(), |mode| {
            mode.values().iter().map(|v| format!("{:>22}", format!("{v:.3}"))).collect()
        });
        let f1 = m.components.as_ref().map_or("–".into(), |c| format!("{:.3}", c.f1.value));
        let mark = match (m.has_seen_unknown, m.has_seen_pasted) {
            (true, _) => " *",
            (false, true) => " †",
            (false, false) => "",
        };
        text += &format!("\n{:<28}{values}{f1:>8}", format!("{}{mark}", m.method));
    }
    if e.methods.iter().any(|m| m.has_seen_unknown) {
        let t = e.odin_temperature.unwrap_or_default();
        text += &format!(
            "\n* saw unknown pixels before: its temperature, {t}, was chosen on the held-out images"
        );
    }
    if e.methods.iter().any(|m| m.has_seen_pasted) {
        text += "\n† trained on synthetic unknowns: things that were pasted into known images";
    }
    for warning in warnings::merged(&e.methods) {
        text += &format!("\nwarning: {warning}");
    }
    text
}

impl Display for Report {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.evaluations.iter().try_for_each(|found| write!(out, "{}\n\n", as_text(found)))?;
        write!(out, "{}", self.page.display())
    }
}
