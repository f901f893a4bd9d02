//! `ensemble`: makes one policy of several that were trained apart, or kept on the way of one training.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_agents::Actor;
use offnominal_core::env::Env;
use offnominal_engine::catalogues;
use offnominal_files::write::atomically;
use serde_json::json;
use std::path::{Path, PathBuf};

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
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let env = catalogues::environments().build(&self.env, &json!({}))?;
        let policy = join(&self.members, env.as_ref())?;
        let path = common.out_or("ensemble").join("policy.safetensors");
        atomically(&path, &policy.to_bytes())?;
        let members = policy.n_members();
        common.print_text(match common.json {
            true => format!("{:#}", json!({ "policy": path, "members": members })),
            false => format!("{}: {members} members", path.display()),
        })
    }
}

/// One policy of the files.
fn join(members: &[PathBuf], env: &dyn Env) -> Result<Actor> {
    let read = |path: &PathBuf| member(path, env);
    Ok(Actor::ensemble(members.iter().map(read).collect::<Result<_>>()?)?)
}

fn member(path: &Path, env: &dyn Env) -> Result<Actor> {
    let bytes = offnominal_files::read::bytes(path)?;
    Actor::from_bytes(&bytes, env.spec()).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_agents::{TrainConfig, Trainer};
    use offnominal_core::Seed;

    #[test]
    fn files_become_members_and_one_alone_is_refused() {
        let env = catalogues::environments().build("sap-goal0", &json!({})).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = TrainConfig { hidden: vec![8], ..TrainConfig::for_env("sap-goal0") };
        let write = |seed: u64| {
            let path = folder.path().join(format!("{seed}.safetensors"));
            let run = Trainer::new(config.clone(), env.as_ref(), Seed(seed)).unwrap();
            std::fs::write(&path, run.actor().to_bytes()).unwrap();
            path
        };
        let members = [write(1), write(2), write(3)];
        assert_eq!(join(&members, env.as_ref()).unwrap().n_members(), 3);
        let lonely = join(&members[..1], env.as_ref()).unwrap_err().to_string();
        assert_eq!(lonely, "ensemble: expected at least two members, found 1");
        let missing = join(&[folder.path().join("4")], env.as_ref()).unwrap_err().to_string();
        assert!(missing.contains("cannot read"), "{missing}");
    }
}
