//! The policies of the suite: trials of each method in each environment.
//!
//! They are in the data folder; the folder that `OFFNOMINAL_OOD_RL` names goes before. `agents/ood-rl/train.py` made
//! them.

use anyhow::{Context, Result, ensure};
use offnominal_agents::Actor;
use offnominal_engine::{catalogues, data};
use offnominal_files::store::hex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// What makes a policy disagree with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Passes with dropped units.
    Dropout,
    /// Passes with dropped weights.
    Dropconnect,
    /// Members that were trained apart.
    Ensemble,
    /// Such members, each with a fixed random network added to it.
    Prior,
    /// Passes with dropped units, of a policy that was trained with corrupted images too.
    AugmentedDropout,
    /// Passes with dropped weights, of such a policy.
    AugmentedDropconnect,
    /// Members that were trained apart, all of them with corrupted images too.
    AugmentedEnsemble,
}

/// All methods, in the order of the publication; those from the prior ensemble on are not in it.
pub const METHODS: [Method; 7] = [
    Method::Dropout,
    Method::Dropconnect,
    Method::Ensemble,
    Method::Prior,
    Method::AugmentedDropout,
    Method::AugmentedDropconnect,
    Method::AugmentedEnsemble,
];

/// The environments in which there are policies.
pub(super) const ENVIRONMENTS: [&str; 3] = ["cartpole", "pendulum", "pong"];

/// Trials of each method.
pub(super) const TRIALS: u32 = 5;

impl Method {
    /// Its name in files and tables of numbers.
    pub fn id(self) -> &'static str {
        match self {
            Method::Dropout => "dropout",
            Method::Dropconnect => "dropconnect",
            Method::Ensemble => "ensemble",
            Method::Prior => "prior",
            Method::AugmentedDropout => "augmented-dropout",
            Method::AugmentedDropconnect => "augmented-dropconnect",
            Method::AugmentedEnsemble => "augmented-ensemble",
        }
    }

    /// Its name in the publication, if it is there.
    pub fn title(self) -> &'static str {
        match self {
            Method::Dropout => "MC-Dropout",
            Method::Dropconnect => "MC-DropConnect",
            Method::Ensemble => "Ensemble",
            Method::Prior => "Prior ensemble",
            Method::AugmentedDropout => "MC-Dropout, augmented",
            Method::AugmentedDropconnect => "MC-DropConnect, augmented",
            Method::AugmentedEnsemble => "Ensemble, augmented",
        }
    }

    /// Whether the policy was trained with corrupted images too.
    pub fn is_augmented(self) -> bool {
        matches!(self, Method::AugmentedDropout | Method::AugmentedDropconnect | Method::AugmentedEnsemble)
    }
}

/// One trained policy.
pub struct Agent {
    /// The environment in which it was trained.
    pub env: &'static str,
    /// How it disagrees with itself.
    pub method: Method,
    /// Which of the trials, from 1.
    pub trial: u32,
    /// The policy.
    pub policy: Actor,
    /// SHA-256 of its file, in hexadecimal digits.
    pub digest: String,
}

/// The archive of the data folder that `agents/ood-rl/train.py` made.
const SHIPPED: &str = "ood-rl/policies.zip";

impl Agent {
    /// Every policy that is there, in the order of environments, methods and trials.
    ///
    /// # Errors
    /// If there is none, or a file cannot be read or is no policy of its environment.
    pub fn all() -> Result<Vec<Agent>> {
        let folder = std::env::var_os("OFFNOMINAL_OOD_RL").map(PathBuf::from);
        let mut found = Vec::new();
        for env in ENVIRONMENTS {
            for method in METHODS {
                for trial in 1..=TRIALS {
                    found.extend(Agent::find(folder.as_deref(), env, method, trial)?);
                }
            }
        }
        let place = folder.map_or(SHIPPED.into(), |f| f.display().to_string());
        ensure!(
            !found.is_empty(),
            "expected policies such as cartpole-dropout-1.safetensors in {place}, found none"
        );
        Ok(found)
    }

    fn find(folder: Option<&Path>, env: &'static str, method: Method, trial: u32) -> Result<Option<Agent>> {
        let name = format!("{env}-{}-{trial}", method.id());
        let Some(bytes) = read(folder, &name)? else { return Ok(None) };
        let environment = catalogues::environments().build(env, &json!({}))?;
        let policy =
            Actor::from_bytes(&bytes, environment.spec()).with_context(|| format!("policy {name}"))?;
        ensure!(
            policy.n_predictions() > 1,
            "policy {name}: expected one that disagrees with itself, found a plain one"
        );
        Ok(Some(Agent { env, method, trial, policy, digest: hex(&Sha256::digest(&bytes)) }))
    }
}

/// The file of a policy, if it is there.
fn read(folder: Option<&Path>, name: &str) -> Result<Option<Vec<u8>>> {
    let file = format!("{name}.safetensors");
    let Some(folder) = folder else { return shipped(&file) };
    let path = folder.join(file);
    path.exists().then(|| offnominal_files::read::bytes(&path)).transpose()
}

/// A file of the archive in the data folder.
fn shipped(file: &str) -> Result<Option<Vec<u8>>> {
    let path = data::path(SHIPPED)?;
    let cannot = || format!("cannot read {}", path.display());
    let mut archive = ZipArchive::new(File::open(&path).with_context(cannot)?).with_context(cannot)?;
    let mut found = match archive.by_name(file) {
        Ok(found) => found,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(e) => return Err(e.into()),
    };
    let mut bytes = Vec::new();
    found.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
