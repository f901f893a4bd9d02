//! The one loaded library of the process.
//!
//! A shared library is a process-wide thing, so here is the project's one global. It is loaded once and never
//! unloaded.

use crate::bindings::{Api, mjVERSION_HEADER};
use crate::locate::{self, Places};
use crate::{MujocoError, engine_log};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The version of MuJoCo that this crate is made for.
pub const VERSION: &str = "3.17.0";

static LOADED: OnceLock<Api> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

/// Makes sure that the library is loaded, fetching it if it has to be; `progress` receives a line per long action.
///
/// # Errors
/// If the library is nowhere to be found, or the file named by `$OFFNOMINAL_MUJOCO` cannot be used.
pub fn load(progress: &mut dyn FnMut(&str)) -> Result<(), MujocoError> {
    api(progress).map(drop)
}

/// Where the library is; it is not fetched.
///
/// # Errors
/// Why it is in none of the places, in words.
pub fn present() -> Result<String, String> {
    locate::present(&Places::of_process())
}

/// The functions of the library.
pub(crate) fn api(progress: &mut dyn FnMut(&str)) -> Result<&'static Api, MujocoError> {
    if let Some(api) = LOADED.get() {
        return Ok(api);
    }
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(api) = LOADED.get() {
        return Ok(api);
    }
    let api = locate::find(&Places::of_process(), progress)?;
    engine_log::install(&api);
    Ok(LOADED.get_or_init(|| api))
}

/// Opens one file and checks its version.
pub(crate) fn open(path: &Path) -> Result<Api, MujocoError> {
    let unloadable = |e| MujocoError::Unloadable { path: path.into(), reason: said(&e) };
    // SAFETY: running the initialisers of a library that the user, or the published wheel, provides is the purpose.
    let library = unsafe { libloading::Library::new(path) }.map_err(unloadable)?;
    // SAFETY: the function takes nothing and returns a C int in every version that has it.
    let version = unsafe {
        let version = library.get::<unsafe extern "C" fn() -> i32>(b"mj_version\0").map_err(unloadable)?;
        version()
    };
    if version != mjVERSION_HEADER as i32 {
        return Err(MujocoError::WrongVersion {
            path: path.into(),
            expected: VERSION,
            found: dotted(version),
        });
    }
    // SAFETY: the signatures were generated from the headers of exactly this version.
    unsafe { Api::from_library(library) }.map_err(unloadable)
}

/// What the system's loader said; the error itself only names the call that failed.
fn said(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The text of a version number: 3017000 is 3.17.0, and before 3.10 there was one digit each: 334 is 3.3.4.
fn dotted(version: i32) -> String {
    match version {
        1_000_000.. => format!("{}.{}.{}", version / 1_000_000, version / 1_000 % 1_000, version % 1_000),
        _ => format!("{}.{}.{}", version / 100, version / 10 % 10, version % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_numbers_are_read_in_both_forms() {
        assert_eq!((dotted(3_017_000), dotted(334)), ("3.17.0".into(), "3.3.4".into()));
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = open(file.path()).err().unwrap();
        let message = error.to_string();
        assert!(message.contains(file.path().to_str().unwrap()), "{message}");
        assert!(!message.contains("dlopen") && std::error::Error::source(&error).is_none(), "{message}");
    }

    /// Compiles a library that claims to be MuJoCo 3.3.4.
    #[cfg(target_os = "linux")]
    #[test]
    fn another_version_is_refused_with_both_versions() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("old.c"), folder.path().join("libold.so"));
        std::fs::write(&source, "int mj_version(void) { return 334; }").unwrap();
        let cc = std::process::Command::new("cc").arg("-shared").arg("-o").args([&library, &source]).status();
        assert!(cc.unwrap().success());
        let message = open(&library).err().unwrap().to_string();
        assert!(message.contains("expected MuJoCo 3.17.0") && message.ends_with("found 3.3.4"), "{message}");
    }
}
