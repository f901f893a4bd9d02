//! A campaign from its cells to its tables and its page.

use crate::campaign::{Campaign, Plan};
use crate::cells::{self, Bench};
use crate::report;
use crate::results::Results;
use anyhow::{Context as _, Result};
use offnominal_engine::context::Context;
use offnominal_files::lock::Lock;
use offnominal_files::store::Store;
use offnominal_files::table;
use offnominal_files::write::atomically;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The campaign of the demo, also a template for one's own.
pub const DEMO: &str = include_str!("../campaigns/demo.toml");

/// How long the writing of results waits for another process that writes some into the same folder.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The files of the results.
const FILES: [&str; 3] = ["results.csv", "results.parquet", "results.json"];

/// What to run; the seed is that of the campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The campaign file.
    pub campaign: PathBuf,
    /// Where cells and results are kept.
    pub out: PathBuf,
    /// The table of strengths, in place of the one that the campaign names.
    pub strengths: Option<PathBuf>,
}

/// A campaign that was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finished {
    /// The page that shows what was found.
    pub report: PathBuf,
    /// The tables.
    pub files: Vec<PathBuf>,
    /// Numbers in the tables.
    pub rows: usize,
    /// Wall time of this call in seconds.
    pub wall_secs: f64,
    /// One line per detector.
    #[serde(skip)]
    pub summary: String,
    /// One line per policy.
    #[serde(skip)]
    pub policies: Vec<String>,
    /// One line for each kind of episodes of which some have no outcome.
    pub diverged: Vec<String>,
}

/// Runs the cells that are not finished, and writes tables and page.
///
/// # Errors
/// If the campaign is wrong, a cell fails, a file cannot be written, or the work was asked to stop.
pub fn run(request: &Request, context: &Context) -> Result<Finished> {
    let (bench, text) = request.bench()?;
    complete(&bench, &text, &context.command, &request.out, context)
}

/// Runs the campaign of the demo, for which MuJoCo is found or fetched.
///
/// # Errors
/// If MuJoCo cannot be had, or a file cannot be written.
pub fn demo(out: &Path, context: &Context) -> Result<Finished> {
    offnominal_mujoco::library::load(&mut |what| context.note(what))?;
    let plan = Plan::new(Campaign::parse(DEMO)?, DEMO).context("the campaign of the demo")?;
    complete(&Bench::new(plan, Store::new(out))?, DEMO, "offnominal demo", out, context)
}

impl Request {
    /// The cells of the campaign, and its text.
    ///
    /// # Errors
    /// If the campaign cannot be read, or is wrong.
    pub fn bench(&self) -> Result<(Bench, String)> {
        let (mut campaign, text) = Campaign::load(&self.campaign)?;
        campaign.strengths_file = self.strengths.clone().or(campaign.strengths_file);
        let plan =
            Plan::new(campaign, &text).with_context(|| format!("campaign {}", self.campaign.display()))?;
        Ok((Bench::new(plan, Store::new(&self.out))?, text))
    }
}

/// Runs the cells that are not finished, and writes tables and page; `text` is the campaign, `command` what the page
/// says made it.
///
/// # Errors
/// As [`run`].
pub fn complete(bench: &Bench, text: &str, command: &str, out: &Path, context: &Context) -> Result<Finished> {
    let began = Instant::now();
    run_open(bench, context)?;
    finish(bench, text, command, out, began.elapsed().as_secs_f64())
}

/// Runs one cell if it is not finished: by its name or a unique beginning of it, or by its number in a layer.
///
/// # Errors
/// If there is no such cell, it fails, or what it needs is not finished.
pub fn run_cell(bench: &Bench, id: &str, context: &Context) -> Result<()> {
    let node = bench.find(id)?;
    if !bench.is_finished(node) {
        return bench.run_one(node, context);
    }
    context.note(&format!("cell {} is finished already", node.id));
    Ok(())
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
    bench.store.sweep();
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
    // Any number of processes may share the cells; the results are written by one after the other.
    let _held = Lock::folder_within(out, PATIENCE)?;
    let detectors: Vec<String> = bench.plan.detectors().iter().map(|d| d.name().into()).collect();
    Ok(Finished {
        report: save(&results, out)?,
        files: FILES.map(|file| out.join(file)).into(),
        rows: results.rows.len(),
        wall_secs,
        summary: cells::summary(&results.rows, &detectors),
        policies: results.recipe.policies,
        diverged: cells::diverged(bench)?,
    })
}

/// Writes tables, results and page, and returns the path of the page.
fn save(results: &Results, out: &Path) -> Result<PathBuf> {
    atomically(&out.join(FILES[0]), &table::to_csv(&results.rows)?)?;
    atomically(&out.join(FILES[1]), &table::to_parquet(&results.rows)?)?;
    if !results.diagnoses.is_empty() {
        atomically(&out.join("diagnosis.csv"), &table::to_csv(&results.diagnoses)?)?;
    }
    report::save(out, results)?;
    report::write(out, results)
}

impl Display for Finished {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.summary)?;
        self.policies.iter().try_for_each(|policy| writeln!(out, "{policy}"))?;
        self.diverged.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(
            out,
            "means over anomalies and strengths with 95 % intervals; alarms at the conformal threshold"
        )?;
        write!(out, "{}", self.report.display())
    }
}
