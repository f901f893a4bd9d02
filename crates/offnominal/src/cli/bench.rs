//! `bench`: runs a campaign and writes tables and report.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome, ood_rl, suite};
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_bench::campaign::{Campaign, Plan};
use offnominal_bench::cells as bench;
use offnominal_bench::cells::Bench;
use offnominal_bench::results::Results;
use offnominal_bench::run::{self, Finished};
use offnominal_bench::schedule::Scheduler;
use offnominal_bench::suite::{Request, Suite};
use offnominal_files::store::Store;
use offnominal_files::write;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Campaign file, which holds the seed; `demo --show` prints one to begin with
    #[arg(value_name = "CAMPAIGN.toml", required_unless_present = "suite")]
    campaign: Option<PathBuf>,
    /// Print the cells for another scheduler and run nothing: JSON lines, or a script for Slurm or Kubernetes
    #[arg(
        long,
        value_name = "SCHEDULER",
        value_parser = one_of::<Scheduler>(),
        num_args = 0..=1,
        default_missing_value = "cells",
        conflicts_with_all = ["cell", "suite"]
    )]
    plan: Option<Scheduler>,
    /// Run only one cell, if it is not finished: by its name or a beginning of it, as --plan prints it, or by its
    /// number in a layer, such as `nominal:0`
    #[arg(long, value_name = "CELL", conflicts_with = "suite")]
    cell: Option<String>,
    /// Run a benchmark that travels with this program, environment by environment: `vector` or `images`, or `ood-rl`,
    /// which has one policy after the other
    #[arg(long, value_name = "NAME", conflicts_with = "campaign")]
    suite: Option<String>,
    /// Run these environments of the suite only, with commas between; the others keep what they have
    #[arg(long, value_name = "ENVS", value_delimiter = ',', requires = "suite")]
    envs: Vec<String>,
    /// Ask these detectors of the suite only, with commas between; tables of the environments then hold these only,
    /// and what was finished of others stays in the cells
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "suite")]
    detectors: Vec<String>,
    /// Repetitions of the suite, if not as many as it says
    #[arg(long, value_name = "N", requires = "suite")]
    seeds: Option<u64>,
    /// Print the campaigns of the suite and run nothing
    #[arg(long, requires = "suite")]
    print: bool,
    /// Write a page that puts the results of the suite, as far as they are there, beside the published ones; run nothing
    #[arg(long, value_name = "FILE.md", requires = "suite", conflicts_with_all = ["print", "envs", "detectors", "seeds"])]
    page: Option<PathBuf>,
}

impl BenchArgs {
    /// Runs what is not finished, then writes the results.
    ///
    /// # Errors
    /// If the campaign is wrong, a cell fails, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        if self.suite.as_deref() == Some(offnominal_bench::ood_rl::ID) {
            return self.ood_rl(common);
        }
        if let Some(name) = &self.suite {
            return self.suite(Suite::find(name)?, common);
        }
        let file = self.campaign.as_deref().context("expected a campaign file or a suite, found neither")?;
        self.campaign(file, common)
    }

    fn suite(&self, suite: &'static Suite, common: &Common) -> Result<Outcome> {
        if self.print {
            return suite::print_campaigns(suite);
        }
        let out = common.out_or(suite.id);
        if let Some(page) = &self.page {
            write::atomically(page, offnominal_bench::suite::page(suite, &out)?.as_bytes())?;
            return Ok(Outcome::Done);
        }
        let (envs, detectors) = (&self.envs[..], &self.detectors[..]);
        suite::run(&Request { suite, envs, detectors, seeds: self.seeds, out: &out }, common)
    }

    fn ood_rl(&self, common: &Common) -> Result<Outcome> {
        let all = self.envs.is_empty() && self.detectors.is_empty() && self.seeds.is_none();
        let whole = all && !self.print;
        ensure!(whole, "suite ood-rl: it runs as a whole, without --envs, --detectors, --seeds and --print");
        match &self.page {
            Some(page) => ood_rl::page(page, common),
            None => ood_rl::run(common),
        }
    }

    fn campaign(&self, file: &Path, common: &Common) -> Result<Outcome> {
        let out = common.out_or("bench");
        let (campaign, text) = Campaign::load(file)?;
        let plan = Plan::new(campaign, &text).with_context(|| format!("campaign {}", file.display()))?;
        let bench = Bench::new(plan, Store::new(&out))?;
        match (&self.cell, self.plan) {
            (_, Some(scheduler)) => print!("{}", scheduler.text(&bench, file, &out)?),
            (Some(id), _) => run_cell(&bench, id, common)?,
            (None, None) => {
                let command = format!("offnominal bench {} --out {}", file.display(), out.display());
                run_all(&bench, &text, &command, &out, common)?;
            }
        }
        Ok(Outcome::Done)
    }
}

fn run_cell(bench: &Bench, id: &str, common: &Common) -> Result<()> {
    let node = bench.find(id)?;
    if !bench.is_finished(node) {
        return bench.run_one(node, common.jobs);
    }
    common.context().note(&format!("cell {} is finished already", node.id));
    Ok(())
}

/// Runs a campaign and prints its summary; `command` is what the report says made it.
pub(crate) fn run_all(bench: &Bench, text: &str, command: &str, out: &Path, common: &Common) -> Result<()> {
    let Finished { results, page } = run::run(bench, text, command, out, &common.context())?;
    print(bench, &results, &page, out, common)
}

fn print(bench: &Bench, results: &Results, page: &Path, folder: &Path, common: &Common) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if common.json {
        let files: Vec<Value> = ["results.csv", "results.parquet", "results.json"]
            .iter()
            .map(|f| json!(folder.join(f)))
            .collect();
        writeln!(
            out,
            "{:#}",
            json!({ "report": page, "files": files, "rows": results.rows.len(), "wall_secs": results.recipe.wall_secs })
        )?;
        return Ok(());
    }
    let detectors: Vec<String> = bench.plan.detectors().iter().map(|d| d.name.clone()).collect();
    writeln!(out, "{}", bench::summary(&results.rows, &detectors))?;
    for policy in &results.recipe.policies {
        writeln!(out, "{policy}")?;
    }
    writeln!(
        out,
        "means over anomalies and strengths with 95 % intervals; alarms at the conformal threshold"
    )?;
    writeln!(out, "{}", page.display())?;
    Ok(())
}
