//! `report`: makes the page of a results folder anew.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::report::{self, Request};
use serde_json::json;
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
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let page = report::run(&Request { dir: self.dir, out: self.out })?;
        let text = if common.json { json!(page).to_string() } else { page.report.display().to_string() };
        common.print_text(text)
    }
}
