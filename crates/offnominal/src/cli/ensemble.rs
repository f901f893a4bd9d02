//! `ensemble`: makes one policy of several that were trained apart, or kept on the way of one training.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use offnominal_engine::ensemble::{Request, run};
use std::path::PathBuf;

/// Arguments of `ensemble`.
#[derive(Debug, Args)]
pub struct Ensemble {
    /// Environment id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Files written by `train`, with different seeds or, by `--checkpoints`, at different steps
    #[arg(value_name = "POLICY.safetensors", required = true)]
    members: Vec<PathBuf>,
}

impl Ensemble {
    /// Reads the members, writes the policy and prints where.
    ///
    /// # Errors
    /// If a file is no policy for the environment, or the policies are not alike.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let Ensemble { env, members } = self;
        let out = common.out_or("ensemble");
        common.print(&run(&Request { env, members, out }, &common.context())?)
    }
}
