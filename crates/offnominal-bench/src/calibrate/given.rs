//! Scores at magnitudes that somebody else gives, such as those of a publication, beside the calibrated ones.

use crate::calibrate::{Scale, disturbed, whole};
use anyhow::{Context as _, Result, ensure};
use offnominal_engine::context::Context;
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, noise, parallel};
use offnominal_files::table;
use offnominal_stats::Level;
use offnominal_stats::mean::student_t;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A magnitude to be tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Environment id.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Environment id.
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

/// The rows of a table that are of one environment.
///
/// # Errors
/// If the file cannot be read, a row is malformed, or none is of this environment.
pub fn read(path: &Path, env: &str) -> Result<Vec<Given>> {
    let mut rows: Vec<Given> = table::read(path)?;
    rows.retain(|row| noise::base(&row.env) == noise::base(env));
    ensure!(!rows.is_empty(), "{}: expected rows of the environment {env}, found none", path.display());
    Ok(rows)
}

/// Plays `episodes` episodes at each magnitude, disturbed from their first step, with the same seeds everywhere.
///
/// # Errors
/// If an anomaly or a magnitude does not fit the environment, or the policy is not better than the random one.
pub fn score(subject: &Subject, given: &[Given], episodes: usize, context: &Context) -> Result<Vec<Scored>> {
    for row in given {
        catalogues::check_anomaly(&row.anomaly, subject.env.spec())?;
    }
    let scale = Scale::measure(subject, episodes, context)?;
    let bar = context.task(given.len(), &format!("scoring {}", subject.env.spec().id));
    parallel::map(context.jobs, given.len(), &bar, |i| score_one(subject, &scale, &given[i], episodes))
}

fn score_one(subject: &Subject, scale: &Scale, given: &Given, episodes: usize) -> Result<Scored> {
    let anomaly_spec = whole(&given.anomaly, given.magnitude);
    let score = |i| Ok(scale.normalise(disturbed(subject, scale, i, &anomaly_spec)?.total_reward()));
    let scores: Vec<f64> = (0..episodes)
        .map(score)
        .collect::<Result<_>>()
        .with_context(|| format!("{} at {}", given.anomaly, given.magnitude))?;
    let found = student_t(&scores, Level::P95)?;
    Ok(Scored {
        env: given.env.clone(),
        policy: subject.name.label(),
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
        let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path(), "sap-goal0").map_err(|e| format!("{e:#}"))
    }

    const HEADER: &str = "env,anomaly,level,published,magnitude\n";

    #[test]
    fn rows_of_other_environments_are_left_out() {
        let rows =
            read_text(&format!("{HEADER}sap-goal0,act-noise,tiny,.29,0.29\nother,act-noise,tiny,1,1\n"));
        assert_eq!(rows.unwrap().iter().map(|r| r.magnitude).collect::<Vec<_>>(), [0.29]);
    }

    #[test]
    fn bad_tables_are_refused_with_the_place() {
        let refused = |rows: &str| read_text(&format!("{HEADER}{rows}")).unwrap_err();
        assert!(refused("").contains("expected rows of the environment sap-goal0, found none"));
        assert!(refused("sap-goal0,act-noise,tiny,x,much\n").contains("line 2"));
    }
}
