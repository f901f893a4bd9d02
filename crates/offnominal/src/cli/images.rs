//! `images`: what detectors of pictures stand on.

mod fit;
mod score;

use crate::cli::{Common, Outcome};
use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use offnominal_bench::images::encoder::{self, Plan};
use offnominal_engine::policies;
use offnominal_files::write::atomically;
use serde_json::json;
use std::path::PathBuf;

/// The policy in whose episodes the encoder sees worlds.
const POLICY: &str = "tqc";

/// Arguments of `images`.
#[derive(Debug, Args)]
pub struct Images {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Train the encoder of patches on frames of worlds
    Train(Train),
    /// Fit a network that expects the next picture, and keep it as a file
    Fit(fit::Fit),
    /// Play episodes before the camera and score them with a fitted network
    Score(score::Score),
}

/// Arguments of `images train`.
#[derive(Debug, Args)]
struct Train {
    /// Worlds whose frames are seen, with commas between; each needs a policy that is shipped with it
    #[arg(long, value_name = "ENVS", value_delimiter = ',', required = true)]
    envs: Vec<String>,
    /// Nominal episodes of each world
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    episodes: u32,
    /// Patches in all
    #[arg(long, default_value_t = 300_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    patches: u32,
    /// Passes over the patches
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    epochs: u32,
    /// The file to write
    #[arg(long, value_name = "FILE.safetensors")]
    file: PathBuf,
}

impl Images {
    /// Runs the command within.
    ///
    /// # Errors
    /// If a world or its policy cannot be had, or the file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        match &self.what {
            What::Train(train) => train.run(common),
            What::Fit(fit) => fit.run(common),
            What::Score(score) => score.run(common),
        }
    }
}

impl Train {
    fn run(&self, common: &Common) -> Result<Outcome> {
        for env in &self.envs {
            ensure!(
                policies::is_shipped(POLICY, env)?,
                "world {env}: expected a shipped policy {POLICY}, found none"
            );
        }
        let plan = Plan {
            worlds: self.envs.iter().map(|env| (env.clone(), POLICY.into())).collect(),
            episodes: self.episodes as usize,
            patches: self.patches as usize,
            epochs: self.epochs as usize,
        };
        let (coder, loss) = encoder::train(&plan, &common.context())?;
        atomically(&self.file, &coder.to_tensors().to_bytes())?;
        // The loss is of numbers from −½ to ½; levels of a picture go to 255.
        let levels = 255.0 * loss.sqrt();
        if common.json {
            println!("{:#}", json!({ "file": self.file, "loss": loss, "error_in_levels": levels }));
        } else {
            println!("patches are drawn again to {levels:.1} of 255 levels (root mean square)");
            println!("{}", self.file.display());
        }
        Ok(Outcome::Done)
    }
}
