//! What requests have in common: ranges of numbers, policies by name, and an environment with what is drawn of it.

use crate::history::steps_in;
use anyhow::{Context as _, Result, ensure};
pub use offnominal_engine::request::within;
use offnominal_engine::scenario::ScenarioRequest;
use offnominal_engine::subject::Subject;
use offnominal_files::write;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Confidence level of intervals, if a request does not say it.
pub const LEVEL: f64 = 0.95;

/// Refuses a number that is not above zero, or above a limit.
///
/// # Errors
/// If it is not.
pub fn positive(name: &str, found: f64, most: f64) -> Result<()> {
    let holds = found > 0.0 && found <= most;
    ensure!(holds, "{name}: expected a number above 0, at most {most}, found {found}");
    Ok(())
}

/// Endings of the policies that a folder stands for: this program's, and those of Stable-Baselines3.
const ENDINGS: [&str; 2] = ["safetensors", "zip"];

/// All policies by name; a folder stands for the policies in it, ordered by the steps in their names, else by the alphabet.
///
/// # Errors
/// If a folder cannot be read, or has no policies; if there is no policy at all.
pub fn policies(named: &[String]) -> Result<Vec<String>> {
    ensure!(!named.is_empty(), "policies: expected at least 1, found none");
    let mut names = Vec::new();
    for name in named {
        if !Path::new(name).is_dir() {
            names.push(name.clone());
            continue;
        }
        let files = std::fs::read_dir(name).with_context(|| format!("cannot read {name}"))?;
        let paths = files.map(|f| Ok(f?.path())).collect::<std::io::Result<Vec<PathBuf>>>()?;
        let is_policy =
            |p: &&PathBuf| p.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending));
        let mut found: Vec<String> =
            paths.iter().filter(is_policy).map(|p| p.display().to_string()).collect();
        ensure!(!found.is_empty(), "{name}: expected .safetensors or .zip files, found none");
        found.sort_by_cached_key(|path| (steps_in(path), path.clone()));
        names.extend(found);
    }
    Ok(names)
}

/// The policies by name in a scenario of an environment.
///
/// # Errors
/// As [`policies`], or if one cannot be had.
pub fn subjects(scenario: &ScenarioRequest, env: &str, named: &[String]) -> Result<Vec<Subject>> {
    policies(named)?.iter().map(|name| scenario.subject(env, name)).collect()
}

/// Writes a value as JSON into a folder, if there is one.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write_json(folder: Option<&Path>, name: &str, value: &impl Serialize) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let text = format!("{:#}\n", serde_json::to_value(value)?);
    write::atomically(&folder.join(name), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkpoints_of_a_folder_come_in_the_order_of_their_steps() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["rl_model_2000_steps.zip", "rl_model_10000_steps.zip", "rl_model_vecnormalize_2000_steps.pkl"]
        {
            std::fs::write(folder.path().join(name), []).unwrap();
        }
        let found = policies(&[folder.path().display().to_string(), "random".into()]).unwrap();
        let names: Vec<&str> = found.iter().map(|path| path.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["rl_model_2000_steps.zip", "rl_model_10000_steps.zip", "random"]);
    }

    #[test]
    fn a_number_outside_its_range_is_named_with_the_range() {
        let error = within("episodes", 0, 1..=9).unwrap_err().to_string();
        assert_eq!(error, "episodes: expected 1 to 9, found 0");
        let error = positive("exponent", 9.0, 4.0).unwrap_err().to_string();
        assert_eq!(error, "exponent: expected a number above 0, at most 4, found 9");
        assert!(positive("rate", f64::NAN, 1.0).is_err() && positive("rate", 1.0, 1.0).is_ok());
    }
}
