//! `pixels score`: score maps as files.

use crate::cli::Common;
use crate::cli::pixels::Outcome;
use crate::cli::pixels::inputs::{NetworkArgs, NominalArgs, Reading};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_engine::parallel;
use offnominal_files::array::to_npy;
use offnominal_files::write;
use offnominal_pixels::evaluate::score_of;
use offnominal_pixels::fit;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `pixels score`.
#[derive(Debug, Args)]
pub struct Score {
    /// The data set: its labels give the names and sizes of the pictures
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    nominal: NominalArgs,
    /// Methods (see `list pixel-methods`)
    #[arg(long, value_delimiter = ',', required = true, value_name = "ID,…")]
    method: Vec<String>,
    /// Temperature of odin
    #[arg(long, default_value_t = 1000.0, value_name = "T", value_parser = temperature)]
    temperature: f64,
}

/// A temperature above 0.
pub fn temperature(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("expected a number, found {text:?}"))?;
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("expected a temperature above 0, found {value}"))
    }
}

impl Score {
    /// Writes METHOD/NAME.npy, larger is more unknown.
    ///
    /// # Errors
    /// If something that a method needs is missing, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let (set, network) = (self.reading.open(&self.data)?, self.network.open(1, common)?.remove(0));
        let nominal = self.nominal.open(&self.reading, &self.network, common)?;
        let nominal = nominal.as_ref().map(|(set, network)| (set, network));
        let scorers = fit::fit(&self.method, (self.temperature, false), nominal, &common.context())?;
        let out = common.out_or("pixels");
        let bar = common.context().task(set.samples.len(), "pictures");
        parallel::map(common.jobs, set.samples.len(), &bar, |i| {
            let sample = &set.samples[i];
            let labels = set.labels(sample)?;
            let said = network.say(&set, sample, &labels)?;
            for scorer in &scorers {
                scorer.needs.check(&said.output()).with_context(|| scorer.id.clone())?;
                let map = to_npy(&[labels.height, labels.width], &score_of(scorer, &said));
                write::atomically(&out.join(&scorer.id).join(format!("{}.npy", sample.name)), &map)?;
            }
            anyhow::Ok(())
        })?;
        let (mut said, n) = (std::io::stdout().lock(), set.samples.len());
        if common.json {
            writeln!(said, "{:#}", json!({ "folder": out, "pictures": n, "methods": self.method }))?;
        } else {
            writeln!(said, "{}: {} pictures, {} methods", out.display(), n, scorers.len())?;
        }
        Ok(Outcome::Done)
    }
}
