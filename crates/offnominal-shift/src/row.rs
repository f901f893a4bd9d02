//! One line of results: what a policy did on a body, and what was said of it without looking at the reward.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One policy on one body; σ = 0 is home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The world.
    pub env: String,
    /// The policy.
    pub agent: String,
    /// The policy's name without world and seed.
    pub kind: String,
    /// The spread from which the body was drawn.
    pub sigma: f64,
    /// The number of the body among those of that spread.
    pub body: usize,
    /// Mean of |x − x₀| / x₀.
    pub difference: f64,
    /// Median return of the policy at home.
    pub home: f64,
    /// Median return on the body.
    pub median: f64,
    /// Mean return.
    pub mean: f64,
    /// Share of episodes in which the body fell.
    pub fell: f64,
    /// Episodes.
    pub episodes: usize,
    /// What was said of it: `tpr`, `tpr-states`, `tpr@1` from one episode, `tpr-k1` … `tpr-k16`, and by each detector.
    #[serde(skip)]
    pub scores: BTreeMap<String, f64>,
}

impl Row {
    /// How much of the return at home is gone.
    pub fn drop(&self) -> f64 {
        self.home - self.median
    }

    /// What was said by that score.
    pub fn score(&self, name: &str) -> Option<f64> {
        self.scores.get(name).copied()
    }
}

const FIXED: [&str; 11] =
    ["env", "agent", "kind", "sigma", "body", "difference", "home", "median", "mean", "fell", "episodes"];

/// The rows as CSV: the fixed columns, then one for each score that occurs.
///
/// # Errors
/// Never in practice.
pub fn to_csv(rows: &[Row]) -> Result<Vec<u8>> {
    let names: BTreeSet<&String> = rows.iter().flat_map(|r| r.scores.keys()).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(FIXED.into_iter().chain(names.iter().map(|n| n.as_str())))?;
    for r in rows {
        let fixed = [
            r.env.clone(),
            r.agent.clone(),
            r.kind.clone(),
            r.sigma.to_string(),
            r.body.to_string(),
            short(r.difference),
            short(r.home),
            short(r.median),
            short(r.mean),
            short(r.fell),
            r.episodes.to_string(),
        ];
        let scores = names.iter().map(|n| r.score(n).map_or(String::new(), short));
        writer.write_record(fixed.into_iter().chain(scores))?;
    }
    Ok(writer.into_inner()?)
}

/// Seven digits.
fn short(value: f64) -> String {
    format!("{value:.6e}").parse::<f64>().map_or_else(|_| value.to_string(), |v| v.to_string())
}

/// Reads what [`to_csv`] writes; `path` is for messages.
///
/// # Errors
/// If a column is missing or a number is none.
pub fn from_csv(bytes: &[u8], path: &Path) -> Result<Vec<Row>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let head = reader.headers().with_context(|| path.display().to_string())?.clone();
    let read = |record: csv::StringRecord| -> Result<Row> {
        let mut row: Row = serde_row(&record, &head)?;
        for (name, value) in
            head.iter().zip(&record).filter(|(name, v)| !FIXED.contains(name) && !v.is_empty())
        {
            row.scores.insert(
                name.into(),
                value.parse().with_context(|| format!("{name}: expected a number, found {value:?}"))?,
            );
        }
        Ok(row)
    };
    let rows = reader.into_records().enumerate();
    rows.map(|(i, record)| read(record?).with_context(|| format!("{}, line {}", path.display(), i + 2)))
        .collect()
}

fn serde_row(record: &csv::StringRecord, head: &csv::StringRecord) -> Result<Row> {
    Ok(record.deserialize(Some(head))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            env: "hopper".into(),
            agent: "hopper-td3-1".into(),
            kind: "td3".into(),
            sigma: 0.05,
            body: 7,
            difference: 0.04,
            home: 2000.5,
            median: -3.25,
            mean: 1.0,
            fell: 1.0,
            episodes: 12,
            scores: BTreeMap::from([("tpr".to_string(), 0.75), ("knn".to_string(), 1.5e-3)]),
        }
    }

    #[test]
    fn rows_survive_their_file() {
        let rows = vec![row(), Row { scores: BTreeMap::new(), ..row() }];
        assert_eq!(from_csv(&to_csv(&rows).unwrap(), Path::new("x.csv")).unwrap(), rows);
    }

    #[test]
    fn a_bad_line_is_named() {
        let text = String::from_utf8(to_csv(&[row()]).unwrap()).unwrap().replace("0.75", "high");
        let error = format!("{:#}", from_csv(text.as_bytes(), Path::new("x.csv")).unwrap_err());
        assert!(
            error.contains("x.csv, line 2") && error.contains("tpr: expected a number, found \"high\""),
            "{error}"
        );
    }
}
