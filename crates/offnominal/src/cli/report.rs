//! `report`: makes the page of a results folder anew.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::report;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Folder with results.json and results.csv, as `bench` and `demo` write them
    dir: PathBuf,
    /// Folder for page and figures [default: DIR itself]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Report {
    /// Reads the results and writes page and figures, into the same folder unless `--out` names another.
    ///
    /// # Errors
    /// If the results cannot be read or the files cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let results = report::read(&self.dir)?;
        let page = report::write(self.out.as_ref().unwrap_or(&self.dir), &results)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", json!({"report": page}))?;
        } else {
            writeln!(out, "{}", page.display())?;
        }
        Ok(Outcome::Done)
    }
}
