//! The page: everything the template needs, and the template filled with it.

use crate::report::cells::{self, Cell, Face, Shown};
use crate::report::delays::{self, Chart};
use crate::report::distinct;
use crate::report::heatmap::{self, HeatMap};
use crate::report::index::Index;
use crate::report::summary::{self, Table};
use crate::report::words::{self, Answer};
use crate::report::{alarms, diagnoses, panels, traces};
use crate::results::{CampaignRecipe, Results};
use anyhow::Result;
use minijinja::Value;
use offnominal_report::page::embedded;
use offnominal_stats::{metric, rule};
use serde::Serialize;

/// The list of cells stops here, so that the page of a very large campaign still opens.
const CELLS: usize = 6000;

/// What the template sees.
#[derive(Serialize)]
struct Page<'a> {
    recipe: &'a CampaignRecipe,
    versions: Vec<(&'static str, String)>,
    facts: Vec<(&'static str, String)>,
    answer: Answer,
    summary: Vec<Table>,
    alarms: Vec<Table>,
    headline: &'static str,
    metrics: Vec<Shown>,
    maps: Vec<HeatMap>,
    faces: Vec<Face<'a>>,
    cells_left_out: usize,
    traces: Vec<traces::Group>,
    panels: Vec<panels::Group>,
    delays: Vec<Chart>,
    delay_thresholds: Vec<String>,
    delay_headline: String,
    diagnoses: Vec<diagnoses::Matrix>,
    videos: Vec<Video<'a>>,
    definitions: Vec<(&'static str, &'static str, &'static str)>,
    thresholds: Vec<(&'static str, &'static str)>,
    data: Value,
    script: Value,
}

#[derive(Serialize)]
struct Video<'a> {
    env: &'a str,
    caption: &'a str,
    source: Value,
}

/// One self-contained HTML file: no link to anything that the reader may not have.
///
/// # Errors
/// If the template cannot be filled, which is a mistake of ours.
pub fn render(results: &Results) -> Result<String> {
    let index = Index::new(&results.rows);
    let cells = cells::all(&index);
    let page = page(results, &index, &cells)?;
    offnominal_report::page::render(TEMPLATES, page)
}

/// The page and what it imports.
const TEMPLATES: &[(&str, &str)] = &[
    ("report.html", include_str!("../../templates/report.html")),
    ("table.html", include_str!("../../templates/table.html")),
    ("heatmap.html", include_str!("../../templates/heatmap.html")),
    ("recipe.html", include_str!("../../templates/recipe.html")),
];

fn page<'a>(results: &'a Results, index: &Index, cells: &'a [Cell]) -> Result<Page<'a>> {
    let delays = delays::charts(index, &results.curves);
    let delay_thresholds = distinct(delays.iter().map(|c| c.threshold.clone()));
    let metrics = cells::titles(index);
    Ok(Page {
        recipe: &results.recipe,
        versions: results.recipe.made.versions(),
        facts: facts(results, index),
        answer: words::answer(index),
        summary: summary::tables(index),
        alarms: alarms::tables(index),
        headline: index.headline(),
        data: data(&metrics, cells)?,
        metrics,
        maps: heatmap::all(index),
        faces: cells::faces(cells),
        cells_left_out: cells.len().saturating_sub(CELLS),
        traces: traces::groups(index, &results.traces),
        panels: panels::groups(index, &results.panels, &results.traces),
        delay_headline: delays::headline(&delays),
        delays,
        delay_thresholds,
        diagnoses: diagnoses::matrices(&results.diagnoses),
        videos: results.videos.iter().map(video).collect(),
        definitions: metric::all().map(|m| (m.id, m.label, m.definition)).collect(),
        thresholds: rule::preferred().map(|r| (r.id, r.promise)).collect(),
        script: Value::from_safe_string(include_str!("../../templates/report.js").into()),
    })
}

/// The cells as JSON that may stand inside a script element: nothing in it can close the element.
fn data(metrics: &[Shown], cells: &[Cell]) -> Result<Value> {
    let listed = cells.len().min(CELLS);
    let json = serde_json::json!({"metrics": metrics, "cells": cells, "listed": listed});
    let json = serde_json::to_string(&json)?.replace('<', "\\u003c");
    Ok(Value::from_safe_string(json))
}

fn video(video: &crate::results::Video) -> Video<'_> {
    Video { env: &video.env, caption: &video.caption, source: embedded("gif", &video.gif) }
}

/// What was compared, in numbers.
fn facts(results: &Results, index: &Index) -> Vec<(&'static str, String)> {
    let rows = &results.rows;
    let seeds: Vec<String> = distinct(rows.iter().map(|r| r.seed)).iter().map(u64::to_string).collect();
    let anomalies = distinct(index.anomalous(None).iter().map(|&s| index.settings[s].anomaly.clone()));
    let policies = distinct(rows.iter().map(|r| r.policy.clone()));
    let mut facts = vec![
        ("Environments", index.environments.join(", ")),
        ("Policies", policies.join(", ")),
        ("Detectors", index.detectors.join(", ")),
        ("Anomalies", anomalies.len().to_string()),
        ("Seeds", seeds.join(", ")),
    ];
    if let Some((name, version)) = results.recipe.made.versions().first() {
        facts.push(("Made with", format!("{name} {version}")));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::row;

    #[test]
    fn data_cannot_close_its_element() {
        let rows = [row("</script><blink>", "obs-noise", "tiny", "auroc_matched", "", 0.7)];
        let results = Results { rows: rows.into(), ..Results::default() };
        let page = render(&results).unwrap();
        assert_eq!(page.matches("</script>").count(), 2, "the data's and the script's own");
        assert!(!page.contains("<blink>"));
    }

    #[test]
    fn nothing_at_all_still_makes_a_page() {
        let page = render(&Results::default()).unwrap();
        assert!(
            page.starts_with("<!doctype html>") && page.contains("no detector with a time-matched AUROC")
        );
    }
}
