//! `import`: takes over policies of other programs.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use offnominal_engine::import::{Request, run};
use offnominal_engine::policies::others::Library;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// A model of Stable-Baselines3 or sb3-contrib; nothing in the file is executed
    Sb3(Sb3),
    /// A state dictionary of CleanRL; nothing in the file is executed
    Cleanrl(Cleanrl),
    /// A model of RSL-RL; nothing in the file is executed
    RslRl(RslRl),
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
    /// What `VecNormalize.save` wrote; by default the file beside the model that has its name or is called
    /// vec_normalize.pkl or vecnormalize.pkl; `none` if observations were not normalised
    #[arg(long, value_name = "VEC_NORMALIZE.pkl")]
    normalize: Option<PathBuf>,
    /// Frames that `VecFrameStack` stacked
    #[arg(long, value_name = "FRAMES")]
    stack: Option<NonZeroUsize>,
}

/// Arguments of `import cleanrl`.
#[derive(Debug, Args)]
struct Cleanrl {
    /// What the script saved
    #[arg(value_name = "EXP.cleanrl_model")]
    model: PathBuf,
    /// Environment in which it is to act (see `list envs`)
    #[arg(long)]
    env: String,
    /// Arrays `mean` and `var` of the wrapper that normalised observations in ppo_continuous_action; `none` without it
    #[arg(long, value_name = "FILE.npz")]
    normalize: Option<PathBuf>,
}

/// Arguments of `import rsl-rl`.
#[derive(Debug, Args)]
struct RslRl {
    /// What the runner saved
    #[arg(value_name = "model_N.pt")]
    model: PathBuf,
    /// Environment in which it is to act (see `list envs`)
    #[arg(long)]
    env: String,
    /// The function between its layers, by its name in torch.nn
    #[arg(long, default_value = "ELU")]
    activation: String,
}

impl Import {
    /// Reads the model, writes the policy and prints where.
    ///
    /// # Errors
    /// If a file cannot be read, holds no such policy, or the environment has other channels.
    pub fn run(self, common: &Common) -> Result<Outcome> {
        common.print(&run(&self.from.request(common.out_or("import")), &common.context())?)
    }
}

impl From {
    fn request(self, out: PathBuf) -> Request {
        let plain = |library, model, env, out| Request {
            library,
            model,
            env,
            normalize: None,
            stack: None,
            activation: None,
            out,
        };
        match self {
            From::Sb3(Sb3 { model, env, normalize, stack }) => {
                Request { normalize, stack, ..plain(Library::Sb3, model, env, out) }
            }
            From::Cleanrl(Cleanrl { model, env, normalize }) => {
                Request { normalize, ..plain(Library::Cleanrl, model, env, out) }
            }
            From::RslRl(RslRl { model, env, activation }) => {
                Request { activation: Some(activation), ..plain(Library::RslRl, model, env, out) }
            }
        }
    }
}
