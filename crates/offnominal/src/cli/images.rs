//! `images`: what image detectors stand on.

mod fit;
mod score;

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_bench::images::encoder::{self, Request};
use std::path::PathBuf;

/// Arguments of `images`.
#[derive(Debug, Args)]
pub struct Images {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Train the encoder of patches on frames of environments
    Train(Train),
    /// Fit a network that predicts the next image, and write it as a file
    Fit(fit::Fit),
    /// Play episodes before the camera and score them with a fitted network
    Score(score::Score),
}

/// Arguments of `images train`.
#[derive(Debug, Args)]
struct Train {
    /// Environments whose frames are seen, with commas between; each needs a policy that is shipped with it
    #[arg(long = "env", value_name = "E,…", value_delimiter = ',', required = true)]
    envs: Vec<String>,
    /// Nominal episodes of each environment
    #[arg(long, default_value_t = Request::default().episodes, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    episodes: u32,
    /// Patches in all
    #[arg(long, default_value_t = Request::default().patches, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    patches: u32,
    /// Passes over the patches
    #[arg(long, default_value_t = Request::default().epochs, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    epochs: u32,
    /// The file to write
    #[arg(long, value_name = "FILE.safetensors")]
    file: PathBuf,
}

impl Images {
    /// Runs the command within.
    ///
    /// # Errors
    /// If an environment or its policy cannot be had, or the file cannot be written.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        match self.what {
            What::Train(train) => train.run(common),
            What::Fit(fit) => fit.run(common),
            What::Score(score) => score.run(common),
        }
    }
}

impl Train {
    fn run(self, common: &Common) -> Result<Outcome> {
        let Train { envs, episodes, patches, epochs, file } = self;
        let request = Request { envs, episodes, patches, epochs, file };
        common.print(&encoder::run(&request, &common.context())?)
    }
}
