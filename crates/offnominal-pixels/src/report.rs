//! What an evaluation leaves behind: a table, the same as JSON, and a [`page`].

mod charts;
mod page;

use crate::evaluate::{Evaluation, MethodResult};
use anyhow::{Context, Result};
use offnominal_core::estimate::Estimate;
use offnominal_files::write;
use offnominal_stats::pixel::disagreement;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The metrics in the order of [`ModeMetrics::values`]: id, name, and whether larger is better.
const METRICS: [(&str, &str, bool); 4] = [
    ("auroc", "AUROC", true),
    ("auprc", "AUPRC", true),
    ("fpr95", "FPR at 95 % TPR", false),
    ("max_iou", "MaxIoU", true),
];

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row<'a> {
    data: &'a str,
    method: &'a str,
    mode: &'a str,
    metric: &'a str,
    value: f64,
    low: f64,
    high: f64,
    level: f64,
    n: usize,
}

/// Writes pixels.csv, pixels.json and pixels.html into a folder; the path of the page.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, evaluations: &[Evaluation], command: &str) -> Result<PathBuf> {
    write::atomically(&folder.join("pixels.csv"), &table(evaluations)?)?;
    let json = serde_json::to_string_pretty(&as_json(evaluations, command))?;
    write::atomically(&folder.join("pixels.json"), json.as_bytes())?;
    let page = folder.join("pixels.html");
    write::atomically(&page, page::render(evaluations, command)?.as_bytes())?;
    Ok(page)
}

fn table(evaluations: &[Evaluation]) -> Result<Vec<u8>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    for e in evaluations {
        for m in &e.methods {
            for (mode, metric, found) in estimates(m) {
                let Estimate { value, low, high, level, n, .. } = *found;
                out.serialize(Row {
                    data: &e.name,
                    method: &m.id,
                    mode,
                    metric,
                    value,
                    low,
                    high,
                    level,
                    n,
                })?;
            }
        }
    }
    out.into_inner().context("the table cannot be made")
}

/// Every number of a method: mode, metric, estimate.
fn estimates(method: &MethodResult) -> Vec<(&'static str, &'static str, &Estimate)> {
    let modes = method.judged.modes.iter();
    let mut all: Vec<_> =
        modes.flat_map(|m| (0..4).map(move |i| (m.mode, METRICS[i].0, &m.values[i]))).collect();
    if let Some(c) = &method.components {
        all.push(("components", "siou", &c.siou));
        all.extend(c.ppv.as_ref().map(|ppv| ("components", "ppv", ppv)));
        all.push(("components", "f1", &c.f1));
    }
    all
}

/// Everything as JSON.
pub fn as_json(evaluations: &[Evaluation], command: &str) -> serde_json::Value {
    let method = |m: &MethodResult| {
        let modes: serde_json::Map<String, serde_json::Value> = m
            .judged
            .modes
            .iter()
            .map(|mode| {
                let mut values: serde_json::Map<_, _> =
                    (0..4).map(|i| (METRICS[i].0.to_string(), json!(mode.values[i]))).collect();
                values.insert("distinct_thresholds".into(), json!(mode.distinct));
                (mode.mode.to_string(), values.into())
            })
            .collect();
        let components = m.components.as_ref().map(|c| {
            json!({ "siou": c.siou, "ppv": c.ppv, "f1": c.f1, "of_truth": c.counts.0, "predicted": c.counts.1 })
        });
        let best = &m.judged.best;
        json!({
            "method": m.id, "has_seen_unknown": m.has_seen_unknown, "modes": modes, "components": components,
            "max_iou_threshold": best.max_iou_threshold, "youden_threshold": best.youden_threshold,
            "best_f1": best.best_f1, "best_f1_threshold": best.best_f1_threshold,
            "histogram_error": m.judged.histogram_error, "warnings": m.judged.warnings,
            "class_means": m.class_means[0], "nominal_class_means": m.class_means[1],
        })
    };
    let evaluation = |e: &Evaluation| {
        let counts = e.methods.first().map(|m| m.judged.counts);
        json!({
            "data": e.name, "images": e.images.0, "held_out": e.images.1, "odin_temperature": e.temperature,
            "unknown_pixels": counts.map(|c| c.0), "known_pixels": counts.map(|c| c.1),
            "mean_iou": e.mean_iou, "classes": e.classes, "methods": e.methods.iter().map(method).collect::<Vec<_>>(),
            "failures": e.failures, "threshold_disagreement": paper_disagreement(e),
        })
    };
    json!({ "command": command, "evaluations": evaluations.iter().map(evaluation).collect::<Vec<_>>() })
}

/// The paper's comparison of thresholds, over the methods whose scores lie in [0, 1].
fn paper_disagreement(e: &Evaluation) -> Option<f64> {
    let inside = |m: &&MethodResult| !m.judged.warnings.iter().any(|w| w.contains("outside [0, 1]"));
    disagreement(&e.methods.iter().filter(inside).map(|m| m.judged.best).collect::<Vec<_>>())
}

/// A table for the terminal.
pub fn as_text(e: &Evaluation) -> String {
    let mut text = format!("{}: {} pictures", e.name, e.images.0);
    if e.images.1 > 0 {
        text += &format!(", {} more held out for ODIN's temperature", e.images.1);
    }
    if let Some(iou) = &e.mean_iou {
        text += &format!("; mean IoU of the known classes {iou:.3}");
    }
    text += &format!(
        "\n{:<28}{:>22}{:>22}{:>22}{:>22}{:>8}",
        "method", "AUROC", "AUPRC", "FPR95", "MaxIoU", "F1"
    );
    for m in &e.methods {
        let values = m.judged.modes.first().map_or(String::new(), |mode| {
            mode.values.iter().map(|v| format!("{:>22}", format!("{v:.3}"))).collect()
        });
        let f1 = m.components.as_ref().map_or("–".into(), |c| format!("{:.3}", c.f1.value));
        let mark = if m.has_seen_unknown { " *" } else { "" };
        text += &format!("\n{:<28}{values}{f1:>8}", format!("{}{mark}", m.id));
    }
    if e.methods.iter().any(|m| m.has_seen_unknown) {
        let t = e.temperature.unwrap_or_default();
        text += &format!(
            "\n* saw unknown pixels before: its temperature, {t}, was chosen on the held-out pictures"
        );
    }
    for m in &e.methods {
        for warning in &m.judged.warnings {
            text += &format!("\nwarning: {}: {warning}", m.id);
        }
    }
    text
}
