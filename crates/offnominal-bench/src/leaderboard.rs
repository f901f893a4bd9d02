//! The leaderboard: results of suites that anybody may submit, each checked, and ranked on one page.
//!
//! A submission is a folder with `about.toml` and, for each environment that was run, the two files that
//! `offnominal bench --suite` writes: `ENV.json` and `ENV.parquet` (or `.csv`). The folder's name is the submission's.
//! [`add`] makes such a folder, [`load`] reads and checks all of them, and [`page`] ranks the detectors.
//!
//! A submission is data from somebody else, so nothing in it is believed: `check` compares the digest of every file,
//! reads tables and provenance by their types, and insists on what every honest table has.

mod about;
mod add;
mod check;
mod page;

pub use about::{About, digests};
pub use add::{Added, Submit, add};
pub use page::page;

use crate::suite::{Environment, Row, Suite};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// A submission whose checks have passed.
#[derive(Debug)]
pub struct Submission {
    /// Name of its folder.
    pub name: String,
    /// What it says of itself.
    pub about: About,
    /// The environments that were run, in the order of the suite.
    pub environments: Vec<(Environment, Vec<Row>)>,
}

/// Reads and checks every submission in a folder, in the order of their names.
///
/// # Errors
/// If there is none, or one of them is wrong: the file, the row, what was expected and what was found.
pub fn load(folder: &Path) -> Result<Vec<Submission>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let entries = entries.collect::<Result<Vec<_>, _>>().with_context(|| folder.display().to_string())?;
    // What begins with a dot is in the making.
    let is_submission =
        |path: &PathBuf| path.is_dir() && path.file_name().is_none_or(|n| n.as_encoded_bytes()[0] != b'.');
    let mut folders: Vec<PathBuf> = entries.iter().map(|e| e.path()).filter(is_submission).collect();
    folders.sort();
    ensure!(!folders.is_empty(), "{}: expected a folder per submission, found none", folder.display());
    folders.iter().map(|path| submission(path)).collect()
}

fn submission(folder: &Path) -> Result<Submission> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
    ensure!(
        about::is_name(&name),
        "{}: expected a folder named with small letters, digits and -, found {name:?}",
        folder.display()
    );
    let about = About::load(folder)?;
    let suite = Suite::find(&about.suite).with_context(|| about::path(folder).display().to_string())?;
    let results = about.results(folder);
    about.compare(folder, &results)?;
    let environments = environments(suite, &results)?;
    Ok(Submission { name, about, environments })
}

/// The environments of a suite whose results are in a folder, checked.
fn environments(suite: &Suite, results: &Path) -> Result<Vec<(Environment, Vec<Row>)>> {
    let mut found = Vec::new();
    for env in suite.environments()? {
        let Some(environment) = Environment::load(results, &env)? else { continue };
        let rows = environment.rows(results)?;
        let table = offnominal_files::table::find(results, &env)?;
        check::provenance(suite, &environment)
            .with_context(|| format!("{env}.json in {}", results.display()))?;
        check::table(suite, &environment, &rows).with_context(|| table.display().to_string())?;
        found.push((environment, rows));
    }
    ensure!(
        !found.is_empty(),
        "{}: expected results of an environment of suite {}, which has {}; found none",
        results.display(),
        suite.id,
        suite.environments()?.join(", ")
    );
    Ok(found)
}
