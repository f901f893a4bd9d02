//! Nominal noise by name: `E?noise=LEVEL` is the environment `E` with the noise of a level or of a file.
//!
//! | level       | noise                                                                                   |
//! |-------------|-----------------------------------------------------------------------------------------|
//! | `none`      | none: the environment itself, bit for bit                                               |
//! | `datasheet` | what the datasheets of usual sensors and actuators say; the tables are in `noise/`      |
//! | `rough`     | cheap or badly mounted ones                                                             |
//! | a file      | a table of the same format; its digest becomes a part of the environment's id           |
//!
//! Policies, datasets and strengths are found by the parts of such an id: a policy is one of `E`, strengths are those of
//! `E` at that level.

mod embedded;
mod table;

pub use table::{Assigned, Jitter, NoiseTable, Sensor};

use anyhow::{Context, Result, bail, ensure};
pub use embedded::LEVELS;
use embedded::{SENSORS, WORLDS};
use offnominal_core::env::Env;
use offnominal_core::noisy::Noisy;
use offnominal_core::suggest::did_you_mean;
use offnominal_files::store::hex;
use offnominal_hosts::foreign;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::Path;

/// What stands in an id between the environment and the level.
const OPTION: &str = "?noise=";

/// The level without noise.
pub const NONE: &str = "none";

/// Digits of a digest in an id.
const DIGITS: usize = 12;

/// The environment and the level in an id; no level where there is no noise. The options of an environment of Gymnasium
/// are its own.
pub fn parts(id: &str) -> (&str, Option<&str>) {
    match id.split_once(OPTION).filter(|_| foreign::named(id).is_none()) {
        Some((env, level)) => (env, Some(level).filter(|l| *l != NONE)),
        None => (id, None),
    }
}

/// The id without its noise.
pub fn base(id: &str) -> &str {
    parts(id).0
}

/// The id of an environment at a level.
pub fn id(env: &str, level: Option<&str>) -> String {
    match level.filter(|l| *l != NONE) {
        Some(level) => format!("{env}{OPTION}{level}"),
        None => env.into(),
    }
}

/// The folder in which what belongs to a level is kept beside that without noise; of a file, its name and digest.
pub fn folder(level: &str) -> Cow<'_, str> {
    if LEVELS.contains(&level) {
        return level.into();
    }
    let name = Path::new(level).file_name().map_or(level.into(), |n| n.to_string_lossy());
    name.replace(|c: char| !(c.is_ascii_alphanumeric() || "-_.@".contains(c)), "-").into()
}

/// What stands for an id in the name of a file: the environment, and the folder of its level behind a hyphen.
pub fn file_name(id: &str) -> String {
    let (env, level) = parts(id);
    level.map_or(env.into(), |level| format!("{env}-{}", folder(level)))
}

/// Checks that a level is one of those that have tables, or a file.
///
/// # Errors
/// If it is neither; the nearest name is given.
pub fn check(level: &str) -> Result<()> {
    if level == NONE || LEVELS.contains(&level) || file(level).0.is_file() {
        return Ok(());
    }
    let known = || LEVELS.iter().copied().chain([NONE]);
    bail!(
        "noise: expected one of {} or a file, found {level:?}{}",
        known().collect::<Vec<_>>().join(", "),
        did_you_mean(level, known())
    )
}

/// The level as ids have it: a file with its digest.
///
/// # Errors
/// If there is no such level, or the file is wrong or is not the one that the level names.
pub fn canonical(level: &str) -> Result<String> {
    check(level)?;
    if level == NONE || LEVELS.contains(&level) { Ok(level.into()) } else { Ok(of_file(level)?.1) }
}

/// The environment with the noise of a level.
///
/// # Errors
/// If there is no such level for it, or the file is wrong or is not the one that the id names.
pub fn apply(env: Box<dyn Env>, level: &str) -> Result<Box<dyn Env>> {
    check(level)?;
    let world = env.spec().id.clone();
    let (table, level) = table(&world, level)?;
    let noise = table.resolve(env.spec()).with_context(|| format!("noise {level:?} of {world}"))?;
    let described = toml::to_string(&noise).context("noise as text")?;
    let about = format!("Nominal noise: {level} (SHA-256 {}).", short(described.as_bytes()));
    let noisy = Noisy::new(env, noise, &id(&world, Some(&level)), &about);
    Ok(Box::new(noisy.with_context(|| format!("noise {level:?} of {world}"))?))
}

/// The table of a level for an environment, and the level as an id has it.
fn table(world: &str, level: &str) -> Result<(NoiseTable, String)> {
    if !LEVELS.contains(&level) {
        return of_file(level);
    }
    let text = WORLDS.iter().find(|(l, env, _)| (*l, *env) == (level, world)).map(|(.., text)| *text);
    let text = text.with_context(|| {
        let known: Vec<&str> = WORLDS.iter().filter(|(l, ..)| *l == level).map(|(_, env, _)| *env).collect();
        format!(
            "noise: {world} has no table of level {level}; there are tables for {}; for others give a file: \
             {world}{OPTION}FILE.toml",
            known.join(", ")
        )
    })?;
    Ok((parse(text).with_context(|| format!("noise/{level}/{world}.toml"))?, level.into()))
}

/// A table with the sensors that every table knows.
pub fn parse(text: &str) -> Result<NoiseTable> {
    let known = NoiseTable::parse(SENSORS).context("noise/sensors.toml")?;
    NoiseTable::parse(text)?.with_sensors(&known)
}

/// The path in a level, and the digest that the file must have, if the level says so.
fn file(level: &str) -> (&Path, Option<&str>) {
    let is_digest = |d: &str| d.len() == DIGITS && d.bytes().all(|b| b.is_ascii_hexdigit());
    match level.rsplit_once('@').filter(|(_, digest)| is_digest(digest)) {
        Some((path, digest)) => (Path::new(path), Some(digest)),
        None => (Path::new(level), None),
    }
}

fn of_file(level: &str) -> Result<(NoiseTable, String)> {
    let (path, expected) = file(level);
    let text = offnominal_files::read::text(path)?;
    let found = short(text.as_bytes());
    ensure!(
        expected.is_none_or(|digest| digest == found),
        "{}: expected the noise file with the digest {}, found one with {found}: it was edited",
        path.display(),
        expected.unwrap_or_default()
    );
    let table = parse(&text).with_context(|| path.display().to_string())?;
    Ok((table, format!("{}@{found}", path.display())))
}

fn short(content: &[u8]) -> String {
    hex(&Sha256::digest(content))[..DIGITS].into()
}

#[cfg(test)]
mod tests;
