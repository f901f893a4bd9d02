//! `pixels evaluate`: judges methods and writes the page.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use crate::cli::pixels::inputs::{NetworkArgs, NominalArgs, Reading};
use crate::cli::pixels::score::temperature;
use anyhow::{Context, Result};
use clap::Args;
use offnominal_core::Seed;
use offnominal_detectors::pixel::Needs;
use offnominal_pixels::evaluate::{Evaluation, Plan};
use offnominal_pixels::{fit, report};
use offnominal_stats::{Bootstrap, Level};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `pixels evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// Data sets, each judged by itself
    #[arg(long, required = true, value_name = "DIR")]
    data: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    nominal: NominalArgs,
    /// Methods (see `list pixel-methods`), or all that can be had
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "ID,…")]
    methods: Vec<String>,
    /// Temperature of odin [default: the best of ten on a quarter of the pictures, which are then not judged]
    #[arg(long, value_name = "T", value_parser = temperature)]
    temperature: Option<f64>,
    /// Bootstrap replicates of each interval, 100 to 100000
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    replicates: u32,
}

impl Evaluate {
    /// Judges, prints a table, writes pixels.csv, pixels.json and pixels.html.
    ///
    /// # Errors
    /// If something cannot be read, or a data set has no unknown or no known pixels.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let networks = self.network.open(self.data.len(), common)?;
        let nominal = self.nominal.open(&self.reading, &self.network, common)?;
        let gives = networks[0].gives();
        let methods = fit::names(&self.methods, Needs { nominal: nominal.is_some(), ..gives })?;
        let mut evaluations = Vec::new();
        for (root, network) in self.data.iter().zip(&networks) {
            let plan = Plan {
                name: name_of(root),
                set: &self.reading.open(root)?,
                network,
                nominal: nominal.as_ref().map(|(set, network)| (set, network)),
                methods: methods.clone(),
                temperature: self.temperature,
                bootstrap: Bootstrap::new(self.replicates as usize, Level::P95, Seed(common.seed)),
                seed: Seed(common.seed),
                context: &common.context(),
            };
            evaluations.push(plan.run().with_context(|| root.display().to_string())?);
        }
        let command = std::env::args().skip(1).fold("offnominal".to_string(), |line, arg| line + " " + &arg);
        let page = report::write(&common.out_or("pixels"), &evaluations, &command)?;
        print(&evaluations, &command, &page, common.json)?;
        Ok(Outcome::Done)
    }
}

fn print(evaluations: &[Evaluation], command: &str, page: &Path, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{:#}", report::as_json(evaluations, command))?;
        return Ok(());
    }
    for evaluation in evaluations {
        writeln!(out, "{}\n", report::as_text(evaluation))?;
    }
    writeln!(out, "{}", page.display())?;
    Ok(())
}

/// The last part of a path that is a name.
fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
}
