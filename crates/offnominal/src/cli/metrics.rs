//! `metrics`: ranking and delay metrics of scores in a CSV file.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_bench::metrics_file::{self, Rows};
use offnominal_core::Seed;
use offnominal_stats::{Bootstrap, Level};
use serde_json::{Map, Value, json};
use std::io::{Read, Write};

/// Arguments of `metrics`.
#[derive(Debug, Args)]
pub struct Metrics {
    /// CSV file with the columns episode, step, score, label (0 or 1, or False or True) in any order; `-` reads
    /// standard input
    file: String,
    /// Alarms are scores above this; adds delays, missed, early and false alarms
    #[arg(long, allow_negative_numbers = true, value_name = "SCORE")]
    threshold: Option<f64>,
    /// Bootstrap replicates of each interval, 100 to 100000
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    replicates: u32,
    /// Confidence level of the intervals, between 0 and 1
    #[arg(long, default_value_t = 0.95, value_name = "P")]
    level: f64,
}

impl Metrics {
    /// Reads the scores and prints their metrics.
    ///
    /// # Errors
    /// If the file cannot be read or something in it is wrong.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let plan = Bootstrap::new(self.replicates as usize, Level::try_from(self.level)?, Seed(common.seed));
        let (name, bytes) = self.bytes()?;
        let read =
            if self.threshold.is_some() { metrics_file::read_without_gaps } else { metrics_file::read };
        let episodes = read(&name, &bytes)?;
        let rows = metrics_file::judge(&name, &episodes, self.threshold, &plan)?;
        let text = if common.json { as_json(&rows) } else { as_table(&rows, self.level, episodes.len()) };
        writeln!(std::io::stdout().lock(), "{text}")?;
        Ok(Outcome::Done)
    }

    fn bytes(&self) -> Result<(String, Vec<u8>)> {
        if self.file != "-" {
            let bytes = std::fs::read(&self.file).with_context(|| format!("cannot read {}", self.file))?;
            return Ok((self.file.clone(), bytes));
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        Ok(("standard input".into(), bytes))
    }
}

/// An object metric → estimate; null where these scores do not define it.
fn as_json(rows: &Rows) -> String {
    let object: Map<String, Value> =
        rows.iter().map(|(id, found)| ((*id).into(), json!(found.as_ref().ok()))).collect();
    format!("{:#}", Value::Object(object))
}

fn as_table(rows: &Rows, level: f64, n_episodes: usize) -> String {
    let mut text = format!("{n_episodes} episodes, {} % intervals", 100.0 * level);
    for (id, found) in rows {
        let cell = match found {
            Ok(found) => format!("{found:.4}  ({}, n = {})", found.method, found.n),
            Err(why) => format!("no value: {why}"),
        };
        text.push_str(&format!("\n  {id:<17} {cell}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::estimate::Estimate;
    use offnominal_stats::StatsError;

    fn rows() -> Rows {
        let found =
            Estimate { value: 3.0, low: 1.0, high: f64::INFINITY, level: 0.95, n: 4, method: "m".into() };
        let never = StatsError::MedianNotReached { detected: 1, n: 4, low: 0.0 };
        vec![("delay_median", Ok(found)), ("d5", Err(never))]
    }

    #[test]
    fn the_json_is_an_object_of_estimates() {
        let object: Map<String, Value> = serde_json::from_str(&as_json(&rows())).unwrap();
        let back: Estimate = serde_json::from_value(object["delay_median"].clone()).unwrap();
        assert_eq!((back.value, back.high), (3.0, f64::INFINITY));
        assert!(object["d5"].is_null());
    }

    #[test]
    fn the_table_says_why_there_is_no_value() {
        let text = as_table(&rows(), 0.95, 4);
        assert!(text.contains("95 % intervals") && text.contains("3.0000 [1.0000, inf]"), "{text}");
        assert!(text.contains("no value: the median is not reached"), "{text}");
    }
}
