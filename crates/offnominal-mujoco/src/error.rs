//! What can go wrong with the library and with models.

use std::path::PathBuf;

/// Why the library or a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MujocoError {
    /// None of the places has the library; what was found in each, in the order in which they were tried.
    #[error(
        "MuJoCo {version} was not found:\n{}\n{}",
        list(.0),
        ways(),
        version = crate::VERSION
    )]
    NotFound(Vec<String>),
    /// The file that the user names cannot be used; what is wrong with it.
    #[error("OFFNOMINAL_MUJOCO: {}\n{}", .0, ways())]
    Named(Box<MujocoError>),
    /// A file is not a shared library that can be loaded.
    #[error("expected the MuJoCo library in {path}, but it cannot be loaded: {reason}")]
    Unloadable {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// A library is of another version.
    #[error("expected MuJoCo {expected} in {path}, found {found}")]
    WrongVersion {
        /// The file.
        path: PathBuf,
        /// The version that this crate is made for.
        expected: &'static str,
        /// The version of the file.
        found: String,
    },
    /// A model description is not valid, as MuJoCo says.
    #[error("the model is not valid: {0}")]
    InvalidModel(String),
    /// A model has nothing of that name.
    #[error("the model has no {kind} called {name:?}{}", offnominal_core::suggest::hint(.nearest))]
    UnknownName {
        /// What was looked for.
        kind: crate::ObjectType,
        /// The name that was given.
        name: String,
        /// The most similar name that exists.
        nearest: Option<String>,
    },
    /// MuJoCo itself raised an error; what it said.
    #[error("MuJoCo raised an error: {0}")]
    Engine(String),
}

/// Why the library was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No wheel is published for this machine.
    #[error("no wheel of MuJoCo is known for {arch} {os}")]
    UnknownPlatform {
        /// The operating system.
        os: &'static str,
        /// The processor.
        arch: &'static str,
    },
    /// There is no folder to keep the library in.
    #[error("no cache folder: none of XDG_CACHE_HOME, HOME and LOCALAPPDATA is set")]
    NoCacheFolder,
    /// pip could not be run, or failed.
    #[error("{python} -m pip download failed: {reason}")]
    Pip {
        /// The Python interpreter.
        python: String,
        /// What it said.
        reason: String,
    },
    /// The downloaded file is not the published one.
    #[error("{file}: expected SHA-256 {expected}, found {found}")]
    Checksum {
        /// The downloaded file.
        file: PathBuf,
        /// The published checksum.
        expected: &'static str,
        /// The checksum of the file.
        found: String,
    },
    /// The wheel is not an archive with the library in it.
    #[error("expected {member} in {file}: {source}")]
    Archive {
        /// The wheel.
        file: PathBuf,
        /// The path inside the wheel.
        member: &'static str,
        /// What is wrong with it.
        source: zip::result::ZipError,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl FetchError {
    /// Names the file that a system call failed on.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> FetchError {
        let path = path.to_path_buf();
        move |source| FetchError::Io { path, source }
    }
}

/// How a user can provide the library.
fn ways() -> String {
    format!(
        "provide it in one of three ways:\n  \
         1. set OFFNOMINAL_MUJOCO to the path of its shared library;\n  \
         2. install the Python package: python3 -m pip install mujoco=={};\n  \
         3. give python3 with pip access to PyPI (or a mirror) once; the library is then kept in the cache folder\n\
         (2 and 3 need OFFNOMINAL_MUJOCO not to be set)",
        crate::VERSION
    )
}

fn list(tried: &[String]) -> String {
    tried.iter().map(|t| format!("  - {t}")).collect::<Vec<_>>().join("\n")
}
