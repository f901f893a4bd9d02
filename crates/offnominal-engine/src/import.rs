//! Policies of other programs.

use crate::catalogues;
use crate::context::Context;
use anyhow::{Context as _, Result};
use offnominal_agents::Actor;
use offnominal_agents::sb3::{self, Model};
use offnominal_core::spec::EnvSpec;
use offnominal_files::read;
use offnominal_files::write::atomically;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Which model of Stable-Baselines3 to import: TQC, SAC, TD3, DDPG or DQN with an MLP policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What `model.save` wrote; nothing in the file is executed.
    pub model: PathBuf,
    /// Environment in which it acts; its channels and bounds must be those of the model.
    pub env: String,
    /// What `VecNormalize.save` wrote, if observations were normalised.
    pub normalize: Option<PathBuf>,
    /// Folder for the policy.
    pub out: PathBuf,
}

/// An imported policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Its file.
    pub policy: PathBuf,
    /// The algorithm that trained it.
    pub algorithm: String,
    /// The environment in which it acts.
    pub env: String,
}

impl Display for Imported {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} for {}", self.policy.display(), self.algorithm, self.env)
    }
}

/// Reads the model and writes the policy.
///
/// # Errors
/// If a file cannot be read, holds no such policy, or the environment has other channels.
pub fn run(request: &Request, _: &Context) -> Result<Imported> {
    let env = catalogues::environment(&request.env, None)?;
    let policy = policy(&request.model, request.normalize.as_deref(), env.spec())?;
    let algorithm = policy.algorithm().to_string();
    let path = request.out.join(format!("{}-{algorithm}.safetensors", request.env));
    atomically(&path, &policy.to_bytes())?;
    Ok(Imported { policy: path, algorithm, env: request.env.clone() })
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
        crate::policies::find(path.to_str().unwrap(), pendulum.as_ref()).unwrap();
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
