//! The policies that are tried: all that are in a folder or an archive, or one file.
//!
//! The name of a file says what it is: `hopper-td3-1.safetensors`, `hopper-sac-0.033-2.safetensors`.

use crate::data;
use anyhow::{Context, Result, ensure};
use offnominal_agents::Actor;
use offnominal_core::limits::BUNDLE_BYTES;
use offnominal_core::spec::EnvSpec;
use offnominal_files::read;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// A policy.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The stem of its file.
    pub name: String,
    /// The name without environment and seed: `td3`, `sac-0.033`.
    pub kind: String,
    /// The network.
    pub actor: Actor,
    /// SHA-256 of the file.
    pub digest: String,
}

/// The archive of the data folder.
const SHIPPED: &str = "shift/policies.zip";

/// What its policies return on the nominal body; embedded, so that they are listed where the archive is missing.
const RETURNS: &str = include_str!("../../../../agents/shift/agents.csv");

/// The policies for an environment: the shipped ones, or those at a path, in the order of their names.
///
/// # Errors
/// If there are none, or a file cannot be read or is of another environment's shape.
pub fn find(spec: &EnvSpec, path: Option<&Path>) -> Result<Vec<Agent>> {
    let (files, place) = match path {
        None => (unpacked(&data::read(SHIPPED)?)?, "the shipped policies".to_string()),
        Some(path) => (at(path)?, path.display().to_string()),
    };
    let own = |name: &str| name.strip_prefix(&spec.id).is_some_and(|rest| rest.starts_with('-'));
    let single = files.len() == 1;
    let found: Result<Vec<Agent>> = files
        .into_iter()
        .filter(|(name, _)| single || own(name))
        .map(|(name, bytes)| agent(spec, name, &bytes).with_context(|| place.clone()))
        .collect();
    let found = found?;
    ensure!(
        !found.is_empty(),
        "{place}: expected policies named {}-ALGORITHM-SEED.safetensors, found none",
        spec.id
    );
    Ok(found)
}

/// The shipped policies of an environment whose name, or whose name without environment and seed, is the given one.
///
/// # Errors
/// If there is such a policy, and the archive is missing or damaged.
pub fn shipped(spec: &EnvSpec, name: &str) -> Result<Option<Agent>> {
    let of_environment = |stem: &str| stem.strip_prefix(&spec.id).is_some_and(|rest| rest.starts_with('-'));
    let own = |stem: &str| of_environment(stem) && (stem == name || kind(&spec.id, stem) == name);
    if !list()?.iter().any(|(stem, _)| own(stem)) {
        return Ok(None);
    }
    let found = unpacked(&data::read(SHIPPED)?)?.into_iter().find(|(stem, _)| own(stem));
    found.map(|(stem, bytes)| agent(spec, stem, &bytes)).transpose()
}

/// Names and summaries of the shipped policies.
///
/// # Errors
/// If the table is damaged, which is a mistake of ours.
pub fn list() -> Result<Vec<(String, String)>> {
    let mut table = csv::Reader::from_reader(RETURNS.as_bytes());
    let line = |row: csv::StringRecord| {
        (row[0].to_string(), format!("return {} in its own body, {} steps of training", &row[1], &row[4]))
    };
    table.records().map(|row| Ok(line(row?))).collect()
}

fn agent(spec: &EnvSpec, name: String, bytes: &[u8]) -> Result<Agent> {
    let actor = Actor::from_bytes(bytes, spec).with_context(|| format!("policy {name}"))?;
    let digest = offnominal_files::store::hex(&Sha256::digest(bytes));
    Ok(Agent { kind: kind(&spec.id, &name), name, actor, digest })
}

/// The middle of a name: what stands between the environment and the seed.
fn kind(env: &str, name: &str) -> String {
    let rest = name.strip_prefix(env).and_then(|rest| rest.strip_prefix('-')).unwrap_or(name);
    match rest.rsplit_once('-') {
        Some((kind, seed)) if seed.bytes().all(|b| b.is_ascii_digit()) => kind.into(),
        _ => rest.into(),
    }
}

/// Names and contents of the policies at a path, by name.
fn at(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    if path.is_dir() {
        let listed = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut files: Vec<_> = listed.flatten().map(|f| f.path()).filter(|p| is_policy(p)).collect();
        files.sort();
        return files.iter().map(|p| Ok((stem(p), trusted(p)?))).collect();
    }
    if path.extension().is_some_and(|e| e == "zip") {
        return unpacked(&read::bytes(path)?).with_context(|| path.display().to_string());
    }
    Ok(vec![(stem(path), trusted(path)?)])
}

/// The content of a policy's file that is what was written.
fn trusted(path: &Path) -> Result<Vec<u8>> {
    let bytes = read::bytes(path)?;
    if super::card_beside(path, &bytes)?.is_none() {
        super::vouched::check(path, &bytes)?;
    }
    Ok(bytes)
}

fn is_policy(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "safetensors")
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned())
}

fn unpacked(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive =
        zip::ZipArchive::new(Cursor::new(bytes)).context("expected a zip archive of policies")?;
    let (mut files, mut left) = (Vec::new(), BUNDLE_BYTES);
    for i in 0..archive.len() {
        let mut file = archive.by_index(i)?;
        let path = file.name()?.into_owned();
        if is_policy(Path::new(&path)) {
            let content = read::unpacked(&mut file, left).with_context(|| path.clone())?;
            left -= content.len() as u64;
            files.push((stem(Path::new(&path)), content));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_policy_is_listed_and_acts_in_its_environment() {
        let listed: Vec<String> = list().unwrap().into_iter().map(|(name, _)| name).collect();
        let files: Vec<String> =
            unpacked(&data::read(SHIPPED).unwrap()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert!(listed == files && listed.len() >= 2, "{listed:?} {files:?}");
        let hopper = crate::catalogues::environments().build("hopper", &serde_json::json!({})).unwrap();
        assert_eq!(shipped(hopper.spec(), "td3").unwrap().unwrap().name, "hopper-td3-1");
        assert!(shipped(hopper.spec(), "half-cheetah-m-td3-1").unwrap().is_none());
    }

    #[test]
    fn names_say_what_a_policy_is() {
        assert_eq!(kind("hopper", "hopper-td3-12"), "td3");
        assert_eq!(kind("half-cheetah-m", "half-cheetah-m-sac-0.033-2"), "sac-0.033");
        assert_eq!(kind("hopper", "policy"), "policy");
    }
}
