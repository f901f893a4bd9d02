//! The files that a command names: policies, predictors, campaigns, tables of noise.

use anyhow::{Context as _, Result, ensure};
use offnominal_files::read;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputFiles {
    /// Files, by the word that names them.
    pub files: BTreeMap<String, PathBuf>,
    /// What is no file that could be in a bundle.
    pub outside: Vec<String>,
}

/// How words begin that name what runs and may hold spaces.
const PROGRAMS: [&str; 2] = ["gymnasium:", "command:"];

/// The words of a command line.
///
/// # Errors
/// If a quotation has no end.
pub fn words(command: &str) -> Result<Vec<String>> {
    shlex::split(command).with_context(|| format!("command: expected words, found {command:?}"))
}

/// What the words of a command name, besides the folder of its results, and what TOML files among it name in turn.
///
/// # Errors
/// If a file lies outside the folder in which the command is given: a bundle could not put it back.
pub fn found(command: &[String], results: &Path) -> Result<InputFiles> {
    let mut found = InputFiles::default();
    command.iter().flat_map(|word| parts(word)).try_for_each(|word| found.add(word, results))?;
    let tables: Vec<PathBuf> = found.files.values().filter(|path| is_toml(path)).cloned().collect();
    for path in tables {
        strings(&read::text(&path)?).iter().try_for_each(|word| found.add(word, results))?;
    }
    Ok(found)
}

impl InputFiles {
    fn add(&mut self, word: &str, results: &Path) -> Result<()> {
        let path = Path::new(word);
        if is_program(word) {
            self.outside.push(word.into());
        } else if path.is_file() {
            ensure!(
                is_within(path),
                "input {word}: expected a path below the folder in which the command is given, found another; give the \
                 command from a folder that holds its inputs"
            );
            let with = companions(path).into_iter().filter(|path| path.is_file());
            let named = |path: PathBuf| (path.display().to_string(), path);
            self.files.extend(with.map(named).chain([(word.to_string(), path.to_path_buf())]));
        } else if path.is_dir() && path != results && word != "." {
            self.outside.push(format!("folder {word}"));
        }
        Ok(())
    }
}

/// Whether a file is a campaign, a table of noise, or another text that may name files.
pub fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
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

/// Whether a word names something that runs: `gymnasium:ID`, `module:name`, `command:COMMAND`.
pub fn is_program(word: &str) -> bool {
    let begins = PROGRAMS.iter().any(|program| word.trim_start().starts_with(program));
    // Text with a colon has a space behind it; a module and its name have none.
    begins || word.contains(':') && !word.contains(char::is_whitespace) && !Path::new(word).is_file()
}

/// The strings of a TOML file; none, if it is none.
pub fn strings(text: &str) -> Vec<String> {
    let mut open: Vec<toml::Value> =
        text.parse::<toml::Table>().map(toml::Value::Table).into_iter().collect();
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            toml::Value::String(word) => found.push(word),
            toml::Value::Array(values) => open.extend(values),
            toml::Value::Table(table) => open.extend(table.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    found
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
            words("offnominal risk estimate --env 'driving?noise=a/b.toml@12&x=1' --policy \"p q\"").unwrap();
        assert_eq!(words.len(), 7);
        assert_eq!(parts(&words[4]).collect::<Vec<_>>(), [&*words[4], "a/b.toml", "1"]);
        assert_eq!((option(&words, "--policy"), option(&words, "--out")), (Some("p q"), None));
        assert!(super::words("offnominal 'x").is_err());
    }

    #[test]
    fn what_runs_is_known_in_a_command_and_in_a_campaign() {
        assert!(
            is_program("command:./a.sh") && is_program("pack.age:name") && is_program("gymnasium:X-v0?a=1")
        );
        assert!(is_program("command:sh -c x") && !is_program("proposal: backlash and delay"));
        assert!(!is_program("tqc") && !is_program("a/b.safetensors"));
        let mut found = strings("envs = [\"sap-goal0\"]\nseed = 1\n[[policy]]\nid = \"command:x\"");
        found.sort();
        assert_eq!(found, ["command:x", "sap-goal0"]);
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
