//! Policies of other programs.

use crate::catalogues;
use crate::context::Context;
use crate::policies::others::{self, Library, Other};
use anyhow::Result;
use clap::Args;
use offnominal_files::write::atomically;
use offnominal_work::cli::word_of;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Which policy of another library to import.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Library that wrote the policy; no code of it runs
    #[arg(value_parser = word_of::<Library>())]
    pub library: Library,
    /// File that the library saved
    pub model: PathBuf,
    /// Environment with the channels and bounds of the model
    #[arg(long)]
    pub env: String,
    /// Normalisation: file, or `none` (docs/howto/policies.md) [default: found beside the model]
    #[arg(long, value_name = "FILE")]
    pub normalize: Option<PathBuf>,
    /// sb3: frames of `VecFrameStack`
    #[arg(long, value_name = "FRAMES")]
    pub stack: Option<NonZeroUsize>,
    /// rsl-rl: activation, by its name in torch.nn [default: ELU]
    #[arg(long)]
    pub activation: Option<String>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "runs/import")]
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
    /// The statistics by which its observations are normalised.
    pub normalize: Option<PathBuf>,
}

impl Display for Imported {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} for {}", self.policy.display(), self.algorithm, self.env)?;
        match &self.normalize {
            Some(path) => write!(out, ", observations normalised by {}", path.display()),
            None => Ok(()),
        }
    }
}

/// Reads the model and writes the policy.
///
/// # Errors
/// If a file cannot be read, holds no such policy, or the environment has other channels.
pub fn run(request: &Request, _: &Context) -> Result<Imported> {
    let env = catalogues::environment(&request.env, None)?;
    let Other { taken, statistics, .. } =
        others::import(request.library, &request.model, request.options(), env.spec())?;
    let algorithm = taken.algorithm().to_string();
    let path = request.out.join(format!("{}-{algorithm}.safetensors", request.env));
    atomically(&path, &taken.to_bytes())?;
    Ok(Imported { policy: path, algorithm, env: request.env.clone(), normalize: statistics })
}

impl Request {
    /// What is said of the file.
    fn options(&self) -> BTreeMap<String, String> {
        let given = [
            ("normalize", self.normalize.as_ref().map(|path| path.display().to_string())),
            ("stack", self.stack.map(|n| n.to_string())),
            ("activation", self.activation.clone()),
        ];
        given.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn imported(name: &str, env: &str, out: &Path) -> Result<Imported> {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offnominal-agents/tests").join(name);
        let library = if name.ends_with("zip") { Library::Sb3 } else { Library::Cleanrl };
        let (env, out) = (env.into(), out.into());
        let (normalize, stack, activation) = (None, None, None);
        let request = Request { library, model, env, normalize, stack, activation, out };
        run(&request, &Context::silent(1, 1))
    }

    #[test]
    fn an_imported_policy_is_found_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let found = imported("sb3/sac.zip", "pendulum", folder.path()).unwrap();
        assert!(found.to_string().ends_with("sac.pkl"), "{found}");
        let pendulum = catalogues::environment("pendulum", None).unwrap();
        crate::policies::find(found.policy.to_str().unwrap(), pendulum.as_ref()).unwrap();
        assert_eq!(imported("sb3/dqn.zip", "cartpole", folder.path()).unwrap().algorithm, "dqn");
    }

    #[test]
    fn what_does_not_fit_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = imported("torch/dqn.cleanrl_model", "cartpole", folder.path()).err().unwrap();
        let error = format!("{error:#}");
        assert!(
            error.contains(
                "dqn.cleanrl_model: inputs of the first layer: expected 4, as an observation has, found 3"
            ),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = imported("sb3/none.zip", "cartpole", folder.path()).err().unwrap();
        assert!(error.to_string().contains("cannot read"), "{error}");
    }
}
