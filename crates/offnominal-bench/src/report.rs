//! The report: one self-contained page that says what was found, how sure it is, and how to find it again.
//!
//! [`render`] makes the page, [`charts`] the same figures as files of their own, [`write()`] puts both into a folder,
//! and [`read`] takes a folder's results back in. The report only reads [`Results`]; it computes nothing but means
//! over cells ([`aggregate`]).

pub mod aggregate;
mod alarms;
mod cells;
mod delays;
mod diagnoses;
mod heatmap;
mod index;
mod page;
mod panels;
mod read;
#[cfg(test)]
pub(crate) mod sample;
mod settings;
mod summary;
mod traces;
mod words;

pub use page::render;
pub use read::{read, save};

use crate::results::Results;
use anyhow::Result;
use clap::Args;
use index::Index;
use offnominal_files::write;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Name of the page in the results folder.
pub const PAGE: &str = "report.html";

/// Name of the folder of single figures in the results folder.
pub const CHARTS: &str = "charts";

/// Which page to make anew.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Results folder of `bench` or `demo`
    pub dir: PathBuf,
    /// Folder for page and figures [default: DIR itself]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Its file.
    pub report: PathBuf,
}

/// Reads results and writes page and figures.
///
/// # Errors
/// If the results cannot be read or the files cannot be written.
pub fn run(request: &Request) -> Result<Page> {
    let results = read(&request.dir)?;
    Ok(Page { report: write(request.out.as_ref().unwrap_or(&request.dir), &results)? })
}

/// Every figure of the page as a file of its own: file name and SVG text.
pub fn charts(results: &Results) -> Vec<(String, String)> {
    let index = Index::new(&results.rows);
    let mut files = heat_images(&index);
    for trace in &results.traces {
        let name = ["scores", &trace.env, &trace.anomaly, &trace.strength, &trace.detector].join("-");
        let name = format!("{}-{}.svg", file_name(&name), trace.episode);
        files.push((name, traces::image(&index, trace)));
    }
    for chart in delays::charts(&index, &results.curves) {
        let name = format!("delays-{}-{}.svg", file_name(&chart.title), file_name(&chart.threshold));
        files.push((name, chart.alone));
    }
    files
}

/// The different items in order of appearance.
fn distinct<T: Ord + Clone>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.clone())).collect()
}

fn heat_images(index: &Index) -> Vec<(String, String)> {
    let (cells, metrics) = (cells::all(index), cells::shown(index));
    let mut files = Vec::new();
    for map in heatmap::all(index) {
        for (i, block) in map.blocks.iter().enumerate() {
            for (m, metric) in metrics.iter().enumerate() {
                let title = format!("{} · {}", map.environment, metric.label);
                let name = format!("heatmap-{}-{}-{}.svg", file_name(&map.environment), metric.id, i + 1);
                files.push((name, heatmap::image(&map, block, &cells, m, &title)));
            }
        }
    }
    files
}

/// Letters, digits, dots and dashes only, so that a name is safe on every system.
fn file_name(text: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = text.chars().map(safe).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Writes the page and the figures into a folder, and returns the path of the page.
///
/// # Errors
/// If a file cannot be written; the message names it.
pub fn write(folder: &Path, results: &Results) -> Result<PathBuf> {
    for (name, svg) in charts(results) {
        write::atomically(&folder.join(CHARTS).join(name), svg.as_bytes())?;
    }
    let page = folder.join(PAGE);
    write::atomically(&page, render(results)?.as_bytes())?;
    Ok(page)
}

impl Display for Page {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.report.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_make_harmless_file_names() {
        assert_eq!(file_name("../../etc/passwd · <x>"), "etc-passwd-x");
    }
}
