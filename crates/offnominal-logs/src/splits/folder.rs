//! The folder of an environment: which splits it has.

use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use std::path::{Path, PathBuf};

/// The strengths of Anomaly-Gym from weak to strong; `light` is one of its code that the paper leaves out.
pub const STRENGTHS: [&str; 5] = ["tiny", "light", "medium", "strong", "extreme"];

/// The nominal splits: to learn from, for the threshold, and for false alarms.
const NOMINAL: [&str; 3] = ["train", "val", "test"];

/// Episodes with one anomaly at one strength.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The anomaly, as the folder calls it.
    pub anomaly: String,
    /// One of [`STRENGTHS`].
    pub strength: &'static str,
    /// Its folder.
    pub path: PathBuf,
}

/// The splits of an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The name of the folder.
    pub env: String,
    /// `train`, `val` and `test`.
    pub nominal: [PathBuf; 3],
    /// The others, by anomaly and strength.
    pub anomalous: Vec<Split>,
}

impl Folder {
    /// Finds the splits of a folder. Files and hidden folders are passed over.
    ///
    /// # Errors
    /// If it cannot be read, lacks a split, or has one whose name says neither of which part nor of which anomaly it is.
    pub fn open(path: &Path) -> Result<Folder> {
        let names = folders(path).with_context(|| format!("folder {}", path.display()))?;
        split(path, &names).with_context(|| format!("folder {}", path.display()))
    }
}

/// The names of the folders within a folder, in order.
fn folders(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for item in std::fs::read_dir(path)? {
        let item = item?;
        let name = item.file_name().to_string_lossy().into_owned();
        if item.path().is_dir() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn split(path: &Path, names: &[String]) -> Result<Folder> {
    for wanted in NOMINAL {
        ensure!(
            names.iter().any(|name| name == wanted),
            "expected the split {wanted}, found {}",
            listed(names)
        );
    }
    let others = names.iter().filter(|name| !NOMINAL.contains(&name.as_str()));
    let mut anomalous = others.map(|name| anomaly(path, name)).collect::<Result<Vec<_>>>()?;
    ensure!(
        !anomalous.is_empty(),
        "expected splits ANOMALY_STRENGTH beside {}, found none",
        NOMINAL.join(", ")
    );
    let place = |split: &Split| STRENGTHS.iter().position(|&known| known == split.strength);
    anomalous.sort_by_key(|split| (split.anomaly.clone(), place(split)));
    let whole = path.canonicalize().unwrap_or_else(|_| path.into());
    let env = whole.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    Ok(Folder { env, nominal: NOMINAL.map(|name| path.join(name)), anomalous })
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "no folder".into(),
        names if names.len() > 8 => format!("{} and {} more", names[..8].join(", "), names.len() - 8),
        names => names.join(", "),
    }
}

/// What a split's name says.
fn anomaly(path: &Path, name: &str) -> Result<Split> {
    let Some((anomaly, strength)) = name.rsplit_once('_').filter(|(anomaly, _)| !anomaly.is_empty()) else {
        bail!("expected splits {} and ANOMALY_STRENGTH, found {name:?}", NOMINAL.join(", "));
    };
    let known = STRENGTHS.into_iter().find(|&known| known == strength);
    let strength = known.with_context(|| {
        let hint = did_you_mean(strength, STRENGTHS.into_iter());
        format!("split {name}: expected a strength of {}, found {strength:?}{hint}", STRENGTHS.join(", "))
    })?;
    Ok(Split { anomaly: anomaly.into(), strength, path: path.join(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Result<Folder> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        split(Path::new("cartpole"), &names)
    }

    #[track_caller]
    fn refuses(names: &[&str], want: &str) {
        assert_eq!(found(names).unwrap_err().to_string(), want);
    }

    #[test]
    fn splits_are_ordered_by_anomaly_and_strength() {
        let names = [
            "obs_noise_strong",
            "obs_noise_tiny",
            "action_offset_extreme",
            "test",
            "train",
            "val",
            "mass_light",
        ];
        let folder = found(&names).unwrap();
        let splits: Vec<(&str, &str)> =
            folder.anomalous.iter().map(|s| (s.anomaly.as_str(), s.strength)).collect();
        let want =
            [("action_offset", "extreme"), ("mass", "light"), ("obs_noise", "tiny"), ("obs_noise", "strong")];
        assert_eq!(splits, want);
        assert_eq!(folder.env, "cartpole");
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        refuses(
            &["train", "test", "obs_noise_tiny"],
            "expected the split val, found train, test, obs_noise_tiny",
        );
        refuses(&[], "expected the split train, found no folder");
        let nominal = ["test", "train", "val"];
        refuses(&nominal, "expected splits ANOMALY_STRENGTH beside train, val, test, found none");
        refuses(
            &[&nominal[..], &["obs_noise_stong"]].concat(),
            "split obs_noise_stong: expected a strength of tiny, light, medium, strong, extreme, found \"stong\"; did you mean \
             \"strong\"?",
        );
        refuses(
            &[&nominal[..], &["videos"]].concat(),
            "expected splits train, val, test and ANOMALY_STRENGTH, found \"videos\"",
        );
    }
}
