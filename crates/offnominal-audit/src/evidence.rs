//! `evidence`: the results of a command as one file that somebody else can check with [`verify`](mod@crate::verify).
//!
//! A bundle is a zip archive with a *manifest*, the files of the results, and the inputs that the command names, such as a
//! policy or a predictor. The manifest has the command, the version, the seed and the SHA-256 of every file. With a key it
//! is signed (Ed25519, RFC 8032): who has the public key knows who made it, and that nothing was changed since.
//!
//! | file        | content                                                        |
//! |-------------|----------------------------------------------------------------|
//! | [`bundle`]  | the archive: written whole, read with limits                   |
//! | [`inputs`]  | the files that a command names                                 |
//! | [`key`]     | keys and signatures                                            |
//! | [`kind`]    | of which command a folder holds the results                    |

pub mod bundle;
pub mod inputs;
pub mod key;
pub mod kind;

use anyhow::{Context as _, Result, ensure};
use bundle::{Bundle, Manifest};
use clap::Args;
use key::SecretKey;
use kind::Kind;
use offnominal_engine::context::Context;
use offnominal_files::lock::Lock;
use offnominal_files::read;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Which results are put together.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Request {
    /// Folder of a finished `audit`, `bench`, `compare` or `risk estimate`
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// File of the secret key that signs the bundle
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The bundle
    #[arg(long, value_name = "FILE.zip", default_value = "evidence.zip")]
    pub out: PathBuf,
}

/// A bundle that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The bundle.
    pub bundle: PathBuf,
    /// The command that made the results.
    pub command: String,
    /// Files of the results.
    pub files: usize,
    /// Inputs that are in the bundle, by the name that the command has for them.
    pub inputs: Vec<String>,
    /// What the command needs and the bundle does not hold.
    pub outside: Vec<String>,
    /// Bytes of the bundle.
    pub bytes: u64,
    /// The public key by which it can be checked, if it is signed.
    pub signed_by: Option<String>,
}

/// Writes the bundle.
///
/// # Errors
/// If the folder holds no results that can be checked, a file cannot be read or written, or the key is none.
pub fn run(request: &Request, _: &Context) -> Result<Report> {
    let folder = &request.run;
    let kind = Kind::of(folder)?;
    let _held = Lock::folder(folder)?;
    let made = kind.made(folder)?;
    let key = request.key.as_deref().map(SecretKey::read).transpose()?;
    let command = inputs::words(&made.command)?;
    let found = inputs::found(&command, folder)?;
    let mut files = results(folder)?;
    let n = files.len();
    for (word, path) in &found.files {
        files.insert(bundle::input(word), read::bytes(path)?);
    }
    let inputs: Vec<String> = found.files.keys().cloned().collect();
    let manifest = Manifest::new(kind, made, &files, found.outside);
    let bundle = Bundle::new(manifest, files, key.as_ref())?;
    let bytes = bundle.write(&request.out)?;
    Ok(Report {
        bundle: request.out.clone(),
        command: bundle.manifest.made.command.clone(),
        files: n,
        inputs,
        outside: bundle.manifest.outside.clone(),
        bytes,
        signed_by: key.map(|key| key.public().to_string()),
    })
}

/// The files of a folder of results, by the name that they have in a bundle; nothing that only serves to go on.
fn results(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(at) = open.pop() {
        let cannot = || format!("cannot read {}", at.display());
        for entry in std::fs::read_dir(&at).with_context(cannot)? {
            let entry = entry.with_context(cannot)?.path();
            let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
            if name.starts_with('.') {
                continue;
            }
            if entry.is_dir() {
                open.push(entry);
            } else {
                let within = entry.strip_prefix(folder).expect("an entry is within its folder");
                files.insert(bundle::result(within), read::bytes(&entry)?);
            }
        }
    }
    ensure!(!files.is_empty(), "{}: expected files, found none", folder.display());
    Ok(files)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { bundle, command, files, inputs, outside, bytes, signed_by } = self;
        writeln!(f, "{command}")?;
        let megabytes = *bytes as f64 / 1e6;
        writeln!(f, "  {files} files of results and {} inputs, {megabytes:.1} MB", inputs.len())?;
        outside
            .iter()
            .try_for_each(|what| writeln!(f, "  not in the bundle, and needed to play again: {what}"))?;
        match signed_by {
            Some(key) => writeln!(f, "  signed; the public key is {key}")?,
            None => writeln!(
                f,
                "  not signed: changes are found only by those who know the digest of the bundle"
            )?,
        }
        writeln!(f, "written to {}", bundle.display())
    }
}
