//! `import`: takes over policies of other programs.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_engine::import::{Request, run};
use std::path::PathBuf;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// A model of Stable-Baselines3: TQC, SAC, TD3, DDPG or DQN with an MLP policy; nothing in the file is executed
    Sb3(Sb3),
}

/// Arguments of `import sb3`.
#[derive(Debug, Args)]
struct Sb3 {
    /// What `model.save` wrote
    #[arg(value_name = "MODEL.zip")]
    model: PathBuf,
    /// Environment in which it is to act (see `list envs`); its channels and bounds must be those of the model
    #[arg(long)]
    env: String,
    /// What `VecNormalize.save` wrote, if observations were normalised
    #[arg(long, value_name = "VEC_NORMALIZE.pkl")]
    normalize: Option<PathBuf>,
}

impl Import {
    /// Reads the model, writes the policy and prints where.
    ///
    /// # Errors
    /// If a file cannot be read, holds no such policy, or the environment has other channels.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        let From::Sb3(Sb3 { model, env, normalize }) = self.from;
        let out = common.out_or("import");
        common.print(&run(&Request { model, env, normalize, out }, &common.context())?)
    }
}
