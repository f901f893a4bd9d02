//! Scores at magnitudes that somebody else gives, such as those of a publication, beside the calibrated ones.

use crate::calibrate::{Scale, disturbed, whole};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::fault;
use offnominal_engine::context::Context;
use offnominal_engine::subject::Cast;
use offnominal_engine::{catalogues, parallel};
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A magnitude to be tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// World id.
    pub env: String,
    /// Anomaly id.
    pub anomaly: String,
    /// The level that the source gives it.
    pub level: String,
    /// The magnitude as its source prints it, in the source's unit.
    pub published: String,
    /// The magnitude in the unit of the anomaly.
    pub magnitude: f64,
}

/// What a policy scores there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// World id.
    pub env: String,
    /// Policy id.
    pub policy: String,
    /// Anomaly id.
    pub anomaly: String,
    /// The level that the source gives it.
    pub level: String,
    /// The magnitude as its source prints it.
    pub published: String,
    /// The magnitude in the unit of the anomaly.
    pub magnitude: f64,
    /// Mean normalised score.
    pub score: f64,
    /// Lower end of its 95 % interval.
    pub score_low: f64,
    /// Upper end of its 95 % interval.
    pub score_high: f64,
    /// Episodes played.
    pub episodes: u64,
}

/// The rows of a table that are of one world.
///
/// # Errors
/// If the file cannot be read, a row is malformed, or none is of this world.
pub fn read(path: &Path, env: &str) -> Result<Vec<Given>> {
    let mut table = csv::Reader::from_path(path).with_context(|| path.display().to_string())?;
    let rows: Result<Vec<Given>, csv::Error> = table.deserialize().collect();
    let mut rows = rows.with_context(|| path.display().to_string())?;
    rows.retain(|row| row.env == env);
    ensure!(!rows.is_empty(), "{}: expected rows of the world {env}, found none", path.display());
    Ok(rows)
}

/// Plays `episodes` episodes at each magnitude, disturbed from their first step, with the same seeds everywhere.
///
/// # Errors
/// If an anomaly or a magnitude does not fit the world, or the policy is not better than the random one.
pub fn score(cast: &Cast, given: &[Given], episodes: usize, context: &Context) -> Result<Vec<Scored>> {
    for row in given {
        fault::check(&row.anomaly, &catalogues::anomalies(), cast.env.spec())?;
    }
    let scale = Scale::measure(cast, episodes, context)?;
    let bar = context.task(given.len(), &format!("scoring {}", cast.env.spec().id));
    let scored =
        parallel::map(context.jobs, given.len(), &bar, |i| score_one(cast, &scale, &given[i], episodes));
    scored
}

fn score_one(cast: &Cast, scale: &Scale, given: &Given, episodes: usize) -> Result<Scored> {
    let fault = whole(&given.anomaly, given.magnitude);
    let score = |i| Ok(scale.normalise(disturbed(cast, scale, i, &fault)?.total_reward()));
    let scores: Vec<f64> = (0..episodes)
        .map(score)
        .collect::<Result<_>>()
        .with_context(|| format!("{} at {}", given.anomaly, given.magnitude))?;
    let found = student_t(&scores, Level::P95)?;
    Ok(Scored {
        env: given.env.clone(),
        policy: cast.name.id.clone(),
        anomaly: given.anomaly.clone(),
        level: given.level.clone(),
        published: given.published.clone(),
        magnitude: given.magnitude,
        score: found.value,
        score_low: found.low,
        score_high: found.high,
        episodes: episodes as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<Given>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), "sap-goal0").map_err(|e| format!("{e:#}"))
    }

    const HEADER: &str = "env,anomaly,level,published,magnitude\n";

    #[test]
    fn rows_of_other_worlds_are_left_out() {
        let rows =
            read_text(&format!("{HEADER}sap-goal0,act-noise,tiny,.29,0.29\nother,act-noise,tiny,1,1\n"));
        assert_eq!(rows.unwrap().iter().map(|r| r.magnitude).collect::<Vec<_>>(), [0.29]);
    }

    #[test]
    fn bad_tables_are_refused_with_the_place() {
        let refused = |rows: &str| read_text(&format!("{HEADER}{rows}")).unwrap_err();
        assert!(refused("").contains("expected rows of the world sap-goal0, found none"));
        assert!(refused("sap-goal0,act-noise,tiny,x,much\n").contains("line: 2"));
    }
}
