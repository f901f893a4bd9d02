//! Calibrated magnitudes: how strong an anomaly must be to cost a policy a given share of its normalised score.
//!
//! One CSV per environment, `strengths/<env>.csv`, is embedded in the binary; with nominal noise, one per environment
//! and level, `strengths/<level>/<env>.csv`. `calibrate` writes others, which are found where it writes them, or where
//! the user says.

use crate::noise;
use crate::request::file_stem;
use crate::shipped_worlds::shipped_worlds;
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use offnominal_hosts::foreign;
use offnominal_worlds::anomaly::CAMERA;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use strum::IntoStaticStr;

/// The levels and the normalised scores that define them, from weak to strong.
pub const LEVELS: &[(&str, f64)] = &[("tiny", 0.99), ("medium", 0.90), ("strong", 0.75), ("extreme", 0.50)];

/// The folder into which `calibrate` writes unless another one is named.
pub const CALIBRATED: &str = "runs/calibrate";

macro_rules! embedded {
    ($folder:literal: $($env:literal),* $(,)?) => {
        &[$(($env, include_str!(concat!("../../../strengths/", $folder, $env, ".csv")))),*]
    };
}

/// The tables that travel with the binary: environment id and CSV text.
const EMBEDDED: &[(&str, &str)] = shipped_worlds!(embedded: "":);

/// The same with nominal noise of the level `datasheet`.
const DATASHEET: &[(&str, &str)] = embedded!["datasheet/":
    "car-lanekeep",
    "mjc-cartpole-swingup",
    "mjc-half-cheetah",
    "mjc-reacher3d",
    "sap-goal0",
    "sap-goal1",
    "sap-goal2",
    "urm-reach",
];

/// The same for camera faults, which no policy sees: their strengths are those of images.
const CAMERAS: &[(&str, &str)] = shipped_worlds!(embedded: "cameras/":);

/// The policy to which nothing is lost.
const RANDOM: &str = "random";

/// What stands in the column of the policy in the tables of cameras.
pub const CAMERA_POLICY: &str = "camera";

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Environment id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// Anomaly id.
    pub anomaly: String,
    /// `tiny`, `medium`, `strong` or `extreme`.
    pub level: String,
    /// The magnitude, if there is one.
    pub magnitude: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Normalised score at the magnitude.
    pub score: Option<f64>,
    /// Lower end of the score's interval.
    pub score_low: Option<f64>,
    /// Upper end of the score's interval.
    pub score_high: Option<f64>,
    /// Episodes spent on the calibration.
    pub episodes: u64,
    /// Whether the magnitude may be used.
    pub status: Status,
    /// The anomaly that this one is the same as.
    #[serde(default)]
    pub duplicate_of: Option<String>,
}

/// What calibration found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// The magnitude reaches the level.
    Found,
    /// No magnitude reaches the level.
    Unattainable,
    /// The anomaly changes nothing.
    NoOp,
    /// The anomaly is the same as another one.
    Duplicate,
    /// The search ended before the level was found.
    OutOfBudget,
    /// The level was found, but the score there is not known well enough to say so.
    Imprecise,
}

impl Status {
    /// Why there is a magnitude, or none, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Status::Found => "a magnitude was found",
            Status::Unattainable => "no magnitude costs the policy this share of its score",
            Status::NoOp => "the anomaly changes nothing there",
            Status::Duplicate => "the anomaly duplicates another one there",
            Status::OutOfBudget => {
                "the search ended before it found the magnitude; with more episodes it goes on"
            }
            Status::Imprecise => {
                "what the magnitude costs is not known well enough; with more episodes it is"
            }
        }
    }
}

/// The magnitude of a level; `from` is the table or the folder of tables in which it is looked for.
///
/// # Errors
/// If there is no table or no row for it, or the row says that there is no usable magnitude.
pub fn magnitude(env: &str, policy: &str, anomaly: &str, level: &str, from: Option<&Path>) -> Result<f64> {
    let row = lookup(env, policy, anomaly, level, from)?;
    match (row.status, row.magnitude) {
        (Status::Found, Some(magnitude)) => Ok(magnitude),
        (status, _) => bail!("{anomaly} at {level} of {policy} in {env}: {}", status.reason()),
    }
}

/// The row of a level, usable or not. Without a table that is named, those that travel with the binary are looked at
/// first, then what `calibrate` has written into its own folder.
///
/// # Errors
/// If the level is unknown, or there is no table or no row for it; the message names the files that were looked for.
pub fn lookup(env: &str, policy: &str, anomaly: &str, level: &str, from: Option<&Path>) -> Result<Strength> {
    check_level(level)?;
    let kind = Kind::of(anomaly);
    let simulator = foreign::simulator(env);
    let env = kind.env(&simulator);
    let is_any_policy = kind == Kind::Cameras;
    let is_it =
        |r: &Strength| (is_any_policy || r.policy == policy) && (&*r.anomaly, &*r.level) == (anomaly, level);
    let embedded = if from.is_none() { kind.embedded_rows(env)? } else { vec![] };
    if let Some(row) = embedded.into_iter().find(is_it) {
        return Ok(row);
    }
    ensure!(
        is_any_policy || policy != RANDOM || from.is_some(),
        "no strength of {anomaly} for the random policy: what costs others a share of their score costs it nothing; give a magnitude"
    );
    let file = kind.file(env, from);
    let rows = if file.is_file() { read(&file, env)? } else { vec![] };
    let place = place(&file, &rows);
    rows.into_iter().find(is_it).with_context(|| {
        let options = if is_any_policy { "--cameras".into() } else { format!("--policy {policy}") };
        format!(
            "no calibrated {level} strength of {anomaly} for {policy} in {env}: expected it in {place}. \
             `offnominal calibrate --env {} {options}` finds it; --strengths FILE names another table; or give a \
             magnitude",
            shell_word(env)
        )
    })
}

/// A file, and what it lacks.
fn place(file: &Path, rows: &[Strength]) -> String {
    let policies: BTreeSet<&str> = rows.iter().map(|row| row.policy.as_str()).collect();
    let policies: Vec<&str> = policies.into_iter().collect();
    let found = match (file.is_file(), policies.is_empty()) {
        (false, _) => "is not there".into(),
        (_, true) => "is empty".into(),
        _ => format!("has those of {}", policies.join(", ")),
    };
    format!("{}, which {found}", file.display())
}

/// The kinds of tables.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Strengths for a policy.
    Policies,
    /// Strengths of camera faults, for any policy; what a camera sees has no nominal noise.
    Cameras,
}

impl Kind {
    fn of(anomaly: &str) -> Kind {
        if anomaly.starts_with(CAMERA) { Kind::Cameras } else { Kind::Policies }
    }

    /// The environment of the tables.
    fn env(self, env: &str) -> &str {
        if self == Kind::Cameras { noise::base(env) } else { env }
    }

    fn embedded_rows(self, env: &str) -> Result<Vec<Strength>> {
        if self == Kind::Cameras { among(CAMERAS, env, env) } else { table(env) }
    }

    /// The table that is named, or that of the environment in the folder that is.
    fn file(self, env: &str, from: Option<&Path>) -> PathBuf {
        let folder = match from {
            Some(table) if !table.is_dir() => return table.into(),
            folder => folder.unwrap_or(Path::new(CALIBRATED)),
        };
        if self == Kind::Cameras { file(&folder.join("cameras"), env) } else { file(folder, env) }
    }
}

/// Checks the name of a level.
///
/// # Errors
/// If it does not exist; the nearest one is named.
pub fn check_level(level: &str) -> Result<()> {
    let known = || LEVELS.iter().map(|(name, _)| *name);
    if known().any(|name| name == level) {
        return Ok(());
    }
    let hint = did_you_mean(level, known());
    bail!("no strength is called {level:?}{hint}; there are: {}", known().collect::<Vec<_>>().join(", "))
}

/// All rows of an environment that travel with the binary; none if there are none.
///
/// # Errors
/// If the table is damaged; the message names the file and the line.
pub fn table(env: &str) -> Result<Vec<Strength>> {
    let (world, level) = noise::parts(env);
    let embedded = match level.map(noise::folder).as_deref() {
        None => EMBEDDED,
        Some("datasheet") => DATASHEET,
        Some(_) => &[],
    };
    among(embedded, world, env)
}

/// The rows of a world among tables that travel with the binary, for an environment's id.
fn among(embedded: &[(&str, &str)], world: &str, env: &str) -> Result<Vec<Strength>> {
    let embedded = embedded.iter().find(|(id, _)| *id == world);
    embedded.map_or(Ok(vec![]), |(_, text)| {
        parse(text, env).with_context(|| format!("embedded strengths of {env}"))
    })
}

/// The file of an environment's table in a folder of tables.
pub fn file(folder: &Path, env: &str) -> PathBuf {
    let env = foreign::simulator(env);
    let (world, level) = noise::parts(&env);
    let folder = level.map_or(folder.into(), |level| folder.join(&*noise::folder(level)));
    folder.join(format!("{}.csv", file_stem(world)))
}

/// An id as a word of a shell: one with an option has a question mark.
fn shell_word(id: &str) -> String {
    if id.contains('?') { format!("\"{id}\"") } else { id.into() }
}

fn read(file: &Path, env: &str) -> Result<Vec<Strength>> {
    let read = || parse(&offnominal_files::read::text(file)?, env);
    read().with_context(|| format!("strengths {}", file.display()))
}

fn parse(text: &str, env: &str) -> Result<Vec<Strength>> {
    let mut rows = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let row: Strength = row?;
        check(&row, env).with_context(|| format!("row {}", rows.len() + 1))?;
        rows.push(row);
    }
    Ok(rows)
}

fn check(row: &Strength, env: &str) -> Result<()> {
    ensure!(row.env == env, "env: expected {env}, found {:?}", row.env);
    check_level(&row.level)?;
    let usable = row.magnitude.is_some_and(f64::is_finite);
    ensure!(
        usable || row.status != Status::Found,
        "magnitude: expected a finite number, found {:?}",
        row.magnitude
    );
    Ok(())
}

#[cfg(test)]
mod tests;
