//! Policies by the names that results print: of a file its name and the beginning of its digest.
//!
//! Results hold no path, so the file is one that was opened in this process, or one of the current folder.

use super::place::{ENDINGS, Place};
use super::{Found, read_file};
use anyhow::Result;
use offnominal_core::spec::EnvSpec;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Digits of a digest in a name.
const DIGITS: usize = 8;

static OPENED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Keeps where the policy of a name was found.
pub(super) fn remember(found: &Found) {
    opened().insert(found.label(), found.name.clone());
}

/// The path of the policy whose printed name that is.
///
/// # Errors
/// If the current folder cannot be read.
pub(super) fn find(name: &str, spec: &EnvSpec) -> Result<Option<String>> {
    let Some((stem, digits)) = name.rsplit_once('-') else { return Ok(None) };
    let is_printed = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_printed {
        return Ok(None);
    }
    if let Some(path) = opened().get(name) {
        return Ok(Some(path.clone()));
    }
    for path in called(stem)? {
        let path = format!("./{}", path.display());
        let Some(place) = Place::find(&path)? else { continue };
        if read_file(&path, &place, spec).is_ok_and(|found| found.label() == name) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// The policies in the current folder whose names begin like that.
fn called(stem: &str) -> Result<Vec<PathBuf>> {
    let names = std::fs::read_dir(".")?.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())));
    let is_one = |path: &PathBuf| {
        path.file_stem().is_some_and(|s| s == stem)
            && path.extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known))
    };
    let mut found: Vec<PathBuf> = names.filter(is_one).collect();
    found.sort();
    Ok(found)
}

fn opened() -> MutexGuard<'static, BTreeMap<String, String>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}
