//! `calibrate`: the magnitudes at which an anomaly costs a policy 1, 10, 25 and 50 % of its score.

use super::{Common, Outcome};
use crate::calibrate::{self, Effort};
use crate::cast::Cast;
use crate::strengths::{Status, Strength};
use crate::{catalogues, write};
use anyhow::Result;
use clap::Args;
use offnominal_worlds::anomaly::ids_for;
use std::io::Write;

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// World id (see `list envs`)
    #[arg(long)]
    env: String,
    /// Algorithm, card id, or path
    #[arg(long, default_value = "tqc")]
    policy: String,
    /// Anomalies to calibrate, with commas between [default: all that apply to the world]
    #[arg(long, value_name = "A,…", value_delimiter = ',')]
    anomalies: Vec<String>,
    /// Nominal episodes, and the most that are played at one magnitude
    #[arg(long, default_value_t = 300)]
    nominal: usize,
    /// Most episodes for one anomaly in one direction
    #[arg(long, default_value_t = 4000)]
    budget: usize,
    /// Half-width aimed at for a score's 95 % interval, as a share of 1 − target
    #[arg(long, default_value_t = 0.3)]
    tolerance: f64,
}

impl Calibrate {
    /// Finds the magnitudes, prints the table and writes `<out>/<env>.csv`.
    ///
    /// # Errors
    /// If a name is wrong, the policy is not better than the random one, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let cast = Cast::new(&self.env, &self.policy)?;
        let effort = Effort { nominal: self.nominal, budget: self.budget, tolerance: self.tolerance };
        let folder = common.out_or("calibrate");
        let rows = calibrate::calibrate(&cast, &self.ids(&cast)?, &effort, common, &folder)?;
        let path = folder.join(format!("{}.csv", self.env));
        write::atomically(&path, &calibrate::to_csv(&rows)?)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            return Ok(Outcome::Done);
        }
        print(&mut out, &rows)?;
        writeln!(out, "written to {}", path.display())?;
        Ok(Outcome::Done)
    }

    fn ids(&self, cast: &Cast) -> Result<Vec<String>> {
        if self.anomalies.is_empty() {
            return Ok(ids_for(cast.env.spec()));
        }
        for id in self.anomalies.iter().filter(|id| !id.starts_with(offnominal_core::run::DYNAMICS)) {
            catalogues::anomalies().find(id)?;
        }
        Ok(self.anomalies.clone())
    }
}

fn print(out: &mut impl Write, rows: &[Strength]) -> std::io::Result<()> {
    writeln!(
        out,
        "{:<24}{:<9}{:>12}  {:<26}{:<22}{:>9}",
        "anomaly", "level", "magnitude", "95 % interval", "score", "episodes"
    )?;
    for row in rows {
        let number = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.4}"));
        let interval = |low: Option<f64>, high: Option<f64>| match (low, high) {
            (Some(low), Some(high)) => format!("[{low:.4}, {high:.4}]"),
            _ => String::new(),
        };
        let magnitude =
            if row.status == Status::Found { number(row.magnitude) } else { row.status.name().into() };
        let score = format!("{} {}", number(row.score), interval(row.score_low, row.score_high));
        writeln!(
            out,
            "{:<24}{:<9}{magnitude:>12}  {:<26}{score:<22}{:>9}",
            row.anomaly,
            row.level,
            interval(row.low, row.high),
            row.episodes
        )?;
    }
    Ok(())
}
