//! Calibrated magnitudes: how strong an anomaly must be to cost a policy a given share of its normalised score.
//!
//! One CSV per environment, `strengths/<env>.csv`, is embedded in the binary; with nominal noise, one per environment
//! and level, `strengths/<level>/<env>.csv`. A folder named by the environment variable `OFFNOMINAL_STRENGTHS` takes the
//! place of the embedded tables, file by file.

use crate::noise;
use anyhow::{Context, Result, bail, ensure};
use offnominal_core::suggest::did_you_mean;
use offnominal_worlds::anomaly::CAMERA;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use strum::IntoStaticStr;

/// The levels and the normalised scores that define them, from weak to strong.
pub const LEVELS: &[(&str, f64)] = &[("tiny", 0.99), ("medium", 0.90), ("strong", 0.75), ("extreme", 0.50)];

/// Name of the environment variable with the folder that overrides the embedded tables.
pub const FOLDER: &str = "OFFNOMINAL_STRENGTHS";

macro_rules! embedded {
    ($folder:literal: $($env:literal),* $(,)?) => {
        &[$(($env, include_str!(concat!("../../../strengths/", $folder, $env, ".csv")))),*]
    };
}

/// The tables that travel with the binary: environment id and CSV text, in alphabetical order.
const EMBEDDED: &[(&str, &str)] = embedded!["":
    "car-lanekeep",
    "mjc-cartpole-swingup",
    "mjc-half-cheetah",
    "mjc-reacher3d",
    "sap-goal0",
    "sap-goal1",
    "sap-goal2",
    "urm-pnp",
    "urm-reach",
    "urr-reach",
];

/// The same with nominal noise of the level `datasheet`.
const DATASHEET: &[(&str, &str)] = embedded!["datasheet/":
    "mjc-cartpole-swingup",
    "mjc-reacher3d",
    "sap-goal0",
    "sap-goal1",
    "sap-goal2",
];

/// The same for camera faults, which no policy sees: their strengths are those of images.
const CAMERAS: &[(&str, &str)] = embedded!["cameras/":
    "car-lanekeep",
    "mjc-cartpole-swingup",
    "mjc-half-cheetah",
    "mjc-reacher3d",
    "sap-goal0",
    "sap-goal1",
    "sap-goal2",
    "urm-pnp",
    "urm-reach",
];

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
    fn reason(self) -> &'static str {
        match self {
            Status::Found => "a magnitude was found",
            Status::Unattainable => "no magnitude reaches this level",
            Status::NoOp => "the anomaly changes nothing there",
            Status::Duplicate => "the anomaly duplicates another one there",
            Status::OutOfBudget => "the search ended before the level was found",
            Status::Imprecise => "the score is not known well enough; calibrate with more episodes",
        }
    }
}

/// The magnitude of a level.
///
/// # Errors
/// If there is no table or no row for it, or the row says that there is no usable magnitude.
pub fn magnitude(env: &str, policy: &str, anomaly: &str, level: &str) -> Result<f64> {
    let row = lookup(env, policy, anomaly, level)?;
    match (row.status, row.magnitude) {
        (Status::Found, Some(magnitude)) => Ok(magnitude),
        (status, _) => bail!("{anomaly} at {level} of {policy} in {env}: {}", status.reason()),
    }
}

/// The row of a level, usable or not.
///
/// # Errors
/// If the level is unknown, or there is no table or no row for it.
pub fn lookup(env: &str, policy: &str, anomaly: &str, level: &str) -> Result<Strength> {
    check_level(level)?;
    if anomaly.starts_with(CAMERA) {
        return camera(env, anomaly, level);
    }
    let rows = table(env)?;
    let found = rows.iter().find(|r| (&*r.policy, &*r.anomaly, &*r.level) == (policy, anomaly, level));
    found.cloned().with_context(|| {
        format!(
            "no calibrated {level} strength of {anomaly} for {policy} in {env}; \
             `offnominal calibrate --env {} --policy {policy}` finds it, or give a magnitude",
            shell_word(env)
        )
    })
}

/// The row of a camera fault.
fn camera(env: &str, anomaly: &str, level: &str) -> Result<Strength> {
    // What a camera sees has no nominal noise.
    let rows = read(noise::base(env), "cameras/", CAMERAS)?;
    let found = rows.into_iter().find(|r| (&*r.anomaly, &*r.level) == (anomaly, level));
    found.with_context(|| {
        format!(
            "no calibrated {level} strength of {anomaly} in {env}; `offnominal calibrate --env {env} --cameras` finds it, \
             or give a magnitude"
        )
    })
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

/// All rows of an environment; none if it was never calibrated.
///
/// # Errors
/// If the table is damaged; the message names the file and the line.
pub fn table(env: &str) -> Result<Vec<Strength>> {
    match noise::parts(env).1.map(noise::folder) {
        None => read(env, "", EMBEDDED),
        Some(level) => read(env, &format!("{level}/"), if level == "datasheet" { DATASHEET } else { &[] }),
    }
}

/// The file of an environment's table in a folder of tables.
pub fn file(folder: &Path, env: &str) -> PathBuf {
    let (world, level) = noise::parts(env);
    let folder = level.map_or(folder.into(), |level| folder.join(&*noise::folder(level)));
    folder.join(format!("{world}.csv"))
}

/// An id as a word of a shell: one with an option has a question mark.
fn shell_word(id: &str) -> String {
    if id.contains('?') { format!("\"{id}\"") } else { id.into() }
}

/// The table of an environment in a folder of the user's, or among those that travel with the binary.
fn read(env: &str, folder_in: &str, embedded: &[(&str, &str)]) -> Result<Vec<Strength>> {
    let world = noise::base(env);
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = PathBuf::from(folder).join(format!("{folder_in}{world}.csv"));
        if path.is_file() {
            return parse(&offnominal_files::read::text(&path)?, env)
                .with_context(|| format!("strengths {}", path.display()));
        }
    }
    let embedded = embedded.iter().find(|(id, _)| *id == world);
    embedded.map_or(Ok(vec![]), |(_, text)| {
        parse(text, env).with_context(|| format!("embedded strengths of {env}"))
    })
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
mod tests {
    use super::*;

    const HEADER: &str =
        "env,policy,anomaly,level,magnitude,low,high,score,score_low,score_high,episodes,status\n";

    fn rows(lines: &str) -> Result<Vec<Strength>> {
        parse(&format!("{HEADER}{lines}"), "w")
    }

    #[track_caller]
    fn refuses(lines: &str, want: &str) {
        let error = format!("{:#}", rows(lines).unwrap_err());
        assert!(error.contains(want), "{error}");
    }

    fn strengths() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../strengths")
    }

    /// The names of the tables in a folder; none, where there is no folder.
    fn csv_files(folder: &Path) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(folder) else { return vec![] };
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> = names.filter(|f| f.ends_with(".csv")).collect();
        there.sort();
        there
    }

    #[test]
    fn the_embedded_tables_are_sound_and_complete() {
        let there = csv_files(&strengths());
        assert_eq!(there, EMBEDDED.iter().map(|(env, _)| format!("{env}.csv")).collect::<Vec<_>>());
        for (env, text) in EMBEDDED {
            assert!(parse(text, env).unwrap().len() > 40, "{env}");
        }
        let noisy = csv_files(&strengths().join("datasheet"));
        assert_eq!(noisy, DATASHEET.iter().map(|(env, _)| format!("{env}.csv")).collect::<Vec<_>>());
        for (env, text) in DATASHEET {
            let rows = parse(text, &noise::id(env, Some("datasheet"))).unwrap();
            assert!(rows.len() > 40, "{env}");
        }
        for (env, text) in CAMERAS {
            assert_eq!(parse(text, env).unwrap().len(), 9 * LEVELS.len(), "{env}");
        }
    }

    #[test]
    fn a_table_is_read() {
        let read = rows("w,tqc,obs-noise,tiny,0.5,0.4,0.6,0.99,0.98,1.0,300,found\nw,tqc,obs-noise,extreme,,,,,,,300,unattainable").unwrap();
        assert_eq!((read[0].magnitude, read[0].status), (Some(0.5), Status::Found));
        assert_eq!((read[1].magnitude, read[1].status), (None, Status::Unattainable));
    }

    #[test]
    fn bad_tables_are_refused_by_row() {
        refuses(
            "w,tqc,obs-noise,tiny,NaN,,,,,,300,found",
            "row 1: magnitude: expected a finite number, found Some(NaN)",
        );
        refuses("w,tqc,obs-noise,tny,0.5,,,,,,300,found", "did you mean \"tiny\"?");
        refuses("v,tqc,obs-noise,tiny,0.5,,,,,,300,found", "env: expected w, found \"v\"");
        refuses("w,tqc,obs-noise,tiny,big,,,,,,300,found", "invalid float literal");
        refuses("w,tqc", "line: 2");
    }
}
