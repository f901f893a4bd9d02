//! `risk history`: the history of a training run, made by playing its checkpoints.

use crate::cli::Common;
use crate::cli::risk::Outcome;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::subject::Cast;
use offnominal_files::write;
use offnominal_risk as risk;
use serde_json::json;
use std::io::Write;

/// Arguments of `risk history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// A policy, as for `risk estimate`, or a folder of them such as `train --checkpoints` fills; may be repeated
    #[arg(long, required = true)]
    policy: Vec<String>,
    /// Episodes of each policy at each level of noise
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    episodes: u32,
    /// Standard deviation of the noise on commands, as a share of half their range; may be repeated
    #[arg(long, value_name = "SHARE", default_values_t = [0.0])]
    noise: Vec<f64>,
}

impl HistoryArgs {
    /// Plays, writes the history, and prints how often each policy failed.
    ///
    /// # Errors
    /// If a policy cannot be had or its training is unknown, the simulator breaks, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let names = crate::cli::risk::policies(&self.policy)?;
        let casts = names.iter().map(|name| Cast::new(&self.env, name)).collect::<Result<Vec<_>>>()?;
        ensure!(
            casts[0].env.fork().is_some(),
            "world {} cannot be copied; experiments need copies",
            self.env
        );
        let folder = common.out_or("risk-history");
        let history =
            risk::past::play(&casts, &self.noise, self.episodes as usize, &folder, &common.context())?;
        let path = folder.join("history.safetensors");
        write::atomically(&path, &history.to_bytes())?;
        let rows = risk::past::rows(&history);
        let mut out = std::io::stdout().lock();
        if common.json {
            let value = json!({ "file": path, "env": self.env, "policies": rows });
            writeln!(out, "{value:#}")?;
            return Ok(Outcome::Done);
        }
        for row in &rows {
            let risk::past::Row { step, noise, episodes, failures } = row;
            writeln!(out, "after {step} steps, noise {noise}: {failures} of {episodes} episodes failed")?;
        }
        writeln!(out, "written to {}", path.display())?;
        Ok(Outcome::Done)
    }
}
