//! `images score`: the scores that a fitted network gives episodes before the camera.

use crate::cli::anomaly_request::AnomalyArgs;
use crate::cli::one_of::one_of;
use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_bench::images::score::{Request, Scored, run};
use offnominal_engine::device::Device;
use std::path::PathBuf;

/// Arguments of `images score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File written by `images fit`
    #[arg(value_name = "FILE.safetensors")]
    monitor: PathBuf,
    /// Episodes; with an anomaly each has its nominal twin
    #[arg(long, value_name = "N", default_value_t = Request::default().episodes, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    episodes: u32,
    #[command(flatten)]
    anomaly: AnomalyArgs,
    /// Where the network runs
    #[arg(long, value_parser = one_of::<Device>(), default_value = "cpu")]
    device: Device,
    /// Print every step of every episode and twin as CSV, which `metrics` reads
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Draw the strangest step of the first episode: what was seen, what was expected, where they differ
    #[arg(long, value_name = "FILE.png")]
    image: Option<PathBuf>,
}

impl Score {
    /// Plays and scores the episodes, and prints how well anomalous steps are told from those of the twins.
    ///
    /// # Errors
    /// If the file cannot be read, or the environment, the policy or the anomaly cannot be had.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Score { monitor, episodes, anomaly, device, csv, image } = self;
        let request = Request { monitor, episodes, anomaly: anomaly.request(), device, image };
        let found = run(&request, &common.context())?;
        if csv { as_csv(&found) } else { common.print(&found) }
    }
}

fn as_csv(found: &Scored) -> Result<Outcome> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label"])?;
    for (i, (scores, labels)) in found.scores.iter().enumerate() {
        for (step, (score, label)) in scores.iter().zip(labels).enumerate() {
            out.serialize((i, step, score, u8::from(*label)))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}
