//! A campaign from its cells to its tables and its page.

use crate::cells::{self, Bench};
use crate::report;
use crate::results::Results;
use anyhow::Result;
use offnominal_engine::context::Context;
use offnominal_files::table;
use offnominal_files::write::atomically;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A campaign that was run.
pub struct Finished {
    /// What was found.
    pub results: Results,
    /// The page that shows it.
    pub page: PathBuf,
}

/// Runs the cells that are not finished, and writes tables and page; `text` is the campaign, `command` what the page
/// says made it.
///
/// # Errors
/// If a cell fails, a file cannot be written, or the work was asked to stop.
pub fn run(bench: &Bench, text: &str, command: &str, out: &Path, context: &Context) -> Result<Finished> {
    let began = Instant::now();
    run_open(bench, context)?;
    finish(bench, text, command, out, began.elapsed().as_secs_f64())
}

/// Runs the cells that are not finished, and returns how many these were.
///
/// # Errors
/// If a cell fails, or the work was asked to stop.
pub fn run_open(bench: &Bench, context: &Context) -> Result<usize> {
    let (open, notices) = bench.open();
    notices.iter().for_each(|notice| context.note(notice));
    let done = bench.nodes.len() - open.len();
    if done > 0 {
        context.note(&format!("{done} of {} cells are finished already", bench.nodes.len()));
    }
    bench.run(&open, context)?;
    bench.store.sweep()?;
    Ok(open.len())
}

/// Writes tables and page of a campaign whose cells are finished.
///
/// # Errors
/// If a cell is missing, or a file cannot be written.
pub fn finish(bench: &Bench, text: &str, command: &str, out: &Path, wall_secs: f64) -> Result<Finished> {
    let mut results = cells::results(bench)?;
    results.recipe.made_by(command, text);
    results.recipe.wall_secs = wall_secs;
    let page = save(&results, out)?;
    Ok(Finished { results, page })
}

/// Writes tables, results and page, and returns the path of the page.
///
/// # Errors
/// If a file cannot be written.
pub fn save(results: &Results, out: &Path) -> Result<PathBuf> {
    atomically(&out.join("results.csv"), &table::to_csv(&results.rows)?)?;
    atomically(&out.join("results.parquet"), &table::to_parquet(&results.rows)?)?;
    if !results.diagnoses.is_empty() {
        atomically(&out.join("diagnosis.csv"), &table::to_csv(&results.diagnoses)?)?;
    }
    report::save(out, results)?;
    report::write(out, results)
}
