//! `demo`: the main job on two shipped policies, from a campaign that travels with the binary.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::run::{DEMO, demo};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Print the campaign instead of running it: a template for your own
    #[arg(long)]
    show: bool,
}

impl Demo {
    /// Finds or fetches MuJoCo, runs the campaign and writes the report.
    ///
    /// # Errors
    /// If MuJoCo cannot be had, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        if self.show {
            return common.print_text(DEMO.into());
        }
        common.print(&demo(&common.out_or("demo"), &common.context())?)
    }
}
