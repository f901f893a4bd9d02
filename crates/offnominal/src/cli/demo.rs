//! `demo`: the main job on two shipped policies, from a campaign that travels with the binary.

use crate::cli::bench::run_all;
use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_bench::campaign::{Campaign, Plan};
use offnominal_bench::cells::Bench;
use offnominal_files::store::Store;

/// The campaign, also a template for one's own.
const CAMPAIGN: &str = include_str!("../../../../campaigns/demo.toml");

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
            print!("{CAMPAIGN}");
            return Ok(Outcome::Done);
        }
        offnominal_mujoco::library::load(&mut |what| {
            if !common.quiet {
                eprintln!("{what}");
            }
        })?;
        let out = common.out_or("demo");
        let plan = Plan::new(Campaign::parse(CAMPAIGN)?, CAMPAIGN).context("the campaign of the demo")?;
        let bench = Bench::new(plan, Store::new(&out))?;
        run_all(&bench, CAMPAIGN, "offnominal demo", &out, common)?;
        Ok(Outcome::Done)
    }
}
