//! `score`: a monitor's scores of recorded episodes.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_core::alarm::State;
use offnominal_engine::score::{Request, Scored, run};
use std::path::PathBuf;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File written by `fit`
    #[arg(value_name = "FILE.monitor")]
    monitor: PathBuf,
    /// Episodes written by `collect`, of the same environment
    #[arg(value_name = "EPISODES.arrow")]
    episodes: PathBuf,
    /// Print every step as CSV, which `metrics` reads
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Score {
    /// Scores the episodes and prints what was found.
    ///
    /// # Errors
    /// If a file cannot be read, or the episodes are of another environment.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Score { monitor, episodes, csv } = self;
        let found = run(&Request { monitor, episodes }, &common.context())?;
        if csv { as_csv(&found) } else { common.print_in_order(&found) }
    }
}

fn as_csv(found: &Scored) -> Result<Outcome> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label", "statistic", "alarm"])?;
    for (i, steps) in found.steps.iter().enumerate() {
        for (verdict, label) in steps {
            let flags = [*label, verdict.state == State::Raised].map(u8::from);
            out.serialize((i, verdict.step, verdict.score, flags[0], verdict.statistic, flags[1]))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}
