//! What a submission says of itself: `about.toml`.

use anyhow::{Context, Result, bail, ensure};
use offnominal_files::{read, store};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a file of a submission, at most: the largest table of ours has a hundredth of that.
const MOST_BYTES: u64 = 64 << 20;

/// What a submission says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The suite that was run.
    pub suite: String,
    /// Who submits.
    pub by: String,
    /// The day of the submission, `YYYY-MM-DD`.
    pub date: String,
    /// What is new in it, in a sentence.
    pub about: String,
    /// Where the detectors' code can be had.
    pub code: String,
    /// The folder of the results, if it is not that of this file, from which it is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<PathBuf>,
    /// SHA-256 of each file of the results.
    pub files: BTreeMap<String, String>,
}

/// The file in the folder of a submission.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("about.toml")
}

/// Whether a word can name a submission.
pub(super) fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() <= 64 && text.chars().all(allowed)
}

impl About {
    /// Reads the file of a submission.
    ///
    /// # Errors
    /// If it is not there, or a field is missing, unknown or unfit for a page.
    pub fn load(folder: &Path) -> Result<About> {
        let path = path(folder);
        let about: About = toml::from_str(&read::text(&path)?).with_context(|| path.display().to_string())?;
        about.check().with_context(|| path.display().to_string())?;
        Ok(about)
    }

    /// Checks what stands on the page.
    pub(super) fn check(&self) -> Result<()> {
        for (field, text) in [("by", &self.by), ("about", &self.about), ("code", &self.code)] {
            let n = text.chars().count();
            ensure!((1..=200).contains(&n), "{field}: expected 1 to 200 characters, found {n}");
            let odd = text.chars().find(|c| c.is_control() || "<>[]`|".contains(*c));
            ensure!(odd.is_none(), "{field}: expected plain text, found {:?}", odd.unwrap_or_default());
        }
        let is_digit =
            |(i, c): (usize, char)| if [4, 7].contains(&i) { c == '-' } else { c.is_ascii_digit() };
        let is_date = self.date.len() == 10 && self.date.chars().enumerate().all(is_digit);
        ensure!(is_date, "date: expected YYYY-MM-DD, found {:?}", self.date);
        Ok(())
    }

    /// The folder with the results.
    pub fn results(&self, folder: &Path) -> PathBuf {
        self.results.as_ref().map_or(folder.to_path_buf(), |results| folder.join(results))
    }

    /// Compares the digests of all files with those that are stated.
    pub(super) fn compare(&self, folder: &Path, results: &Path) -> Result<()> {
        let (about, found) = (path(folder), digests(results)?);
        for (name, expected) in &self.files {
            match found.get(name) {
                None => {
                    bail!("{}: expected the file {name}, which {} lists", results.display(), about.display())
                }
                Some(digest) if digest != expected => bail!(
                    "{}: expected SHA-256 {expected}, as {} says, found {digest}",
                    results.join(name).display(),
                    about.display()
                ),
                Some(_) => (),
            }
        }
        let unlisted = found.keys().find(|name| !self.files.contains_key(*name));
        ensure!(
            unlisted.is_none(),
            "{}: expected the digest of {} in [files], found none",
            about.display(),
            results.join(unlisted.map_or("", String::as_str)).display()
        );
        Ok(())
    }
}

/// SHA-256 of each result file in a folder.
///
/// # Errors
/// If one cannot be read, or is larger than a table can be.
pub fn digests(results: &Path) -> Result<BTreeMap<String, String>> {
    let entries = std::fs::read_dir(results).with_context(|| format!("cannot read {}", results.display()))?;
    let mut digests = BTreeMap::new();
    for entry in entries {
        let path = entry.with_context(|| results.display().to_string())?.path();
        let is_result = path.extension().is_some_and(|e| ["json", "parquet", "csv"].iter().any(|x| e == *x));
        if let (true, Some(name)) = (is_result, path.file_name().and_then(|name| name.to_str())) {
            digests.insert(name.to_string(), digest(&path)?);
        }
    }
    Ok(digests)
}

fn digest(path: &Path) -> Result<String> {
    let n = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    ensure!(n <= MOST_BYTES, "{}: expected at most {MOST_BYTES} bytes, found {n}", path.display());
    Ok(store::hex(&Sha256::digest(read::bytes(path)?)))
}
