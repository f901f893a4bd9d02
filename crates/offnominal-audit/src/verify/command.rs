//! The command that made results, given again in a process of its own.

use super::Request;
use crate::evidence::inputs::words;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// Variables that hold lists of folders in which programs and libraries look for code.
const LISTS: [&str; 5] = ["PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// Variables that name one folder.
const FOLDERS: [&str; 4] = ["HOME", "XDG_CACHE_HOME", "PYTHONUSERBASE", "OFFNOMINAL_DATA"];

/// Variables that name a program or a library: by a path, or by a name that is looked up elsewhere.
const CODE: [&str; 2] = ["OFFNOMINAL_PYTHON", "OFFNOMINAL_MUJOCO"];

/// Gives the command again, with the results as its output folder.
///
/// # Errors
/// If it is another command, or fails.
pub fn give(command: &str, request: &Request, (inputs, results): (&Path, &Path)) -> Result<()> {
    let words = words(command)?;
    let is_known = words.get(1).is_some_and(|word| ["audit", "bench", "compare"].contains(&word.as_str()));
    ensure!(is_known, "expected the command audit, bench or compare, found {command:?}");
    let mut process = process(&request.program)?;
    // The process stands among the files of somebody else: what is named from here must not be found there.
    process.envs(seen_from(&env::current_dir()?, |name| env::var_os(name))?);
    process.args(with_out(words, &results.display().to_string())).arg("--quiet");
    let ended = process.current_dir(inputs).output().context("cannot run this program")?;
    // An audit or a comparison that asks for more than was found ends with 1, and has done its work.
    let has_worked = matches!(ended.status.code(), Some(0 | 1));
    ensure!(has_worked, "{command}: {}", last_line(&ended.stderr));
    Ok(())
}

/// This program, in a process of its own that reads nothing; without words, the one that runs.
///
/// # Errors
/// If nothing says how it is started.
pub fn process(program: &[String]) -> Result<Command> {
    let words = if program.is_empty() { &own()? } else { program };
    let (program, first) = words.split_first().context("program: expected words, found none")?;
    let mut process = Command::new(path_from(&env::current_dir()?, OsStr::new(program)));
    // `-c` and `-m` of Python would look for modules among the inputs first.
    process.args(first).stdin(Stdio::null()).env("PYTHONSAFEPATH", "1");
    Ok(process)
}

/// The words that start the program that runs: the Python package says them, whose process is an interpreter.
fn own() -> Result<Vec<String>> {
    match env::var("OFFNOMINAL_PROGRAM").ok().as_deref().and_then(shlex::split) {
        Some(words) => Ok(words),
        None => Ok(vec![env::current_exe().context("the path of this program")?.display().to_string()]),
    }
}

/// The variables that are set, with paths that mean the same in any folder as they mean in `here`.
///
/// # Errors
/// If a list cannot be written so, as the folder's name holds what separates the entries.
fn seen_from(
    here: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Vec<(&'static str, OsString)>> {
    let set = |name: &'static str| Some((name, variable(name).filter(|value| !value.is_empty())?));
    let lists = LISTS.into_iter().filter_map(set).map(|(name, value)| {
        // An entry that is empty means the current folder.
        let whole = env::join_paths(env::split_paths(&value).map(|entry| here.join(entry)));
        whole
            .map(|whole| (name, whole))
            .with_context(|| format!("{name}: cannot say it from {}", here.display()))
    });
    let folders =
        FOLDERS.into_iter().filter_map(set).map(|(name, value)| Ok((name, OsString::from(here.join(value)))));
    let code = CODE.into_iter().filter_map(set).map(|(name, value)| Ok((name, path_from(here, &value))));
    lists.chain(folders).chain(code).collect()
}

/// A path as it is meant in a folder; a mere name stays one, and is looked up where programs and libraries are.
fn path_from(here: &Path, word: &OsStr) -> OsString {
    match Path::new(word).components().count() {
        1 => word.into(),
        _ => here.join(word).into(),
    }
}

/// The arguments of a command with another output folder.
fn with_out(words: Vec<String>, out: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut words = words.into_iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--out" => drop(words.next()),
            _ if word.starts_with("--out=") => {}
            _ => arguments.push(word),
        }
    }
    arguments.extend(["--out".into(), out.into()]);
    arguments
}

/// The last line that a process said.
pub fn last_line(said: &[u8]) -> String {
    String::from_utf8_lossy(said).lines().last().unwrap_or("it ended without a word").to_string()
}

/// A result without what made it: the command has the folder of the results.
///
/// # Errors
/// If it is no object.
pub fn without_origin(text: &[u8]) -> Result<Value> {
    let mut value: Value = serde_json::from_slice(text)?;
    value.as_object_mut().context("expected an object")?.remove("made");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_leads_into_the_folder_of_the_inputs() {
        let here = Path::new("/here");
        let set = |name: &str| match name {
            "OFFNOMINAL_PYTHON" => Some("python3".into()),
            "OFFNOMINAL_MUJOCO" => Some("lib/libmujoco.so".into()),
            "HOME" => Some("home".into()),
            "XDG_CACHE_HOME" => Some("".into()),
            "PATH" | "PYTHONPATH" | "LD_LIBRARY_PATH" => Some(":.:src:/usr/bin".into()),
            _ => None,
        };
        let found = seen_from(here, set).unwrap();
        let of = |name: &str| found.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
        for name in ["PATH", "PYTHONPATH", "LD_LIBRARY_PATH"] {
            let value = of(name).unwrap();
            assert!(env::split_paths(&value).all(|entry| entry.is_absolute()), "{name}: {value:?}");
            assert!(env::split_paths(&value).any(|entry| entry == here.join("src")), "{name}: {value:?}");
        }
        assert_eq!(of("OFFNOMINAL_PYTHON").unwrap(), "python3");
        assert_eq!(of("OFFNOMINAL_MUJOCO").unwrap(), "/here/lib/libmujoco.so");
        assert_eq!((of("HOME").unwrap(), of("XDG_CACHE_HOME")), ("/here/home".into(), None));
        assert!(seen_from(Path::new("/a:b"), set).is_err(), "no list says this folder");
    }

    #[test]
    fn a_program_is_the_one_of_the_folder_from_which_it_is_given() {
        let here = Path::new("/here");
        let of = |word: &str| path_from(here, OsStr::new(word));
        assert_eq!(
            (of("offnominal"), of("/a/b"), of("a/b")),
            ("offnominal".into(), "/a/b".into(), "/here/a/b".into())
        );
    }

    #[test]
    fn the_results_have_one_folder_however_the_command_names_another() {
        let given = with_out(words("offnominal audit --out=/etc --env x --out y").unwrap(), "r");
        assert_eq!(given, ["audit", "--env", "x", "--out", "r"]);
    }
}
