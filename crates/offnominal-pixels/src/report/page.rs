//! The page of an evaluation: bars, tables of modes and thresholds, class means, causes of failure and images.

use crate::failures::CAUSES;
use crate::report::{charts, galleries, warnings};
use crate::results::{Evaluation, METRICS, MethodResult, ModeResult, Panel, Report};
use anyhow::Result;
use minijinja::Value;
use offnominal_files::provenance::Provenance;
use offnominal_report::page::embedded;
use serde::Serialize;

/// What the template sees.
#[derive(Serialize)]
struct Page {
    made: Provenance,
    bars: Vec<Value>,
    /// Each method and what its bars look like.
    legend: Vec<(String, Value)>,
    sets: Vec<Section>,
}

/// A data set on the page.
#[derive(Serialize)]
struct Section {
    name: String,
    facts: Vec<(&'static str, String)>,
    modes: Vec<ModeTable>,
    /// Methods with their AUROC if other images are alike.
    alike: Vec<(String, String)>,
    components: Vec<[String; 5]>,
    thresholds: Vec<[String; 4]>,
    drift: Option<Value>,
    failed: String,
    causes: Vec<[String; 3]>,
    panels: Vec<Shown>,
    galleries: Vec<galleries::Shown>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ModeTable {
    mode: &'static str,
    rows: Vec<(String, Vec<String>)>,
}

#[derive(Serialize)]
struct Shown {
    caption: String,
    images: Vec<(&'static str, Value)>,
}

/// The page: one file without links to anything that a reader may not have.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn render(report: &Report) -> Result<String> {
    let evaluations = &report.evaluations;
    let methods = names(evaluations);
    let page = Page {
        made: report.made.clone(),
        bars: (0..METRICS.len())
            .map(|i| Value::from_safe_string(charts::bars(evaluations, &methods, i)))
            .collect(),
        legend: methods
            .iter()
            .enumerate()
            .map(|(i, m)| (m.clone(), Value::from_safe_string(charts::swatch(i))))
            .collect(),
        sets: evaluations.iter().map(section).collect(),
    };
    let templates = [("pixels.html", include_str!("../../templates/pixels.html"))];
    offnominal_report::page::render(&templates, page)
}

fn names(evaluations: &[Evaluation]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for m in evaluations.iter().flat_map(|e| &e.methods) {
        if !names.contains(&m.method) {
            names.push(m.method.clone());
        }
    }
    names
}

fn section(e: &Evaluation) -> Section {
    let modes = ["exact", "histogram", "paper400", "per_image"];
    Section {
        name: e.data.clone(),
        facts: facts(e),
        modes: modes.iter().map(|mode| mode_table(e, mode)).filter(|t| !t.rows.is_empty()).collect(),
        alike: e
            .methods
            .iter()
            .filter_map(|m| Some((m.marked(), format!("{:.3}", m.auroc_if_alike.as_ref()?))))
            .collect(),
        components: e.methods.iter().filter_map(component_row).collect(),
        thresholds: e.methods.iter().map(threshold_row).collect(),
        drift: charts::drift(e).map(Value::from_safe_string),
        failed: format!("{} at its MaxIoU threshold {:.4}", e.failures.method, e.failures.threshold),
        causes: causes(e),
        panels: e.panels.iter().map(shown).collect(),
        galleries: galleries::of(e),
        warnings: warnings::merged(&e.methods),
    }
}

fn facts(e: &Evaluation) -> Vec<(&'static str, String)> {
    let (unknown, known) = (e.unknown_pixels.unwrap_or(0), e.known_pixels.unwrap_or(0));
    let layouts: Vec<&str> = e.layouts.iter().map(|layout| layout.name()).collect();
    let mut facts = vec![
        ("Layout", layouts.join(" + ")),
        ("Images", format!("{}, of them {} with unknown and known pixels", e.images, e.images_with_both)),
        (
            "Unknown pixels",
            format!(
                "{unknown} ({:.2} % of the judged)",
                100.0 * unknown as f64 / (unknown + known).max(1) as f64
            ),
        ),
    ];
    if !e.left_out.is_empty() {
        facts.push(("Left out", format!("{}: {}", e.left_out.len(), e.left_out.join("; "))));
    }
    if let Some(iou) = &e.mean_iou {
        facts.push(("Mean IoU", format!("{iou:.3}")));
    }
    if let Some(t) = e.odin_temperature {
        let how = if e.held_out > 0 {
            format!(", chosen on {} held-out images", e.held_out)
        } else {
            ", given".into()
        };
        facts.push(("ODIN's temperature", format!("{t}{how}")));
    }
    if let Some(difference) = e.threshold_disagreement {
        facts.push((
            "|Youden − MaxIoU threshold|",
            format!("{difference:.3} on average over methods with scores in [0, 1]"),
        ));
    }
    facts
}

fn mode_table(e: &Evaluation, mode: &'static str) -> ModeTable {
    let row = |m: &MethodResult, found: &ModeResult| {
        let mut cells: Vec<String> = found.values().iter().map(|v| format!("{v:.3}")).collect();
        cells.push(found.distinct_thresholds.map_or("–".into(), |n| n.to_string()));
        (m.marked(), cells)
    };
    let rows = e.methods.iter().filter_map(|m| Some(row(m, m.modes.get(mode)?)));
    ModeTable { mode, rows: rows.collect() }
}

fn component_row(m: &MethodResult) -> Option<[String; 5]> {
    let c = m.components.as_ref()?;
    let ppv = c.ppv.as_ref().map_or("nothing predicted".into(), |p| format!("{p:.3}"));
    let aupro = m.aupro.as_ref().map_or("–".into(), |a| format!("{a:.3}"));
    Some([m.marked(), format!("{:.3}", c.siou), ppv, format!("{:.3}", c.f1), aupro])
}

fn threshold_row(m: &MethodResult) -> [String; 4] {
    [
        m.marked(),
        format!("{:.4}", m.max_iou_threshold),
        format!("{:.4}", m.youden_threshold),
        format!("{:.4}", m.best_f1_threshold),
    ]
}

fn causes(e: &Evaluation) -> Vec<[String; 3]> {
    let f = &e.failures;
    let share = |n: u64, all: u64| format!("{n} ({:.1} %)", 100.0 * n as f64 / all.max(1) as f64);
    let (alarms, missed): (u64, u64) = (f.false_alarms.iter().sum(), f.missed.iter().sum());
    CAUSES
        .iter()
        .map(|&c| {
            [c.name().into(), share(f.false_alarms[c as usize], alarms), share(f.missed[c as usize], missed)]
        })
        .collect()
}

fn shown(panel: &Panel) -> Shown {
    Shown {
        caption: panel.caption.clone(),
        images: panel.images.iter().map(|(name, png)| (*name, embedded("png", png))).collect(),
    }
}
