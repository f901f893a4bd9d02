//! The suite `ood-rl`: would a policy notice by itself that it is out of its depth?
//!
//! The protocol of Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement
//! Learning" (2021): policies that disagree with themselves, by dropout, DropConnect or as an ensemble, are trained in a
//! environment, play in its variants, and their disagreement must tell the steps there from those at home. Where the
//! publication leaves something open, `docs/explanations/ood-rl.md` says what is done here.
//!
//! A cell is one policy in all variants of its environment. It is a pure function of its specification, whose digest
//! is its name; a finished one is not run again.

mod agents;
mod cell;
mod environment;
mod judges;
mod milder;
mod play;
mod row;
mod run;
mod table;
mod youden;

pub use agents::{Agent, METHODS, Method};
pub use cell::Cell;
pub use row::{Judged, MAIN, Row, from_rows, to_rows};

use crate::run::PATIENCE;
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::suggest::unknown;
use offnominal_engine::context::Context;
use offnominal_files::lock::Lock;
use offnominal_files::store::Store;
use offnominal_files::table as tables;
use offnominal_files::write::atomically;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The name of the suite.
pub const ID: &str = "ood-rl";

/// The name of the table in the output folder, without its ending.
const TABLE: &str = "results";

/// A finished suite.
#[derive(Debug, Clone, Serialize)]
pub struct Finished {
    /// The suite.
    pub suite: &'static str,
    /// Policies.
    pub cells: usize,
    /// How many of them this call played.
    pub ran: usize,
    /// Numbers of the table.
    pub rows: usize,
    /// The table.
    pub table: PathBuf,
    /// Environments that could not be opened, each with the reason.
    pub left_out: Vec<String>,
    /// Environments that were not asked for, with policies that were never played.
    pub not_run: Vec<&'static str>,
    /// Wall time in seconds.
    pub wall_secs: f64,
    /// The tables of the publication in short, as Markdown.
    #[serde(skip)]
    pub summary: String,
}

/// Runs what is not finished in a folder, then writes the table; the suite has its own seed. If environments are named, only
/// what is missing of them is run; what is finished of others stays in the table.
///
/// # Errors
/// If there is no such environment, a policy cannot be read, a cell fails, or a file cannot be written.
pub fn run(out: &Path, envs: &[String], context: &Context) -> Result<Finished> {
    if let Some(name) = unknown(envs, environment::ENVIRONMENTS.into_iter()) {
        bail!("suite {ID} has no environment {name}");
    }
    let (began, store) = (Instant::now(), Store::new(out));
    let cell::Plan { cells: plan, left_out } = cell::plan()?;
    for env in envs {
        let is_there =
            plan.iter().any(|(cell, _)| cell.env == env) || left_out.iter().any(|why| why.starts_with(env));
        ensure!(
            is_there,
            "OFFNOMINAL_OOD_RL: expected policies such as {env}-dropout-1.safetensors, found none"
        );
    }
    let is_asked = |env: &str| envs.is_empty() || envs.iter().any(|asked| asked == env);
    let ran = run::run(plan.iter().filter(|(cell, _)| is_asked(cell.env)), &store, context)?;
    let (records, not_run) = run::collect(&plan, &store)?;
    let (rows, path) = (to_rows(&records), out.join(TABLE).with_extension("parquet"));
    let _held = Lock::folder_within(out, PATIENCE)?;
    atomically(&path, &tables::to_parquet(&rows)?)?;
    Ok(Finished {
        suite: ID,
        cells: plan.len(),
        ran,
        rows: rows.len(),
        table: path,
        left_out,
        not_run,
        wall_secs: began.elapsed().as_secs_f64(),
        summary: table::summary(&records),
    })
}

impl Display for Finished {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let out = self.table.parent().unwrap_or(Path::new("")).display();
        let Finished { summary, cells, ran, wall_secs, left_out, not_run, .. } = self;
        left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))?;
        not_run.iter().try_for_each(|env| writeln!(f, "not run: {env}"))?;
        write!(f, "{summary}\n{cells} policies, {ran} of them played in {wall_secs:.0} s; {out}")
    }
}

/// The results in a folder as a page of Markdown: one line per environment and method.
///
/// # Errors
/// If they are not there, or damaged.
pub fn page(out: &Path) -> Result<String> {
    let path = tables::find(out, TABLE).context("run the suite first")?;
    let records = from_rows(tables::read(&path)?).with_context(|| path.display().to_string())?;
    Ok(format!("# Suite {ID}\n\n{}", table::summary(&records)))
}

/// Below this mean return a policy fails in a variant: what counts as solved.
pub fn solved(env: &str) -> f64 {
    match env {
        "cartpole" => 475.0,
        "pendulum" => -200.0,
        _ => 0.0,
    }
}
