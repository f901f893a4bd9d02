//! Results: what a policy did on a body, and what predictors of the return gap gave without the reward. In files there is
//! one row for each number.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One policy on one body; σ = 0 is the nominal body.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// The policy's name without environment and seed.
    pub algorithm: String,
    /// The spread from which the body was drawn.
    pub sigma: f64,
    /// The number of the body among those of that spread.
    pub body: usize,
    /// Mean of |x − x₀| / x₀.
    pub difference: f64,
    /// Median return of the policy on the nominal body.
    pub nominal_return: f64,
    /// Median return on the body.
    pub median: f64,
    /// Mean return.
    pub mean: f64,
    /// Share of episodes in which the body fell.
    pub fall_rate: f64,
    /// Episodes.
    pub episodes: usize,
    /// Scores: `tpr`, `tpr-states`, `tpr@1` from one episode, `tpr-k1` … `tpr-k16`, and those of each detector.
    pub scores: BTreeMap<String, f64>,
}

/// A row of the table in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// The policy's name without environment and seed.
    pub algorithm: String,
    /// The spread.
    pub sigma: f64,
    /// The body.
    pub body: usize,
    /// What the number is: a name of `Row`, or of a score.
    pub metric: String,
    /// The number.
    pub value: f64,
}

impl Row {
    /// How much of the nominal return is gone.
    pub fn return_gap(&self) -> f64 {
        self.nominal_return - self.median
    }

    /// The score of that name.
    pub fn score(&self, name: &str) -> Option<f64> {
        self.scores.get(name).copied()
    }

    /// The numbers that are no scores, by name.
    fn fixed(&self) -> [(&'static str, f64); 6] {
        [
            ("difference", self.difference),
            ("nominal_return", self.nominal_return),
            ("median_return", self.median),
            ("mean_return", self.mean),
            ("fall_rate", self.fall_rate),
            ("episodes", self.episodes as f64),
        ]
    }

    fn numbers(&self) -> impl Iterator<Item = Number> {
        let scores = self.scores.iter().map(|(name, value)| (name.as_str(), *value));
        self.fixed().into_iter().chain(scores).map(|(metric, value)| Number {
            env: self.env.clone(),
            policy: self.policy.clone(),
            algorithm: self.algorithm.clone(),
            sigma: self.sigma,
            body: self.body,
            metric: metric.into(),
            value: short(value),
        })
    }

    /// The row of numbers that are of one policy on one body.
    fn of(numbers: &[Number]) -> Result<Row> {
        let first = &numbers[0];
        let mut scores: BTreeMap<String, f64> = numbers.iter().map(|n| (n.metric.clone(), n.value)).collect();
        let mut take = |metric: &str| {
            let (policy, sigma, body) = (&first.policy, first.sigma, first.body);
            let missing = || format!("{policy}, σ = {sigma}, body {body}: expected a row for {metric}");
            scores.remove(metric).with_context(missing)
        };
        Ok(Row {
            difference: take("difference")?,
            nominal_return: take("nominal_return")?,
            median: take("median_return")?,
            mean: take("mean_return")?,
            fall_rate: take("fall_rate")?,
            episodes: take("episodes")? as usize,
            env: first.env.clone(),
            policy: first.policy.clone(),
            algorithm: first.algorithm.clone(),
            sigma: first.sigma,
            body: first.body,
            scores,
        })
    }
}

/// One row for each number.
pub fn numbers(rows: &[Row]) -> Vec<Number> {
    rows.iter().flat_map(Row::numbers).collect()
}

/// The rows of which these are the numbers; those of a policy on a body follow each other.
///
/// # Errors
/// If a number is missing.
pub fn rows(numbers: &[Number]) -> Result<Vec<Row>> {
    let same =
        |a: &Number, b: &Number| (&a.env, &a.policy, a.sigma, a.body) == (&b.env, &b.policy, b.sigma, b.body);
    numbers.chunk_by(same).map(Row::of).collect()
}

/// A number of seven digits.
fn short(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_files::table;
    use std::path::Path;

    fn row() -> Row {
        Row {
            env: "hopper".into(),
            policy: "hopper-td3-1".into(),
            algorithm: "td3".into(),
            sigma: 0.05,
            body: 7,
            difference: 0.04,
            nominal_return: 2000.5,
            median: -3.25,
            mean: 1.0,
            fall_rate: 1.0,
            episodes: 12,
            scores: BTreeMap::from([("tpr".to_string(), 0.75), ("knn".to_string(), 1.5e-3)]),
        }
    }

    #[test]
    fn rows_survive_their_file() {
        let both = vec![row(), Row { scores: BTreeMap::new(), body: 8, ..row() }];
        let bytes = table::to_csv(&numbers(&both)).unwrap();
        assert_eq!(rows(&table::from_csv(&bytes, Path::new("x.csv")).unwrap()).unwrap(), both);
    }

    #[test]
    fn a_bad_line_and_a_missing_number_are_named() {
        let text =
            String::from_utf8(table::to_csv(&numbers(&[row()])).unwrap()).unwrap().replace("0.75", "high");
        let error =
            format!("{:#}", table::from_csv::<Number>(text.as_bytes(), Path::new("x.csv")).unwrap_err());
        assert!(error.contains("x.csv: line 9, column value") && error.contains("found \"high\""), "{error}");
        let error = rows(&numbers(&[row()])[1..]).unwrap_err().to_string();
        assert_eq!(error, "hopper-td3-1, σ = 0.05, body 7: expected a row for difference");
    }
}
