//! `import`: takes over policies of other programs.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use offnominal_agents::Actor;
use offnominal_agents::sb3::{self, Model};
use offnominal_core::spec::EnvSpec;
use offnominal_engine::catalogues;
use offnominal_files::read;
use offnominal_files::write::atomically;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let From::Sb3(args) = &self.from;
        let env = catalogues::environment(&args.env, None)?;
        let policy = policy(&args.model, args.normalize.as_deref(), env.spec())?;
        let name = format!("{}-{}.safetensors", args.env, policy.algorithm());
        let path = common.out_or("import").join(name);
        atomically(&path, &policy.to_bytes())?;
        let algorithm = policy.algorithm();
        common.print_text(match common.json {
            true => format!("{:#}", json!({ "policy": path, "algorithm": algorithm, "env": args.env })),
            false => format!("{}: {algorithm} for {}", path.display(), args.env),
        })
    }
}

/// The policy in a model's file, with the statistics in another one if there are any.
fn policy(model: &Path, normalize: Option<&Path>, spec: &EnvSpec) -> Result<Actor> {
    let map = normalize
        .map(|path| sb3::read_normalisation(&read::bytes(path)?).with_context(|| path.display().to_string()))
        .transpose()?
        .flatten();
    let found = Model::read(&read::bytes(model)?).and_then(|m| m.actor(spec, map));
    found.with_context(|| model.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::env::Env;

    fn file(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../offnominal-agents/tests/sb3").join(name)
    }

    fn environment(id: &str) -> Box<dyn Env> {
        catalogues::environment(id, None).unwrap()
    }

    #[test]
    fn an_imported_policy_is_found_by_its_path() {
        let (pendulum, folder) = (environment("pendulum"), tempfile::tempdir().unwrap());
        let actor = policy(&file("sac.zip"), Some(&file("sac.pkl")), pendulum.spec()).unwrap();
        let path = folder.path().join("p.safetensors");
        atomically(&path, &actor.to_bytes()).unwrap();
        offnominal_engine::policies::find(path.to_str().unwrap(), pendulum.as_ref()).unwrap();
        policy(&file("dqn.zip"), None, environment("cartpole").spec()).unwrap();
    }

    #[test]
    fn what_does_not_fit_names_the_file() {
        let error = policy(&file("sac.zip"), None, environment("cartpole").spec()).err().unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("sac.zip: actions of cartpole: expected Choice(2), found Real"), "{error}");
        let error = policy(&file("none.zip"), None, environment("cartpole").spec()).err().unwrap();
        assert!(error.to_string().contains("cannot read"), "{error}");
    }
}
