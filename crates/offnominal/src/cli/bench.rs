//! `bench`: runs a campaign or a suite, and writes tables and report.

use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_bench::run::{self, Request};
use offnominal_bench::schedule::Scheduler;
use offnominal_bench::suite::{self, Suite};
use offnominal_bench::{ood_rl, schedule};
use offnominal_files::write::atomically;
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
    /// Run a benchmark that travels with this program, environment by environment: `vector`, `faults`,
    /// `transfer` or `images`, or `ood-rl`, which has one policy after the other
    #[arg(long, value_name = "NAME", conflicts_with = "campaign")]
    suite: Option<String>,
    /// Run these environments of the suite only, with commas between; the others keep what they have
    #[arg(long = "env", value_name = "E,…", value_delimiter = ',', requires = "suite")]
    envs: Vec<String>,
    /// Ask these detectors of the suite only, with commas between; results of others that are there stay, if nothing else
    /// of the suite has changed
    #[arg(long = "detector", value_name = "D,…", value_delimiter = ',', requires = "suite")]
    detectors: Vec<String>,
    /// Repetitions at most, if fewer than the suite says
    #[arg(long, value_name = "N", requires = "suite")]
    seeds: Option<u64>,
    /// Run the suite `vector` with nominal noise of sensors and actuators, which is a part of nominal episodes too:
    /// `none`, `datasheet`, `rough`, or a file; results go to a folder of that name within --out
    #[arg(long, value_name = "LEVEL", requires = "suite")]
    noise: Option<String>,
    /// The table that `calibrate` wrote, or its folder, in which strengths are looked for [default: what the campaign
    /// names, else those of this program, then runs/calibrate]
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    strengths: Option<PathBuf>,
    /// Print the campaigns of the suite and run nothing
    #[arg(long, requires = "suite")]
    print: bool,
    /// Write the results of the suite, as far as they are there, as a page; run nothing
    #[arg(long, value_name = "FILE.md", requires = "suite", conflicts_with_all = ["print", "envs", "detectors", "seeds", "noise"])]
    page: Option<PathBuf>,
}

impl BenchArgs {
    /// Runs what is not finished, then writes the results.
    ///
    /// # Errors
    /// If the campaign is wrong, a cell fails, or a file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        match self.suite.clone() {
            Some(name) if name == ood_rl::ID => self.ood_rl(common),
            Some(name) => self.suite(name, common),
            None => self.campaign(common),
        }
    }

    fn suite(self, name: String, common: &Common) -> Result<Outcome> {
        let found = Suite::find(&name)?;
        let out = common.out_or(found.id);
        if self.print {
            let texts = found.files.iter().map(|(name, text)| format!("# {name}\n{text}\n"));
            return common.print_text(texts.collect());
        }
        if let Some(page) = &self.page {
            return written(page, &suite::page(found, &out)?);
        }
        let BenchArgs { envs, detectors, seeds, noise, .. } = self;
        let request = suite::Request { suite: name, envs, detectors, seeds, noise, out: Some(out) };
        let ran = suite::run(&request, &common.context())?;
        common.print_text(if common.json { Common::as_json(&ran)? } else { ran.summary()? })
    }

    fn ood_rl(self, common: &Common) -> Result<Outcome> {
        let all = self.envs.is_empty() && self.detectors.is_empty() && self.seeds.is_none();
        let whole = all && self.noise.is_none() && !self.print;
        ensure!(
            whole,
            "suite ood-rl: it runs as a whole, without --env, --detector, --seeds, --noise and --print"
        );
        let request = ood_rl::Request { out: common.out_or(ood_rl::ID) };
        match &self.page {
            Some(page) => written(page, &ood_rl::page(&request.out)?),
            None => common.print(&ood_rl::run(&request, &common.context())?),
        }
    }

    fn campaign(self, common: &Common) -> Result<Outcome> {
        let campaign = self.campaign.context("expected a campaign file or a suite, found neither")?;
        let request = Request { campaign, out: common.out_or("bench"), strengths: self.strengths.clone() };
        if let Some(scheduler) = self.plan {
            return common.print_text(schedule::text(scheduler, &request)?);
        }
        let Some(cell) = &self.cell else {
            return common.print(&run::run(&request, &common.context())?);
        };
        run::run_cell(&request.bench()?.0, cell, &common.context())?;
        Ok(Outcome::Done)
    }
}

fn written(page: &Path, text: &str) -> Result<Outcome> {
    atomically(page, text.as_bytes())?;
    Ok(Outcome::Done)
}
