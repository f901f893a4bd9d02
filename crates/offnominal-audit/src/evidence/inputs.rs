//! The files that a command names: policies, predictors, campaigns, tables of noise.

use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Files, by the word that names them.
    pub files: BTreeMap<String, PathBuf>,
    /// What is no file that could be in a bundle.
    pub outside: Vec<String>,
}

/// How words begin that name a program and no file.
const PROGRAMS: [&str; 3] = ["gymnasium:", "command:", "openpi:"];

/// The words of a command line.
///
/// # Errors
/// If a quotation has no end.
pub fn words(command: &str) -> Result<Vec<String>> {
    shlex::split(command).with_context(|| format!("command: expected words, found {command:?}"))
}

/// What the words of a command name, besides the folder of its results.
///
/// # Errors
/// If a file lies outside the folder in which the command is given: a bundle could not put it back.
pub fn found(command: &[String], results: &Path) -> Result<Found> {
    let mut found = Found::default();
    for word in command.iter().flat_map(|word| parts(word)) {
        let path = Path::new(word);
        if PROGRAMS.iter().any(|program| word.starts_with(program)) {
            found.outside.push(word.into());
        } else if path.is_file() {
            ensure!(
                is_within(path),
                "input {word}: expected a path below the folder in which the command is given, found another; give the \
                 command from a folder that holds its inputs"
            );
            let with = companions(path).into_iter().filter(|path| path.is_file());
            let named = |path: PathBuf| (path.display().to_string(), path);
            found.files.extend(with.map(named).chain([(word.to_string(), path.to_path_buf())]));
        } else if path.is_dir() && path != results && word != "." {
            found.outside.push(format!("folder {word}"));
        }
    }
    Ok(found)
}

/// What may lie beside a file and is read with it: the card of a policy, the digests of a folder, tensors of ONNX.
fn companions(path: &Path) -> [PathBuf; 3] {
    let tensors = format!("{}.data", path.display());
    [path.with_extension("json"), path.with_file_name("SHA256SUMS"), tensors.into()]
}

/// A word, and what stands in it behind `=`, as the table of noise in `driving?noise=FILE&x=1`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let behind =
        word.split(['?', '&']).skip(1).filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
    let behind = behind.map(|value| value.split('@').next().unwrap_or(value));
    std::iter::once(word).chain(behind)
}

/// Whether a path stays below where it begins.
pub fn is_within(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The word behind an option of a command.
pub fn option<'w>(command: &'w [String], name: &str) -> Option<&'w str> {
    let at = command.iter().position(|word| word == name)?;
    command.get(at + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_in_an_environment_and_quoted_words_are_seen() {
        let words =
            words("offnominal risk fork --env 'driving?noise=a/b.toml@12&x=1' --policy \"p q\"").unwrap();
        assert_eq!(words.len(), 7);
        assert_eq!(parts(&words[4]).collect::<Vec<_>>(), [&*words[4], "a/b.toml", "1"]);
        assert_eq!((option(&words, "--policy"), option(&words, "--out")), (Some("p q"), None));
        assert!(super::words("offnominal 'x").is_err());
    }

    #[test]
    fn paths_that_leave_their_folder_are_known() {
        assert!(is_within(Path::new("a/b")) && is_within(Path::new("./a")));
        assert!(
            !is_within(Path::new("../a"))
                && !is_within(Path::new("/a"))
                && !is_within(Path::new("a/../../b"))
        );
    }
}
