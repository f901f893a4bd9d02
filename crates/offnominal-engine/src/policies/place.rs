//! Where the file of a policy is: a path, or a folder in the layout of a hub's cache, with options after a question mark.
//!
//! `models--ORG--NAME` in a cache has `refs/main`, which names a revision, and `snapshots/<revision>/<file>`. A path that
//! ends below the first one, such as `models--ORG--NAME/model.zip`, means the file of the revision `main`; the folder
//! itself means the only policy in it.

use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use offnominal_files::read;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// How the folder of a model in a hub's cache begins.
const MODELS: &str = "models--";

/// Endings of files that hold policies.
pub(super) const ENDINGS: &[&str] = &["safetensors", "onnx", "zip", "cleanrl_model", "pt"];

/// A file, and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    options: BTreeMap<String, String>,
}

impl Place {
    /// The file of that name; `None` if there is none.
    ///
    /// # Errors
    /// If options make no sense, or a folder of a hub holds no policy, or several.
    pub(super) fn find(name: &str) -> Result<Option<Place>> {
        if let Some(path) = resolved(Path::new(name))? {
            return Ok(Some(Place { path, options: BTreeMap::new() }));
        }
        let Some((name, query)) = name.rsplit_once('?') else { return Ok(None) };
        let Some(path) = resolved(Path::new(name))? else { return Ok(None) };
        let options = query.split('&').map(|part| {
            let (key, value) = part.split_once('=').with_context(|| {
                format!(
                    "policy {name}: expected options such as stack=4, found {part:?} after the question mark"
                )
            })?;
            Ok((key.to_string(), value.to_string()))
        });
        Ok(Some(Place { path, options: options.collect::<Result<_>>()? }))
    }

    /// A file with these options.
    pub(super) fn with(path: &Path, options: BTreeMap<String, String>) -> Place {
        Place { path: path.into(), options }
    }

    /// How its name ends, in small letters.
    pub(super) fn ending(&self) -> String {
        self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
    }

    /// The options, of which all must be known.
    ///
    /// # Errors
    /// Which is not.
    pub(super) fn options(&self, known: &[&str]) -> Result<&BTreeMap<String, String>> {
        let Some(other) = self.options.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(&self.options);
        };
        let place = self.path.display();
        if known.is_empty() {
            bail!("policy {place}: expected no option, found {other:?}");
        }
        let hint = did_you_mean(other, known.iter().copied());
        bail!("policy {place}: expected one of the options {}, found {other:?}{hint}", known.join(", "))
    }
}

/// The file that a path means.
fn resolved(path: &Path) -> Result<Option<PathBuf>> {
    if path.is_file() {
        return Ok(Some(path.into()));
    }
    let parts: Vec<Component<'_>> = path.components().collect();
    let is_model = |part: &Component<'_>| part.as_os_str().to_string_lossy().starts_with(MODELS);
    let Some(at) = parts.iter().rposition(is_model) else { return Ok(None) };
    let folder: PathBuf = parts[..=at].iter().collect();
    if !folder.is_dir() {
        return Ok(None);
    }
    let rest: PathBuf = parts[at + 1..].iter().collect();
    let snapshot = match parts.get(at + 1) {
        Some(part) if part.as_os_str() == "snapshots" => path.to_path_buf(),
        _ => snapshot(&folder)?.join(&rest),
    };
    if snapshot.is_file() {
        return Ok(Some(snapshot));
    }
    ensure!(
        snapshot.is_dir(),
        "policy {}: there is no such file in the revision {}",
        path.display(),
        snapshot.display()
    );
    only_policy(&snapshot).map(Some)
}

/// The folder of the revision `main`.
fn snapshot(folder: &Path) -> Result<PathBuf> {
    let file = folder.join("refs/main");
    let text = read::text(&file)?;
    let revision = text.trim();
    let is_plain = !revision.is_empty() && revision.chars().all(|c| c.is_ascii_alphanumeric());
    ensure!(is_plain, "{}: expected the name of a revision, found {revision:?}", file.display());
    Ok(folder.join("snapshots").join(revision))
}

/// The only file in a folder that holds a policy.
fn only_policy(folder: &Path) -> Result<PathBuf> {
    let there = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = there.filter_map(|item| Some(item.ok()?.path())).collect();
    found.retain(|path| {
        path.is_file() && path.extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known))
    });
    found.sort();
    match &found[..] {
        [only] => Ok(only.clone()),
        [] => bail!(
            "{}: expected a file that ends in one of {}, found none",
            folder.display(),
            ENDINGS.join(", ")
        ),
        several => {
            let names: Vec<_> =
                several.iter().filter_map(|path| path.file_name()).map(|n| n.to_string_lossy()).collect();
            bail!("{}: expected one policy, found {}; name one of them", folder.display(), names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
