//! Policies by the names that results print: of a file its name and the beginning of its digest.
//!
//! Results hold no path, so the file is one that was opened in this process, or one of the current folder. Of each that was
//! opened, results have how it is played, if another program made it: [`Told`] is every result that is printed or handed to
//! Python, and [`played`] what made a result.

use super::place::{ENDINGS, Place};
use super::{KnownPolicy, read_file};
use crate::remarks;
use anyhow::Result;
use offnominal_core::spec::EnvSpec;
use offnominal_files::played::Played;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Digits of a digest in a name.
const DIGITS: usize = 8;

static OPENED: Mutex<BTreeMap<String, Opened>> = Mutex::new(BTreeMap::new());

/// A policy that was opened.
struct Opened {
    /// The name by which it was asked for.
    name: String,
    played: Option<Played>,
}

/// Keeps where the policy of a name was found and how it is played, which it says.
pub(super) fn remember(found: &KnownPolicy) {
    let (label, played) = (found.label(), found.played.clone());
    if let Some(played) = &played {
        remarks::say(format!("policy {label}: {played}"));
    }
    opened().insert(label, Opened { name: found.name.clone(), played });
}

/// How the policies of other programs with these printed names are played.
pub(crate) fn played(labels: impl Iterator<Item = String>) -> BTreeMap<String, Played> {
    let opened = opened();
    let of = |label: String| opened.get(&label)?.played.clone().map(|played| (label, played));
    labels.filter_map(of).collect()
}

/// A result, with how each policy of another program that it comes from was played: the key `played`. One that is no map has
/// no such key.
pub struct Told<'a, T> {
    found: &'a T,
    played: BTreeMap<String, Played>,
}

impl<'a, T: Serialize> Told<'a, T> {
    /// The result of a command: of all policies that were opened, or of those that its request names.
    pub fn new(found: &'a T, request: Option<&Value>) -> Told<'a, T> {
        let is_map = serde_json::to_value(found).is_ok_and(|value| value.is_object());
        let opened = opened();
        let is_named = |name: &str| request.is_none_or(|request| names(request, name));
        let of = |(label, one): (&String, &Opened)| {
            let named = is_named(&one.name) || is_named(label);
            Some((label.clone(), one.played.clone().filter(|_| is_map && named)?))
        };
        Told { found, played: opened.iter().filter_map(of).collect() }
    }
}

impl<T: Serialize> Serialize for Told<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Both<'a, T> {
            #[serde(flatten)]
            found: &'a T,
            played: &'a BTreeMap<String, Played>,
        }
        let Told { found, played } = self;
        if played.is_empty() { found.serialize(to) } else { Both { found, played }.serialize(to) }
    }
}

/// Whether a request has this name anywhere.
fn names(request: &Value, name: &str) -> bool {
    match request {
        Value::String(text) => text == name,
        Value::Array(all) => all.iter().any(|one| names(one, name)),
        Value::Object(all) => all.values().any(|one| names(one, name)),
        _ => false,
    }
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
    if let Some(opened) = opened().get(name) {
        return Ok(Some(opened.name.clone()));
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

fn opened() -> MutexGuard<'static, BTreeMap<String, Opened>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}
