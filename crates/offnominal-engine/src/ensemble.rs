//! One policy of several.

use crate::catalogues;
use crate::context::Context;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use offnominal_agents::Actor;
use offnominal_core::env::Env;
use offnominal_files::read;
use offnominal_files::write::atomically;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// Which policies become one.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Environment id (see `list envs`)
    #[arg(long)]
    pub env: String,
    /// Files of `train`: several seeds, or --checkpoints
    #[arg(value_name = "POLICY.safetensors", required = true)]
    pub members: Vec<PathBuf>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/ensemble")]
    pub out: PathBuf,
}

/// The policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ensemble {
    /// Its file.
    pub policy: PathBuf,
    /// How many members it has.
    pub members: usize,
}

impl Display for Ensemble {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} members", self.policy.display(), self.members)
    }
}

/// Reads the members and writes the policy.
///
/// # Errors
/// If a file is no policy for the environment, or the policies are not alike.
pub fn run(request: &Request, _: &Context) -> Result<Ensemble> {
    let env = catalogues::environment(&request.env, None)?;
    let policy = join(&request.members, env.as_ref())?;
    let path = request.out.join("policy.safetensors");
    atomically(&path, &policy.to_bytes())?;
    Ok(Ensemble { policy: path, members: policy.n_members() })
}

/// One policy of the files.
fn join(members: &[PathBuf], env: &dyn Env) -> Result<Actor> {
    let files = members.iter().map(|path| read::bytes(path)).collect::<Result<Vec<_>>>()?;
    apart(members, &files)?;
    let member = |(path, bytes): (&PathBuf, &Vec<u8>)| {
        Actor::from_bytes(bytes, env.spec()).with_context(|| path.display().to_string())
    };
    Ok(Actor::ensemble(members.iter().zip(&files).map(member).collect::<Result<_>>()?)?)
}

/// Refuses one policy twice: it would count double, and never disagree with itself.
fn apart(members: &[PathBuf], files: &[Vec<u8>]) -> Result<()> {
    for (i, file) in files.iter().enumerate() {
        if let Some(first) = files[..i].iter().position(|other| other == file) {
            let [first, again] = [first, i].map(|i| members[i].display());
            bail!("ensemble: expected policies that were trained apart, found {again} equal to {first}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_agents::{TrainConfig, Trainer};
    use offnominal_core::Seed;

    #[test]
    fn files_become_members_and_one_alone_is_refused() {
        let env = catalogues::environments().build("sap-goal0", &serde_json::json!({})).unwrap();
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
        std::fs::copy(&members[0], folder.path().join("copy.safetensors")).unwrap();
        for again in [members[0].clone(), folder.path().join("copy.safetensors")] {
            let twice = join(&[members[0].clone(), members[1].clone(), again], env.as_ref()).unwrap_err();
            assert!(
                twice.to_string().contains("equal to") && twice.to_string().contains("1.safetensors"),
                "{twice}"
            );
        }
        let missing = join(&[folder.path().join("4")], env.as_ref()).unwrap_err().to_string();
        assert!(missing.contains("cannot read"), "{missing}");
    }
}
