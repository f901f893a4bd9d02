//! What an evaluation leaves behind: a table, the same as JSON, and a page with bars, class means, causes and pictures.

use super::evaluate::{Evaluation, MethodResult};
use super::failures::CAUSES;
use crate::report::base64;
use crate::report::colour::Pen;
use crate::report::svg::{Anchor, Stroke, Svg};
use crate::write;
use anyhow::{Context, Result};
use minijinja::value::Serde;
use minijinja::{Environment, Value};
use offnominal_core::estimate::Estimate;
use offnominal_stats::pixel::{ModeMetrics, disagreement};
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
    write::atomically(&page, render(evaluations, command)?.as_bytes())?;
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

/// What the template sees.
#[derive(Serialize)]
struct Page {
    command: String,
    bars: Vec<Value>,
    legend: Vec<(String, String)>,
    sets: Vec<Section>,
    style: Value,
}

/// A data set on the page.
#[derive(Serialize)]
struct Section {
    name: String,
    facts: Vec<(&'static str, String)>,
    modes: Vec<ModeTable>,
    components: Vec<[String; 4]>,
    thresholds: Vec<[String; 4]>,
    drift: Option<Value>,
    failed: String,
    causes: Vec<[String; 3]>,
    panels: Vec<Shown>,
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
    pictures: Vec<(&'static str, Value)>,
}

/// The page: one file without links to anything that a reader may not have.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn render(evaluations: &[Evaluation], command: &str) -> Result<String> {
    let mut environment = Environment::new();
    environment.add_template("pixels.html", include_str!("../../templates/pixels.html"))?;
    let methods = names(evaluations);
    let page = Page {
        command: command.into(),
        bars: (0..4).map(|i| Value::from_safe_string(bars(evaluations, &methods, i))).collect(),
        legend: methods
            .iter()
            .enumerate()
            .map(|(i, m)| (m.clone(), Pen::detector(i).colour.into()))
            .collect(),
        sets: evaluations.iter().map(section).collect(),
        style: Value::from_safe_string(include_str!("../../templates/report.css").into()),
    };
    environment.get_template("pixels.html")?.render(Serde(page)).context("the page cannot be filled")
}

fn names(evaluations: &[Evaluation]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for m in evaluations.iter().flat_map(|e| &e.methods) {
        if !names.contains(&m.id) {
            names.push(m.id.clone());
        }
    }
    names
}

const HEIGHT: f64 = 210.0;
const TOP: f64 = 30.0;
const LEFT: f64 = 40.0;

/// Bars of a metric for every method, grouped by data set, with their intervals.
fn bars(evaluations: &[Evaluation], methods: &[String], metric: usize) -> String {
    let (_, name, is_higher_better) = METRICS[metric];
    let (bar, gap) = (14.0, 26.0);
    let group = bar * methods.len() as f64 + gap;
    let width = LEFT + group * evaluations.len() as f64 + 20.0;
    let arrow = if is_higher_better { "↑" } else { "↓" };
    let mut svg = Svg::new(width.max(180.0), TOP + HEIGHT + 30.0, &format!("{name} of each method"));
    svg.text(4.0, 16.0, Anchor::Start, "title", &format!("{name} {arrow}"));
    let y = |value: f64| TOP + HEIGHT * (1.0 - value.clamp(0.0, 1.0));
    for tick in 0..=5 {
        let value = 0.2 * f64::from(tick);
        svg.segment(
            (LEFT, y(value)),
            (width, y(value)),
            &Stroke { class: "grid", colour: "#e4e4e0", width: 1.0, dash: "" },
        );
        svg.text(LEFT - 6.0, y(value) + 4.0, Anchor::End, "label", &format!("{value:.1}"));
    }
    for (g, e) in evaluations.iter().enumerate() {
        let left = LEFT + group * g as f64 + 0.5 * gap;
        for m in &e.methods {
            let number = methods.iter().position(|id| *id == m.id).unwrap_or(0);
            if let Some(found) = m.judged.modes.first().map(|mode| &mode.values[metric]) {
                let x = left + bar * number as f64;
                svg.rectangle(
                    (x, y(found.value)),
                    (bar - 3.0, TOP + HEIGHT - y(found.value)),
                    Pen::detector(number).colour,
                );
                let (middle, stroke) = (
                    x + 0.5 * (bar - 3.0),
                    Stroke { class: "label", colour: "#3a3d42", width: 1.2, dash: "" },
                );
                svg.segment((middle, y(found.low)), (middle, y(found.high)), &stroke);
            }
        }
        svg.text(left + 0.5 * (group - gap), TOP + HEIGHT + 18.0, Anchor::Middle, "label", &e.name);
    }
    svg.end()
}

fn section(e: &Evaluation) -> Section {
    let modes = ["exact", "histogram", "paper400", "per_image"];
    Section {
        name: e.name.clone(),
        facts: facts(e),
        modes: modes.iter().map(|mode| mode_table(e, mode)).filter(|t| !t.rows.is_empty()).collect(),
        components: e.methods.iter().filter_map(component_row).collect(),
        thresholds: e.methods.iter().map(threshold_row).collect(),
        drift: drift(e).map(Value::from_safe_string),
        failed: format!("{} at its MaxIoU threshold {:.4}", e.failures.method, e.failures.threshold),
        causes: causes(e),
        panels: e.panels.iter().map(shown).collect(),
        warnings: e
            .methods
            .iter()
            .flat_map(|m| m.judged.warnings.iter().map(|w| format!("{}: {w}", m.id)))
            .collect(),
    }
}

fn facts(e: &Evaluation) -> Vec<(&'static str, String)> {
    let (unknown, known) = e.methods.first().map_or((0, 0), |m| m.judged.counts);
    let mut facts = vec![
        (
            "Pictures",
            format!(
                "{}, of them {} with unknown and known pixels",
                e.images.0,
                e.methods.first().map_or(0, |m| m.judged.images.1)
            ),
        ),
        (
            "Unknown pixels",
            format!(
                "{unknown} ({:.2} % of the judged)",
                100.0 * unknown as f64 / (unknown + known).max(1) as f64
            ),
        ),
    ];
    if let Some(iou) = &e.mean_iou {
        facts.push(("Mean IoU", format!("{iou:.3}")));
    }
    if let Some(t) = e.temperature {
        let how = if e.images.1 > 0 {
            format!(", chosen on {} held-out pictures", e.images.1)
        } else {
            ", given".into()
        };
        facts.push(("ODIN's temperature", format!("{t}{how}")));
    }
    if let Some(difference) = paper_disagreement(e) {
        facts.push((
            "|Youden − MaxIoU threshold|",
            format!("{difference:.3} on average over methods with scores in [0, 1]"),
        ));
    }
    facts
}

fn marked(m: &MethodResult) -> String {
    if m.has_seen_unknown { format!("{} (has seen unknown pixels)", m.id) } else { m.id.clone() }
}

fn mode_table(e: &Evaluation, mode: &'static str) -> ModeTable {
    let row = |m: &MethodResult, found: &ModeMetrics| {
        let mut cells: Vec<String> = found.values.iter().map(|v| format!("{v:.3}")).collect();
        cells.push(found.distinct.map_or("–".into(), |n| n.to_string()));
        (marked(m), cells)
    };
    let rows = e.methods.iter().filter_map(|m| Some(row(m, m.judged.modes.iter().find(|f| f.mode == mode)?)));
    ModeTable { mode, rows: rows.collect() }
}

fn component_row(m: &MethodResult) -> Option<[String; 4]> {
    let c = m.components.as_ref()?;
    let ppv = c.ppv.as_ref().map_or("nothing predicted".into(), |p| format!("{p:.3}"));
    Some([marked(m), format!("{:.3}", c.siou), ppv, format!("{:.3}", c.f1)])
}

fn threshold_row(m: &MethodResult) -> [String; 4] {
    let b = &m.judged.best;
    [
        marked(m),
        format!("{:.4}", b.max_iou_threshold),
        format!("{:.4}", b.youden_threshold),
        format!("{:.4}", b.best_f1_threshold),
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

/// Mean score of each class on nominal pictures and here, sorted by their difference (the paper's Figure 2); of the
/// entropy if it took part, as in the paper.
fn drift(e: &Evaluation) -> Option<String> {
    let method = e.methods.iter().find(|m| m.id == "entropy").or(e.methods.first())?;
    let pair = |i: usize| Some((i, method.class_means[1][i]?, method.class_means[0][i]?));
    let mut classes: Vec<_> = (0..e.classes.len()).filter_map(pair).collect();
    classes.sort_by(|a, b| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
    let values = classes.iter().flat_map(|c| [c.1, c.2]);
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let low = low.min(0.0);
    let (step, width) = (44.0, LEFT + 44.0 * classes.len() as f64 + 30.0);
    let mut svg = Svg::new(width, TOP + HEIGHT + 90.0, "mean score of each class");
    svg.text(
        4.0,
        16.0,
        Anchor::Start,
        "title",
        &format!("Mean {} of each class: nominal pictures (grey) and these", method.id),
    );
    let y = |v: f64| TOP + HEIGHT * (1.0 - (v - low) / (high - low).max(1e-12));
    for (at, (class, nominal, here)) in classes.iter().enumerate() {
        let x = LEFT + step * at as f64;
        svg.rectangle((x, y(*nominal)), (14.0, y(low) - y(*nominal)), "#8a8a8a");
        svg.rectangle((x + 15.0, y(*here)), (14.0, y(low) - y(*here)), Pen::detector(0).colour);
        let row = if at % 2 == 0 { 16.0 } else { 30.0 };
        svg.text(x + 14.0, TOP + HEIGHT + row, Anchor::Middle, "label", &e.classes[*class]);
    }
    (!classes.is_empty()).then(|| svg.end())
}

fn shown(panel: &super::panels::Panel) -> Shown {
    let source =
        |bytes: &[u8]| Value::from_safe_string(format!("data:image/png;base64,{}", base64::encode(bytes)));
    Shown {
        caption: panel.caption.clone(),
        pictures: panel.pictures.iter().map(|(name, png)| (*name, source(png))).collect(),
    }
}
