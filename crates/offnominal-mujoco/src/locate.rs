//! Where the library comes from: the first of four places that has it.
//!
//! 1. The file named by `$OFFNOMINAL_MUJOCO`; whoever sets it means it, so if that file is unusable, that is an error.
//! 2. The Python package `mujoco` of the right version, found without importing it.
//! 3. The cache folder.
//! 4. The published wheel, fetched by pip into the cache folder.

use crate::bindings::Api;
use crate::fetch::{self, Wheel};
use crate::library::open;
use crate::python;
use crate::{MujocoError, VERSION};
use std::ffi::OsString;
use std::path::PathBuf;

/// Where to look; a value, so that the look-up can be tried on other places than those of the process.
#[derive(Debug, Clone)]
pub struct Places {
    /// The library that the user names.
    pub named: Option<PathBuf>,
    /// The Python interpreter to ask, and whose pip fetches.
    pub python: PathBuf,
    /// The folder that keeps a fetched library.
    pub cache: Option<PathBuf>,
}

impl Places {
    /// The places of this process: `$OFFNOMINAL_MUJOCO`, the Python that `$OFFNOMINAL_PYTHON` names or else `python3`,
    /// and the user's cache folder.
    pub fn of_process() -> Places {
        Places::of(|name| std::env::var_os(name))
    }

    /// The places of a process with these environment variables. The Python package names its own interpreter, so that the
    /// package `mujoco` beside it is found whether or not its virtual environment is on the path.
    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Places {
        let variable = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
        let cache = cache.or_else(|| variable("LOCALAPPDATA"));
        Places {
            named: variable("OFFNOMINAL_MUJOCO"),
            python: variable("OFFNOMINAL_PYTHON").unwrap_or_else(|| PYTHON.into()),
            cache: cache.map(|folder| folder.join("offnominal")),
        }
    }
}

/// What Python is called; on Windows there is no `python3`.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// Opens the library from the first place that has it.
pub(crate) fn find(places: &Places, progress: &mut dyn FnMut(&str)) -> Result<Api, MujocoError> {
    if let Some(path) = &places.named {
        progress(&format!("using {}, named by OFFNOMINAL_MUJOCO", path.display()));
        return open(path).map_err(|e| MujocoError::Named(Box::new(e)));
    }
    let mut tried = vec!["OFFNOMINAL_MUJOCO is not set".to_string()];
    let steps: [Step; 3] = [in_python, in_cache, fetched];
    for step in steps {
        match step(places, progress) {
            Ok(api) => return Ok(api),
            Err(reason) => tried.push(reason),
        }
    }
    Err(MujocoError::NotFound(tried))
}

/// The place that has the library, in words; nothing is fetched.
pub(crate) fn present(places: &Places) -> Result<String, String> {
    if let Some(path) = &places.named {
        return open(path).map(|_| path.display().to_string()).map_err(|why| why.to_string());
    }
    let python = || format!("the package of {}", places.python.display());
    let found = in_python(places, &mut |_| {}).map(|_| python());
    found.or_else(|why| match in_cache(places, &mut |_| {}) {
        Ok(_) => Ok("the cache folder".into()),
        Err(other) => Err(format!("{why}; {other}")),
    })
}

/// One place: the library, or why it is not there.
type Step = fn(&Places, &mut dyn FnMut(&str)) -> Result<Api, String>;

fn in_python(places: &Places, _: &mut dyn FnMut(&str)) -> Result<Api, String> {
    let python::Package { version, folder } = python::package(&places.python, "mujoco")?;
    if version != VERSION {
        return Err(format!("{} has the package mujoco {version}", places.python.display()));
    }
    let file = Wheel::of_this_machine().map_err(|e| e.to_string())?.file_name();
    open(&folder.join(file)).map_err(|e| e.to_string())
}

fn in_cache(places: &Places, _: &mut dyn FnMut(&str)) -> Result<Api, String> {
    let wheel = Wheel::of_this_machine().map_err(|e| e.to_string())?;
    let folder = places
        .cache
        .as_ref()
        .ok_or("no cache folder: none of XDG_CACHE_HOME, HOME and LOCALAPPDATA is set")?;
    let file = folder.join(wheel.file_name());
    if !file.exists() {
        return Err(format!("{} does not exist", file.display()));
    }
    open(&file).map_err(|e| e.to_string())
}

fn fetched(places: &Places, progress: &mut dyn FnMut(&str)) -> Result<Api, String> {
    let file = fetch::into_cache(places, progress).map_err(|e| e.to_string())?;
    open(&file).map_err(|e| e.to_string())
}

/// A shell script in the place of Python. A child process writes it: a file that this process has open for writing
/// while another test starts a child cannot be executed.
#[cfg(all(test, unix))]
pub(crate) fn fake_python(folder: &std::path::Path, script: &str) -> PathBuf {
    let path = folder.join("python3");
    let write = "printf '#!/bin/sh\n%s' \"$1\" > \"$0\" && chmod +x \"$0\"";
    let status = std::process::Command::new("sh").arg("-c").arg(write).arg(&path).arg(script).status();
    assert!(status.unwrap().success());
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere(folder: &std::path::Path) -> Places {
        Places { named: None, python: folder.join("no-python3"), cache: Some(folder.join("cache")) }
    }

    fn refusal(places: &Places) -> String {
        find(places, &mut |_| ()).err().expect("there is no library").to_string()
    }

    #[test]
    fn the_python_that_is_named_is_asked_and_its_package_is_taken() {
        let of = |set: &[(&str, &str)]| {
            Places::of(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        let named = of(&[("OFFNOMINAL_PYTHON", "/venv/bin/python"), ("HOME", "/home/me")]);
        assert_eq!(named.python, PathBuf::from("/venv/bin/python"));
        assert_eq!(named.cache, Some(PathBuf::from("/home/me/.cache/offnominal")));
        assert_eq!(of(&[("OFFNOMINAL_PYTHON", "")]).python, PathBuf::from(PYTHON));
        assert_eq!(of(&[]).cache, None);
    }

    #[test]
    fn a_bad_path_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("missing.so");
        let message = refusal(&Places { named: Some(named.clone()), ..nowhere(folder.path()) });
        let parts = ["OFFNOMINAL_MUJOCO: ", named.to_str().unwrap(), "pip install mujoco==3.17.0", "PyPI"];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }

    #[test]
    fn without_python_and_cache_the_three_ways_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = refusal(&nowhere(folder.path()));
        for way in ["OFFNOMINAL_MUJOCO", "pip install mujoco==3.17.0", "PyPI", "no-python3", "libmujoco"] {
            assert!(message.contains(way), "{way} is missing in: {message}");
        }
        assert!(!folder.path().join("cache").join("libmujoco.so.3.17.0").exists());
    }

    /// A Python that answers with the package of another version, and whose pip fails.
    #[cfg(unix)]
    #[test]
    fn a_package_of_another_version_and_a_failing_pip_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let python = fake_python(
            folder.path(),
            "if [ $# = 3 ]; then echo 3.2.6; echo /nowhere; exit 0; fi\n\
             echo 'ERROR: no network' >&2; exit 1\n",
        );
        let message = refusal(&Places { python, ..nowhere(folder.path()) });
        assert!(
            message.contains("package mujoco 3.2.6") && message.contains("ERROR: no network"),
            "{message}"
        );
    }
}
