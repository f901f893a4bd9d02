//! Distributions of parameters and initial conditions from a file: `--distribution FILE`.
//!
//! ```toml
//! [draw.friction]
//! distribution = "normal"    # or log-normal, uniform, triangular, empirical
//! mean = 0.8
//! sd = 0.1
//! low = 0.5                  # values below are drawn anew
//!
//! [draw.payload]
//! distribution = "empirical"
//! file = "weighings.csv"
//! column = "kg"
//!
//! [[correlation]]
//! between = ["friction", "payload"]
//! rank = -0.4                # Spearman's
//! ```
//!
//! A rank correlation ρ of two numbers is a correlation 2 sin(π ρ / 6) of the normal scores of their copula (Pearson 1907).

use anyhow::{Context, Result, bail, ensure};
use offnominal_core::limits::{COLUMNS, POINTS};
use offnominal_core::prelude::*;
use offnominal_core::randomised::{Draws, Joint, Marginal, Variable};
use offnominal_files::read;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionFile {
    draw: BTreeMap<String, Stated>,
    #[serde(default)]
    correlation: Vec<Correlation>,
}

/// A number as the file states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
enum Stated {
    Normal { mean: f64, sd: f64, low: Option<f64>, high: Option<f64> },
    LogNormal { median: f64, sigma: f64, low: Option<f64>, high: Option<f64> },
    Uniform { low: f64, high: f64 },
    Triangular { low: f64, mode: f64, high: f64 },
    Empirical { values: Option<Vec<f64>>, file: Option<PathBuf>, column: Option<String> },
}

/// How two numbers go together.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Correlation {
    between: [String; 2],
    rank: f64,
}

/// What a file says is drawn in an environment.
///
/// # Errors
/// If it cannot be read, a distribution is none, a name is neither a parameter nor an entry of an initial condition, or the
/// correlations contradict one another.
pub fn read(spec: &EnvSpec, path: &Path) -> Result<Draws> {
    let file = DistributionFile::parse(&offnominal_files::read::text(path)?);
    let beside = path.parent().unwrap_or(Path::new(""));
    let draws = file.and_then(|file| file.resolve(spec, beside));
    draws.with_context(|| path.display().to_string())
}

impl DistributionFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is no such file.
    pub fn parse(text: &str) -> Result<DistributionFile> {
        let file: DistributionFile = toml::from_str(text)?;
        ensure!(!file.draw.is_empty(), "draw: expected at least one number, found none");
        ensure!(
            file.draw.len() <= COLUMNS,
            "draw: expected at most {COLUMNS} numbers, found {}",
            file.draw.len()
        );
        Ok(file)
    }

    fn resolve(&self, spec: &EnvSpec, beside: &Path) -> Result<Draws> {
        let is_parameter = |name: &&String| spec.parameters.iter().any(|p| p.name == **name);
        let (parameters, entries): (Vec<&String>, Vec<&String>) = self.draw.keys().partition(is_parameter);
        let names: Vec<&String> = parameters.iter().chain(&entries).copied().collect();
        let variable = |name: &&String| {
            let stated = &self.draw[*name];
            stated.variable(name, beside).with_context(|| format!("draw.{name}"))
        };
        let variables = names.iter().map(variable).collect::<Result<_>>()?;
        let factor = self.factor(&names)?;
        Ok(Draws::Joint(Joint { variables, entries: entries.len(), factor }))
    }

    /// L of the correlation of the normal scores, by Cholesky.
    fn factor(&self, names: &[&String]) -> Result<Vec<Vec<f64>>> {
        let place = |name: &String| {
            let found = names.iter().position(|known| *known == name);
            found.with_context(|| {
                format!("correlation: expected a name of a number that is drawn, found {name:?}")
            })
        };
        let mut scores: Vec<Vec<f64>> = (0..names.len()).map(|i| unit(i, names.len())).collect();
        for Correlation { between: [a, b], rank } in &self.correlation {
            ensure!(
                (-1.0..=1.0).contains(rank),
                "correlation of {a} and {b}: expected −1 to 1, found {rank}"
            );
            let (i, j) = (place(a)?, place(b)?);
            ensure!(i != j, "correlation: expected two different names, found {a:?} twice");
            let of_scores = 2.0 * libm::sin(std::f64::consts::PI * rank / 6.0);
            (scores[i][j], scores[j][i]) = (of_scores, of_scores);
        }
        cholesky(&scores)
            .context("correlation: expected numbers that can hold together, found a contradiction")
    }
}

fn unit(i: usize, n: usize) -> Vec<f64> {
    (0..n).map(|j| f64::from(u8::from(i == j))).collect()
}

/// L with L Lᵀ = m, row by row; none where m is not positive definite but for rounding.
fn cholesky(m: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    const ROUNDING: f64 = 1e-9;
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(m.len());
    for (i, given) in m.iter().enumerate() {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for j in 0..=i {
            let above = if j < i { &rows[j] } else { &row };
            let rest = given[j] - row.iter().zip(above).map(|(a, b)| a * b).sum::<f64>();
            if j == i {
                (rest > -ROUNDING).then_some(())?;
                row.push(rest.max(0.0).sqrt());
            } else {
                let pivot = rows[j][j];
                (pivot > ROUNDING.sqrt() || rest.abs() < ROUNDING).then_some(())?;
                row.push(if pivot > ROUNDING.sqrt() { rest / pivot } else { 0.0 });
            }
        }
        rows.push(row);
    }
    Some(rows)
}

impl Stated {
    fn variable(&self, name: &str, beside: &Path) -> Result<Variable> {
        let (marginal, low, high) = match self.clone() {
            Stated::Normal { mean, sd, low, high } => (Marginal::Normal { mean, sd }, low, high),
            Stated::LogNormal { median, sigma, low, high } => {
                (Marginal::LogNormal { median, sigma }, low, high)
            }
            Stated::Uniform { low, high } => (Marginal::Uniform { low, high }, None, None),
            Stated::Triangular { low, mode, high } => (Marginal::Triangular { low, mode, high }, None, None),
            Stated::Empirical { values, file, column } => {
                (empirical(values, file.map(|file| beside.join(file)), column)?, None, None)
            }
        };
        if let Some(mistake) = marginal.mistake() {
            bail!(mistake);
        }
        if let (Some(low), Some(high)) = (low, high) {
            ensure!(low < high, "expected low below high, found {low} and {high}");
        }
        Ok(Variable { name: name.into(), marginal, low, high })
    }
}

/// The values of a list, or of a column of a table.
fn empirical(values: Option<Vec<f64>>, file: Option<PathBuf>, column: Option<String>) -> Result<Marginal> {
    let mut values = match (values, file, column) {
        (Some(values), None, None) => values,
        (None, Some(file), Some(name)) => self::column(&file, &name)?,
        _ => bail!("expected `values`, or `file` with `column`"),
    };
    ensure!(values.len() <= POINTS, "values: expected at most {POINTS}, found {}", values.len());
    values.sort_unstable_by(f64::total_cmp);
    Ok(Marginal::Empirical(values))
}

fn column(path: &Path, name: &str) -> Result<Vec<f64>> {
    let named = || path.display().to_string();
    let mut reader = csv::Reader::from_reader(read::open(path)?);
    let head = reader.headers().with_context(named)?.clone();
    let at = head.iter().position(|column| column == name);
    let at = at.with_context(|| format!("{}: expected a column {name:?}, found {:?}", named(), head))?;
    let number = |(i, record): (usize, csv::Result<csv::StringRecord>)| -> Result<f64> {
        let record = record.with_context(named)?;
        let text = record.get(at).unwrap_or_default();
        let wrong = || format!("{}, line {}: expected a number, found {text:?}", named(), i + 2);
        text.trim().parse().with_context(wrong)
    };
    reader.records().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests;
