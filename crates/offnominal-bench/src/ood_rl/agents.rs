//! The policies of the suite: trials of each method in each environment.
//!
//! They are in an archive of the repository, which releases do not bring; `OFFNOMINAL_OOD_RL` names the archive, or a folder of
//! other policies. `studies/ood-rl/train.py` made them.

use crate::ood_rl::environment::{self, ENVIRONMENTS};
use anyhow::{Context, Result, ensure};
use offnominal_agents::Actor;
use offnominal_core::env::Env;
use offnominal_core::limits::BUNDLE_BYTES;
use offnominal_engine::data;
use offnominal_files::read;
use offnominal_files::store::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Cursor;
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

/// The archive in the repository's folder `agents`,
const ARCHIVE: &str = "ood-rl/policies.zip";
/// and its SHA-256.
const DIGEST: &str = "b67b1e76f091e3e3a1198bd13d50c49d50ad5134f94a7bb694500b305701ab9e";

/// Where policies are read from.
enum Place {
    Folder(PathBuf),
    Archive(ZipArchive<Cursor<Vec<u8>>>),
}

impl Place {
    /// What the user names, or the archive of the repository.
    ///
    /// # Errors
    /// If the archive is not there, or is another one.
    fn find() -> Result<Place> {
        match std::env::var_os("OFFNOMINAL_OOD_RL").map(PathBuf::from) {
            Some(folder) if folder.is_dir() => Ok(Place::Folder(folder)),
            Some(archive) => Place::archive(&archive),
            None => Place::archive(&data::path(ARCHIVE).context(
                "the policies of the suite ood-rl are not in releases: set OFFNOMINAL_OOD_RL to a copy of the repository's \
                 agents/ood-rl/policies.zip, or to a folder with policies of your own",
            )?),
        }
    }

    fn archive(path: &Path) -> Result<Place> {
        let bytes = read::bytes(path)?;
        let found = hex(&Sha256::digest(&bytes));
        ensure!(found == DIGEST, "{}: expected the SHA-256 {DIGEST}, found {found}", path.display());
        let cannot = || format!("cannot read {}", path.display());
        Ok(Place::Archive(ZipArchive::new(Cursor::new(bytes)).with_context(cannot)?))
    }

    /// The file of a policy, if it is there.
    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let file = format!("{name}.safetensors");
        let archive = match self {
            Place::Folder(folder) => {
                let path = folder.join(file);
                return path.exists().then(|| read::bytes(&path)).transpose();
            }
            Place::Archive(archive) => archive,
        };
        let found = match archive.by_name(&file) {
            Ok(found) => found,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        Ok(Some(read::unpacked(found, BUNDLE_BYTES)?))
    }
}

/// The policies that are there.
pub struct Agents {
    /// In the order of environments, methods and trials.
    pub found: Vec<Agent>,
    /// Environments that cannot be opened here, each with the reason.
    pub left_out: Vec<String>,
}

/// A policy's file.
struct Source {
    method: Method,
    trial: u32,
    name: String,
    bytes: Vec<u8>,
}

impl Agents {
    /// Every policy that is there.
    ///
    /// # Errors
    /// If there is none, or a file cannot be read or is no policy of its environment.
    pub fn all() -> Result<Agents> {
        let mut place = Place::find()?;
        let mut agents = Agents { found: Vec::new(), left_out: Vec::new() };
        for env in ENVIRONMENTS {
            let sources = Source::all(&mut place, env)?;
            if sources.is_empty() {
                continue;
            }
            match environment::open(env) {
                Ok(environment) => {
                    for source in sources {
                        agents.found.push(source.agent(env, environment.as_ref())?);
                    }
                }
                Err(e) => agents.left_out.push(format!("{env}: {e:#}")),
            }
        }
        ensure!(
            !agents.found.is_empty(),
            "OFFNOMINAL_OOD_RL: expected policies such as cartpole-dropout-1.safetensors, found none{}",
            agents.left_out.iter().map(|why| format!("; left out: {why}")).collect::<String>()
        );
        Ok(agents)
    }
}

impl Source {
    /// The policies of an environment.
    fn all(place: &mut Place, env: &str) -> Result<Vec<Source>> {
        let trials = METHODS.iter().flat_map(|method| (1..=TRIALS).map(move |trial| (*method, trial)));
        let mut found = Vec::new();
        for (method, trial) in trials {
            let name = format!("{env}-{}-{trial}", method.id());
            found.extend(place.read(&name)?.map(|bytes| Source { method, trial, name, bytes }));
        }
        Ok(found)
    }

    fn agent(self, env: &'static str, environment: &dyn Env) -> Result<Agent> {
        let Source { method, trial, name, bytes } = self;
        let policy =
            Actor::from_bytes(&bytes, environment.spec()).with_context(|| format!("policy {name}"))?;
        ensure!(
            policy.n_predictions() > 1,
            "policy {name}: expected one that disagrees with itself, found a plain one"
        );
        Ok(Agent { env, method, trial, policy, digest: hex(&Sha256::digest(&bytes)) })
    }
}
