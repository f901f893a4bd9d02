//! The report as a whole: its structure, its numbers, and what a browser makes of it.

mod broken;
mod browser;
mod fixture;

use offnominal_bench::report;
use offnominal_bench::results::{Results, Row};
use std::path::Path;
use std::process::Command;

#[test]
fn the_page_has_all_its_parts() {
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    let parts = ["answer", "summary", "heat", "traces", "delays", "alarms", "videos", "cells", "recipe"];
    let at: Vec<usize> = parts
        .iter()
        .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no part {id}")))
        .collect();
    assert!(at.is_sorted(), "the parts come in their order");
    assert_eq!(page.matches("<table class=\"heat\">").count(), 2, "one heat map per environment");
    assert_eq!(
        page.matches("<table class=\"numbers sortable\">").count(),
        2 * 3,
        "all environments, and each"
    );
    assert_eq!(page.matches("data:image/gif;base64,R0lGODlh").count(), 2, "two videos");
    assert_eq!(page.matches("data-chart=").count(), 2 * (2 * 4 + 4 * 4), "traces and delay curves");
    assert_eq!(page.matches("data-cell=").count(), 2 * 12 * 4 * 6, "every cell of the heat maps");
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    for outside in ["src=\"http", "href=\"http", "url(http", "@import", "<link rel=\"stylesheet"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_values_shown_are_the_values_of_the_rows() {
    let results = fixture::results("two-worlds");
    let page = report::render(&results).unwrap();
    let is = |r: &&Row| {
        r.env == "sap-goal0" && r.anomaly == "obs-drift" && r.strength == "strong" && r.detector == "pe-dm"
    };
    let row = results.rows.iter().filter(is).find(|r| r.metric == "auroc_matched").unwrap();
    let origin = format!(
        "sap-goal0 · obs-drift strong (magnitude 0.45) · pe-dm · seed 0 · n = 100 episodes&#10;{:.3} [{:.3} – {:.3}]",
        row.value, row.low, row.high
    );
    assert!(page.contains(&origin), "{origin}");
    let mean = mean_of(&results, "pe-dm", "auroc_matched");
    let summary = &page[page.find("id=\"summary\"").unwrap()..];
    let line = &summary[summary.find("pe-dm</th>").unwrap()..][..600];
    assert!(line.contains(&format!(">{mean:.3}<small>")), "{mean:.3} in {line}");
}

fn mean_of(results: &Results, detector: &str, metric: &str) -> f64 {
    let of = |r: &&Row| {
        r.anomaly_class != "none" && r.detector == detector && r.metric == metric && !r.value.is_nan()
    };
    let values: Vec<f64> = results.rows.iter().filter(of).map(|r| r.value).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_answer_is_computed_from_the_rows() {
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    assert!(page.contains("<b>pe-dm</b> tells anomalous from nominal behaviour best"));
    assert!(page.contains("Controls at one half"));
    let mut other = fixture::results("two-worlds");
    for row in other.rows.iter_mut().filter(|r| r.metric == "auroc_matched") {
        row.value = if row.detector == "knn" { 0.99 } else { 0.4 };
        (row.low, row.high) = (row.value - 0.01, row.value + 0.01);
    }
    let page = report::render(&other).unwrap();
    assert!(page.contains("<b>knn</b> tells anomalous from nominal behaviour best"));
    assert!(page.contains("class=\"warning\"") && page.contains("A control is off"));
}

#[test]
fn what_does_not_exist_is_a_dash_with_its_reason() {
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    let reason = "no data: calibration excludes it (strength out of reach, no effect, or the same as another)\">–</td>";
    assert_eq!(page.matches(reason).count(), 2 * 6, "one setting per environment, for every detector");
}

#[test]
fn names_from_outside_are_escaped() {
    let evil = "<script>alert('x')</script>\"&";
    let mut results = fixture::results(evil);
    for row in &mut results.rows {
        (row.env, row.detector) = (format!("{evil}{}", row.env), format!("{evil}{}", row.detector));
    }
    results.videos[0].caption = evil.into();
    results.recipe.policies.push(evil.into());
    for trace in &mut results.traces {
        trace.env = evil.into();
    }
    let page = report::render(&results).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<script>a"));
    assert_eq!(page.matches("<script").count(), 2);
    for (name, svg) in report::charts(&results) {
        assert!(!svg.contains("<script") && !name.contains(['<', '/', '"']), "{name}");
    }
}

#[test]
fn the_page_is_light() {
    let page = report::render(&fixture::results("two-worlds")).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn every_figure_is_a_file_of_its_own() {
    let results = fixture::results("two-worlds");
    let charts = report::charts(&results);
    let named = |start: &str| charts.iter().filter(|(name, _)| name.starts_with(start)).count();
    assert_eq!([named("heatmap-"), named("scores-"), named("delays-")], [2 * 9, 2 * 2 * 4, 2 * 4 * 4]);
    let names: std::collections::BTreeSet<&String> = charts.iter().map(|c| &c.0).collect();
    assert_eq!(names.len(), charts.len(), "no file overwrites another");
    assert!(charts.iter().all(|(_, svg)| svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>")));
}

#[test]
fn the_same_results_make_the_same_page() {
    let page = |_| report::render(&fixture::results("two-worlds")).unwrap();
    assert_eq!(page(0), page(1));
}

/// The folder stays, so that the page of the fixture can be looked at.
#[test]
fn a_results_folder_is_made_into_a_page_anew() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let results = fixture::results("two-worlds");
    report::save(&folder, &results).unwrap();
    std::fs::write(folder.join("results.csv"), table(&results.rows)).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_offnominal")).arg("report").arg(&folder).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let page = std::fs::read_to_string(folder.join(report::PAGE)).unwrap();
    assert!(page == report::render(&results).unwrap(), "the page read back is the page rendered");
    let svg = folder.join(report::CHARTS).join("heatmap-sap-goal0-auroc_matched-1.svg");
    assert!(svg.is_file(), "{}", svg.display());
}

fn table(rows: &[Row]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().for_each(|row| writer.serialize(row).unwrap());
    writer.into_inner().unwrap()
}

#[test]
fn a_folder_that_is_none_is_an_error_that_says_so() {
    let run = Command::new(env!("CARGO_BIN_EXE_offnominal")).args(["report", "nowhere"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(error.contains("nowhere") && error.contains("results.json"), "{error}");
}
