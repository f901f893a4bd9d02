//! What judging leaves behind: a table, the same as JSON, and a page.

use super::document::{DetectorResult, Judged, Row, SectionResult};
use super::page;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_files::{table, write};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::path::Path;

/// Name of the page.
pub(super) const PAGE: &str = "rollouts.html";
/// The metric by pairs with an interval over tasks.
const NEW_TASKS: &str = "landmark pairs, new tasks";

/// Writes rollouts.csv, rollouts.json and rollouts.html into a folder.
pub(super) fn write(folder: &Path, found: &Judged) -> Result<()> {
    let rows: Vec<Row> = found.sections.iter().flat_map(rows).collect();
    write::atomically(&folder.join("rollouts.csv"), &table::to_csv(&rows)?)?;
    write::atomically(&folder.join("rollouts.json"), format!("{:#}\n", json!(found)).as_bytes())?;
    write::atomically(&folder.join(PAGE), page::render(found)?.as_bytes())
}

/// Every number of a section.
fn rows(section: &SectionResult) -> Vec<Row> {
    let of = |result: &DetectorResult| {
        let row = |metric: String, versus: Option<&str>, found: &Estimate| Row {
            split: section.split.clone(),
            detector: result.detector.clone(),
            metric,
            versus: versus.map(String::from),
            value: found.value,
            low: found.low,
            high: found.high,
            level: found.level,
            n: found.n,
        };
        let landmark = result.landmark.named();
        let landmark = landmark.map(|(name, found)| row(format!("landmark {name}"), None, found));
        let protocols = result.protocols.iter().map(|p| row(p.protocol.clone(), None, &p.auroc));
        let alarms = result.alarms.as_ref();
        let others = [
            (NEW_TASKS, result.new_tasks.as_ref()),
            ("incident", result.incident.as_ref()),
            ("detected", result.detected.as_ref()),
            ("lead", result.lead.as_ref()),
            ("brier", result.brier.as_ref()),
            ("bias", result.bias.as_ref()),
            ("false alarms", alarms.map(|a| &a.false_alarms)),
            ("detected by promise", alarms.and_then(|a| a.detected.as_ref())),
        ];
        let others = others.into_iter().filter_map(|(metric, found)| Some(row(metric.into(), None, found?)));
        let differences = result.difference.iter().flat_map(|d| {
            let of_rollouts = d.landmark.named().map(|(name, found)| (format!("landmark {name}"), found));
            let of_tasks = d.new_tasks.iter().map(|found| (NEW_TASKS.into(), found));
            let both = of_rollouts.into_iter().chain(of_tasks);
            both.map(|(metric, found)| row(metric, Some(&d.versus), found))
        });
        landmark.into_iter().chain(protocols).chain(others).chain(differences).collect::<Vec<_>>()
    };
    section.detectors.iter().flat_map(of).collect()
}

/// A table for the terminal, and the page if there is one.
impl Display for Judged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let page = self.page.as_ref().map_or(String::new(), |page| page.display().to_string());
        write!(out, "{}\n{page}", table(self))
    }
}

fn table(found: &Judged) -> String {
    let data = &found.data;
    let mut text = format!(
        "{} rollouts of {} tasks, {} failed, {} steps; signals: {}\n",
        data.rollouts,
        data.tasks.len(),
        data.failures,
        data.steps,
        data.signals.join(", ")
    );
    data.remarks.iter().for_each(|remark| text += &format!("{remark}\n"));
    for section in &found.sections {
        let width = section.detectors.iter().map(|d| d.detector.len()).max().unwrap_or(0).max(8);
        text += &format!(
            "\n{}: {} rollouts judged in {} part{}, {} failed\n{:<width$}{:>24}{:>24}{:>10}{:>14}{:>11}{:>8}\n",
            section.split,
            section.rollouts,
            section.parts,
            if section.parts == 1 { "" } else { "s" },
            section.failures,
            "detector",
            "landmark, by pairs",
            "by tasks",
            "whole",
            "task-max 0.25",
            "detected",
            "lead"
        );
        section.detectors.iter().for_each(|result| text += &line(result, width));
    }
    text
}

fn line(result: &DetectorResult, width: usize) -> String {
    let of = |found: Option<&Estimate>| found.map_or("–".into(), |e| format!("{:.3}", e.value));
    let protocol = |name: &str| of(result.protocols.iter().find(|p| p.protocol == name).map(|p| &p.auroc));
    format!(
        "{:<width$}{:>24}{:>24}{:>10}{:>14}{:>11}{:>8}\n",
        result.detector,
        format!("{:.3}", result.landmark.pairs),
        format!("{:.3}", result.landmark.tasks),
        protocol("whole"),
        protocol("task-max 0.25"),
        of(result.detected.as_ref()),
        result.lead.as_ref().map_or("–".into(), |e| format!("{:.1}", e.value))
    )
}
