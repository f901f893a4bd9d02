//! `bench`: runs a campaign or a suite, and writes tables and report.

use super::command::{Answer, Call, asked};
use anyhow::{Context, Result, ensure};
use clap::{ArgMatches, Args};
use offnominal_bench::run::{self as campaign, Request};
use offnominal_bench::schedule::Scheduler;
use offnominal_bench::suite::{self, Suite};
use offnominal_bench::{ood_rl, schedule};
use offnominal_files::write::atomically;
use offnominal_work::cli::word_of;
use std::path::{Path, PathBuf};

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Campaign file with the seed; `demo --show` prints a template
    #[arg(value_name = "CAMPAIGN.toml", required_unless_present = "suite")]
    campaign: Option<PathBuf>,
    /// Print the cells for another scheduler; run nothing
    #[arg(
        long,
        value_name = "SCHEDULER",
        value_parser = word_of::<Scheduler>(),
        num_args = 0..=1,
        default_missing_value = "cells",
        conflicts_with_all = ["cell", "suite", "json"]
    )]
    plan: Option<Scheduler>,
    /// Run one unfinished cell: its name or number, as --plan prints it
    #[arg(long, value_name = "CELL", conflicts_with_all = ["suite", "json"])]
    cell: Option<String>,
    /// Shipped benchmark: vector, faults, transfer, images or ood-rl
    #[arg(long, value_name = "NAME", conflicts_with = "campaign")]
    suite: Option<String>,
    /// Environments of the suite, comma-separated; others keep their results
    #[arg(long = "env", value_name = "E,…", value_delimiter = ',', requires = "suite")]
    envs: Vec<String>,
    /// Detectors of the suite, comma-separated; others keep their results
    #[arg(long = "detector", value_name = "D,…", value_delimiter = ',', requires = "suite")]
    detectors: Vec<String>,
    /// Most repetitions
    #[arg(long, value_name = "N", requires = "suite")]
    seeds: Option<u64>,
    /// Nominal noise for suite `vector`: none, datasheet, rough or a file
    #[arg(long, value_name = "LEVEL", requires = "suite")]
    noise: Option<String>,
    /// Table or folder of `calibrate` [default: the campaign's, shipped, then runs/calibrate]
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    strengths: Option<PathBuf>,
    /// Print the campaigns of the suite; run nothing
    #[arg(long, requires = "suite", conflicts_with = "json")]
    print: bool,
    /// Write the results of the suite as a page; run nothing
    #[arg(long, value_name = "FILE.md", requires = "suite", conflicts_with_all = ["print", "envs", "detectors", "seeds", "noise", "json"])]
    page: Option<PathBuf>,
    /// Output folder [default: runs/bench, or one per suite]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs what is not finished, then writes the results.
pub fn run(matches: &ArgMatches, call: &Call) -> Result<Answer> {
    asked::<Bench>(matches)?.run(call)
}

impl Bench {
    /// Runs what is not finished, then writes the results.
    ///
    /// # Errors
    /// If the campaign is wrong, a cell fails, or a file cannot be written.
    fn run(self, call: &Call) -> Result<Answer> {
        match self.suite.clone() {
            Some(name) if name == ood_rl::ID => self.ood_rl(call),
            Some(name) => self.suite(name, call),
            None => self.campaign(call),
        }
    }

    fn out_or(&self, command: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| Path::new("runs").join(command))
    }

    fn suite(self, name: String, call: &Call) -> Result<Answer> {
        let found = Suite::find(&name)?;
        let out = self.out_or(found.id);
        if self.print {
            let texts = found.files.iter().map(|(name, text)| format!("# {name}\n{text}\n"));
            return Ok(Answer::text(texts.collect::<String>()));
        }
        if let Some(page) = &self.page {
            return written(page, &suite::page(found, &out)?);
        }
        let Bench { envs, detectors, seeds, noise, .. } = self;
        let request = suite::Request { suite: name, envs, detectors, seeds, noise, out: Some(out) };
        let ran = suite::run(&request, &call.context)?;
        if call.json { call.value(&ran) } else { Ok(Answer::text(ran.summary()?)) }
    }

    fn ood_rl(self, call: &Call) -> Result<Answer> {
        let all = self.detectors.is_empty() && self.seeds.is_none();
        ensure!(
            all && self.noise.is_none() && !self.print,
            "suite ood-rl: expected no --detector, --seeds, --noise and --print: it takes --env alone"
        );
        let out = self.out_or(ood_rl::ID);
        match &self.page {
            Some(page) => written(page, &ood_rl::page(&out)?),
            None => call.answer(&ood_rl::run(&out, &self.envs, &call.context)?),
        }
    }

    fn campaign(self, call: &Call) -> Result<Answer> {
        let campaign = self.campaign.clone().context("expected a campaign file or a suite, found neither")?;
        let request = Request { campaign, out: self.out_or("bench"), strengths: self.strengths.clone() };
        if let Some(scheduler) = self.plan {
            return Ok(Answer::text(schedule::text(scheduler, &request)?));
        }
        let Some(cell) = &self.cell else {
            return call.answer(&campaign::run(&request, &call.context)?);
        };
        campaign::run_cell(&request.bench()?.0, cell, &call.context)?;
        Ok(Answer::nothing())
    }
}

fn written(page: &Path, text: &str) -> Result<Answer> {
    atomically(page, text.as_bytes())?;
    Ok(Answer::nothing())
}
