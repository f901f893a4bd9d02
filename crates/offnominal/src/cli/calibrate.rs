//! `calibrate`: the magnitudes at which an anomaly costs a policy 1, 10, 25 and 50 % of its score.

use crate::cli::{Common, Outcome};
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_bench::calibrate::{self, Effort, given};
use offnominal_bench::images::calibrate::cameras;
use offnominal_core::anomaly_spec;
use offnominal_engine::catalogues;
use offnominal_engine::frames::FrameSize;
use offnominal_engine::strengths::{Status, Strength};
use offnominal_engine::subject::Subject;
use offnominal_files::{table, write};
use offnominal_worlds::anomaly::ids_for;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// Environment id (see `list envs`), or `gymnasium:ID` for any environment of Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, or the path of a file
    #[arg(long, default_value = "tqc")]
    policy: String,
    /// Anomalies to calibrate, with commas between [default: all that apply to the environment]
    #[arg(long, value_name = "A,…", value_delimiter = ',')]
    anomalies: Vec<String>,
    /// Nominal episodes, and the most that are played at one magnitude
    #[arg(long, default_value_t = 300)]
    nominal: usize,
    /// Most episodes for one anomaly in one direction
    #[arg(long, default_value_t = 4000)]
    budget: usize,
    /// Half-width aimed at for a score's 95 % interval, as a share of 1 − target
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    tolerance: f64,
    /// The camera faults instead, by what they leave of the images' structural similarity to clean ones
    #[arg(long, conflicts_with_all = ["anomalies", "at"])]
    cameras: bool,
    /// Width and height of the camera's images
    #[arg(long, default_value_t = 128, requires = "cameras", value_parser = clap::value_parser!(u16).range(16..=1024))]
    images: u16,
    /// Search nothing: score the policy at the magnitudes of a table, in `nominal` episodes each
    #[arg(long, value_name = "FILE.csv", conflicts_with = "anomalies")]
    at: Option<PathBuf>,
}

impl Calibrate {
    /// Finds the magnitudes, prints the table and writes `<out>/<env>.csv`.
    ///
    /// # Errors
    /// If a name is wrong, the policy is not better than the random one, or a file cannot be written.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        self.check()?;
        let subject = Subject::new(&self.env, &self.policy)?;
        if self.cameras {
            return self.cameras(&subject, common);
        }
        if let Some(given) = &self.at {
            return self.score_at(given, &subject, common);
        }
        let effort = Effort { nominal: self.nominal, budget: self.budget, tolerance: self.tolerance };
        let folder = common.out_or("calibrate");
        let ids = self.ids(&subject)?;
        let rows = calibrate::calibrate(&subject, &ids, &effort, &common.context(), &folder)?;
        let path = folder.join(format!("{}.csv", self.env));
        write::atomically(&path, &table::to_csv(&rows)?)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            return Ok(Outcome::Done);
        }
        print(&mut out, &rows)?;
        writeln!(out, "written to {}", path.display())?;
        Ok(Outcome::Done)
    }

    fn cameras(&self, subject: &Subject, common: &Common) -> Result<Outcome> {
        let rows = cameras(subject, FrameSize { side: self.images.into() }, &common.context())?;
        let path = common.out_or("calibrate").join("cameras").join(format!("{}.csv", self.env));
        write::atomically(&path, &table::to_csv(&rows)?)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            return Ok(Outcome::Done);
        }
        print(&mut out, &rows)?;
        writeln!(out, "scores are structural similarities; written to {}", path.display())?;
        Ok(Outcome::Done)
    }

    fn score_at(&self, given: &Path, subject: &Subject, common: &Common) -> Result<Outcome> {
        let rows = given::score(subject, &given::read(given, &self.env)?, self.nominal, &common.context())?;
        let path = common.out_or("calibrate").join(format!("{}.csv", self.env));
        write::atomically(&path, &table::to_csv(&rows)?)?;
        let mut out = std::io::stdout().lock();
        if common.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
            return Ok(Outcome::Done);
        }
        line(&mut out, ["anomaly", "level", "magnitude", "", "score", "episodes"])?;
        for row in &rows {
            let score = format!(
                "{} {}",
                number(Some(row.score)),
                interval(Some(row.score_low), Some(row.score_high))
            );
            let (magnitude, episodes) = (number(Some(row.magnitude)), row.episodes.to_string());
            line(&mut out, [&row.anomaly, &row.level, &magnitude, "", &score, &episodes])?;
        }
        writeln!(out, "written to {}", path.display())?;
        Ok(Outcome::Done)
    }

    fn check(&self) -> Result<()> {
        ensure!(
            (24..=100_000).contains(&self.nominal),
            "--nominal: expected 24 to 100000, found {}",
            self.nominal
        );
        ensure!(
            (100..=10_000_000).contains(&self.budget),
            "--budget: expected 100 to 10000000, found {}",
            self.budget
        );
        let share = self.tolerance > 0.0 && self.tolerance < 1.0;
        ensure!(share, "--tolerance: expected a number between 0 and 1, found {}", self.tolerance);
        Ok(())
    }

    fn ids(&self, subject: &Subject) -> Result<Vec<String>> {
        if self.anomalies.is_empty() {
            return Ok(ids_for(subject.env.spec()));
        }
        for id in &self.anomalies {
            anomaly_spec::check(id, &catalogues::anomalies(), subject.env.spec())?;
        }
        Ok(self.anomalies.clone())
    }
}

fn print(out: &mut impl Write, rows: &[Strength]) -> std::io::Result<()> {
    line(out, ["anomaly", "level", "magnitude", "95 % interval", "score", "episodes"])?;
    for row in rows {
        let magnitude =
            if row.status == Status::Found { number(row.magnitude) } else { row.status.name().into() };
        let score = format!("{} {}", number(row.score), interval(row.score_low, row.score_high));
        let magnitudes = interval(row.low, row.high);
        line(out, [&row.anomaly, &row.level, &magnitude, &magnitudes, &score, &row.episodes.to_string()])?;
    }
    Ok(())
}

fn line(out: &mut impl Write, cells: [&str; 6]) -> std::io::Result<()> {
    let [anomaly, level, magnitude, interval, score, episodes] = cells;
    writeln!(out, "{anomaly:<24}{level:<9}{magnitude:>13}  {interval:<24}{score:<30}{episodes:>8}")
}

/// Four significant digits: magnitudes span many orders.
fn number(x: Option<f64>) -> String {
    let digits = |x: f64| (3 - x.abs().max(1e-12).log10().floor() as i32).clamp(0, 9) as usize;
    x.map_or("–".to_string(), |x| if x == 0.0 { "0".into() } else { format!("{x:.*}", digits(x)) })
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    if low.is_some() && high.is_some() {
        format!("[{}, {}]", number(low), number(high))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        let shown = [0.000_123_45, 0.99, 1.0, 22.619_1, 12_345.6, 0.0].map(|x| number(Some(x)));
        assert_eq!(shown, ["0.0001234", "0.9900", "1.000", "22.62", "12346", "0"]);
        assert_eq!(number(None), "–");
    }
}
