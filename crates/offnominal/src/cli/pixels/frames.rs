//! `pixels frames`: camera frames of a world as a data set.

use crate::cli::Common;
use crate::cli::fault::FaultArgs;
use crate::cli::pixels::Outcome;
use anyhow::Result;
use clap::Args;
use offnominal_core::Seed;
use offnominal_engine::subject::Cast;
use offnominal_pixels::frames::Shots;
use serde_json::json;
use std::io::Write;

/// Arguments of `pixels frames`.
#[derive(Debug, Args)]
pub struct Frames {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the world, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    /// Number of episodes
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    episodes: u32,
    /// Steps from one frame to the next
    #[arg(long, default_value_t = 25, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Width and height of the frames in pixels
    #[arg(long, default_value_t = 128, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(16..=1024))]
    size: u16,
    /// Classes of the world that are unknown to a network, such as debris
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    unknown: Vec<String>,
    // Last, for the heading of its options would hold for those behind it.
    #[command(flatten)]
    fault: FaultArgs,
}

impl Frames {
    /// Plays the episodes, writes the frames, and prints where they are.
    ///
    /// # Errors
    /// If world, policy, anomaly or class cannot be had, or the folder exists or cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let cast = Cast::new(&self.env, &self.policy)?;
        let folder = common.out_or("frames");
        let shots = Shots {
            cast: &cast,
            fault: self.fault.fault(&cast)?,
            episodes: self.episodes as usize,
            every: self.every as usize,
            size: self.size.into(),
            unknown: self.unknown.clone(),
            seed: Seed(common.seed).child("frames"),
            context: &common.context(),
        };
        let n = shots.write(&folder)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{:#}", json!({ "folder": folder, "pictures": n }))?;
        } else {
            writeln!(out, "{}: {n} pictures", folder.display())?;
        }
        Ok(Outcome::Done)
    }
}
