//! Making a submission of the results in a folder.

use super::about::{About, digests, is_name, path};
use super::environments;
use crate::suite::Suite;
use anyhow::{Context, Result, ensure};
use offnominal_files::write::{self, FolderAside};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is submitted, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    /// The folder with the results of a suite.
    pub results: PathBuf,
    /// The suite.
    pub suite: String,
    /// Name of the submission: small letters, digits and `-`.
    pub name: String,
    /// Who submits.
    pub by: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// What is new in it, in a sentence.
    pub about: String,
    /// Where the detectors' code can be had.
    pub code: String,
    /// The folder of all submissions.
    pub submissions: PathBuf,
}

/// A submission that was made, and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    /// Its folder.
    pub folder: PathBuf,
    /// The environments in it.
    pub environments: Vec<String>,
}

/// Copies the results of a suite into a folder of their own, states their digests, and checks the whole. The folder
/// appears complete or not at all.
///
/// # Errors
/// If the folder is there already, a file cannot be copied, or a check fails.
pub fn add(request: &Submit) -> Result<Added> {
    let Submit { name, submissions, results, .. } = request;
    ensure!(is_name(name), "name: expected small letters, digits and -, found {name:?}");
    let folder = submissions.join(name);
    ensure!(!folder.exists(), "{}: expected no such submission, found one", folder.display());
    let suite = Suite::find(&request.suite)?;
    let checked = environments(suite, results)?;
    let aside = FolderAside::new(submissions)?;
    copy(suite, results, aside.path())?;
    let about = request.about(suite, digests(aside.path())?);
    about.check()?;
    write::atomically(&path(aside.path()), toml::to_string(&about)?.as_bytes())?;
    aside.put(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let environments = checked.into_iter().map(|(environment, _)| environment.env).collect();
    Ok(Added { folder, environments })
}

impl Submit {
    fn about(&self, suite: &Suite, files: BTreeMap<String, String>) -> About {
        About {
            suite: suite.id.into(),
            by: self.by.clone(),
            date: self.date.clone(),
            about: self.about.clone(),
            code: self.code.clone(),
            results: None,
            files,
        }
    }
}

/// Copies the files of each environment of the suite that is there.
fn copy(suite: &Suite, from: &Path, to: &Path) -> Result<()> {
    for env in suite.environments()? {
        let description = from.join(format!("{env}.json"));
        if !description.is_file() {
            continue;
        }
        for file in [description, offnominal_files::table::find(from, &env)?] {
            let name = file.file_name().expect("a file has a name");
            std::fs::copy(&file, to.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
        }
    }
    Ok(())
}

impl std::fmt::Display for Added {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.folder.display(), self.environments.join(", "))
    }
}
