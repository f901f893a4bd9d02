//! What to calibrate, and the table that comes of it.

use crate::calibrate::given::{self, Scored};
use crate::calibrate::{Effort, calibrate};
use crate::images::calibrate::cameras;
use anyhow::{Result, ensure};
use clap::Args;
use offnominal_engine::context::Context;
use offnominal_engine::frames::FrameSize;
use offnominal_engine::request::{EnvId, POLICY};
use offnominal_engine::strengths::{CALIBRATED, Status, Strength};
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, noise, strengths};
use offnominal_files::lock::Lock;
use offnominal_files::{table, write};
use offnominal_worlds::anomaly::ids_for;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to calibrate; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY, default_value = "tqc")]
    pub policy: String,
    /// Anomalies, comma-separated [default: all that apply]
    #[arg(long = "anomaly", value_name = "A,…", value_delimiter = ',')]
    pub anomalies: Vec<String>,
    /// Nominal episodes, and most episodes per magnitude
    #[arg(long, default_value_t = 300)]
    pub episodes: usize,
    /// Most episodes per anomaly and direction
    #[arg(long, default_value_t = 4000)]
    pub budget: usize,
    /// Target half-width of a score's interval, as share of 1 − target
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub tolerance: f64,
    /// Largest accepted half-width; beyond it the result is `imprecise`
    #[arg(long, default_value_t = 0.75, allow_negative_numbers = true)]
    pub precision: f64,
    /// Calibrate camera faults, by structural similarity of the images
    #[arg(long, conflicts_with_all = ["anomalies", "at"])]
    pub cameras: bool,
    /// Width and height of camera images
    #[arg(long, default_value_t = 128, requires = "cameras", value_parser = clap::value_parser!(u16).range(16..=1024))]
    pub images: u16,
    /// Score the policy at the magnitudes of this table; no search
    #[arg(long, value_name = "FILE.csv", conflicts_with = "anomalies")]
    pub at: Option<PathBuf>,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = CALIBRATED)]
    pub out: PathBuf,
}

/// A table and its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibrated {
    /// The table.
    pub rows: Rows,
    /// The file.
    #[serde(skip)]
    pub file: PathBuf,
}

/// The rows of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rows {
    /// Magnitudes of levels.
    Levels(Vec<Strength>),
    /// The same for cameras, where scores are structural similarities.
    Cameras(Vec<Strength>),
    /// Scores at magnitudes that were given.
    Scored(Vec<Scored>),
}

/// Finds the magnitudes, or scores those that are given, and writes the table.
///
/// # Errors
/// If a name or a number is wrong, the policy is not better than the random one, or a file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Calibrated> {
    request.check()?;
    let subject = Subject::new(&request.env, &request.policy)?;
    let id = &subject.env.spec().id;
    let file = match request.cameras {
        true => strengths::file(&request.out.join("cameras"), noise::base(id)),
        false => strengths::file(&request.out, id),
    };
    // Environments share the folder, as cells do not depend on one another.
    let _held = Lock::file(&file)?;
    let rows = if request.cameras {
        let size = FrameSize { side: request.images.into() };
        Rows::Cameras(cameras(&subject, size, context)?)
    } else if let Some(path) = &request.at {
        let given = given::read(path, &request.env)?;
        Rows::Scored(given::score(&subject, &given, request.episodes, context)?)
    } else {
        let Request { episodes: nominal, budget, tolerance, precision, .. } = *request;
        let effort = Effort { nominal, budget, tolerance, precision };
        let ids = request.ids(&subject)?;
        Rows::Levels(calibrate(&subject, &ids, &effort, context, &request.out)?)
    };
    write::atomically(&file, &rows.to_csv()?)?;
    Ok(Calibrated { rows, file })
}

impl Request {
    fn check(&self) -> Result<()> {
        let within = |name, found: usize, low, high| {
            ensure!((low..=high).contains(&found), "{name}: expected {low} to {high}, found {found}");
            Ok(())
        };
        within("episodes", self.episodes, 24, 100_000)?;
        within("budget", self.budget, 100, 10_000_000)?;
        within("images", self.images.into(), 16, 1024)?;
        let share = self.tolerance > 0.0 && self.tolerance < 1.0;
        ensure!(share, "tolerance: expected a number between 0 and 1, found {}", self.tolerance);
        let seen = !self.cameras || noise::parts(&self.env).1.is_none();
        ensure!(seen, "cameras: expected an environment without noise, found {}", self.env);
        let wide = self.precision > 0.0 && self.precision <= 10.0;
        ensure!(wide, "precision: expected a number above 0, at most 10, found {}", self.precision);
        let alone = self.at.is_none() && !self.cameras || self.anomalies.is_empty();
        ensure!(alone && !(self.cameras && self.at.is_some()), "expected one of anomalies, cameras and at");
        Ok(())
    }

    fn ids(&self, subject: &Subject) -> Result<Vec<String>> {
        if self.anomalies.is_empty() {
            return Ok(ids_for(subject.env.spec()));
        }
        for id in &self.anomalies {
            catalogues::check_anomaly(id, subject.env.spec())?;
        }
        Ok(self.anomalies.clone())
    }
}

impl Rows {
    fn to_csv(&self) -> Result<Vec<u8>> {
        match self {
            Rows::Levels(rows) | Rows::Cameras(rows) => table::to_csv(rows),
            Rows::Scored(rows) => table::to_csv(rows),
        }
    }

    /// Each row in words; the first one is the heading.
    fn lines(&self) -> Vec<[String; 6]> {
        let heading = |interval: &str| {
            ["anomaly", "level", "magnitude", interval, "score", "episodes"].map(String::from)
        };
        match self {
            Rows::Levels(rows) | Rows::Cameras(rows) => {
                std::iter::once(heading("95 % interval")).chain(rows.iter().map(of_level)).collect()
            }
            Rows::Scored(rows) => std::iter::once(heading("")).chain(rows.iter().map(of_given)).collect(),
        }
    }
}

fn of_level(row: &Strength) -> [String; 6] {
    let found = row.status == Status::Found;
    [
        row.anomaly.clone(),
        row.level.clone(),
        if found { number(row.magnitude) } else { <&str>::from(row.status).into() },
        interval(row.low, row.high),
        format!("{} {}", number(row.score), interval(row.score_low, row.score_high)),
        row.episodes.to_string(),
    ]
}

fn of_given(row: &Scored) -> [String; 6] {
    [
        row.anomaly.clone(),
        row.level.clone(),
        number(Some(row.magnitude)),
        String::new(),
        format!("{} {}", number(Some(row.score)), interval(Some(row.score_low), Some(row.score_high))),
        row.episodes.to_string(),
    ]
}

impl Display for Calibrated {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for [anomaly, level, magnitude, interval, score, episodes] in self.rows.lines() {
            writeln!(out, "{anomaly:<24}{level:<9}{magnitude:>13}  {interval:<24}{score:<30}{episodes:>8}")?;
        }
        let similarities = matches!(self.rows, Rows::Cameras(_));
        out.write_str(if similarities { "scores are structural similarities; " } else { "" })?;
        write!(out, "written to {}", self.file.display())
    }
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

    fn request() -> Request {
        offnominal_work::cli::request(&serde_json::json!({ "env": "sap-goal0" })).unwrap()
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        let shown = [0.000_123_45, 0.99, 1.0, 22.619_1, 12_345.6, 0.0].map(|x| number(Some(x)));
        assert_eq!(shown, ["0.0001234", "0.9900", "1.000", "22.62", "12346", "0"]);
        assert_eq!(number(None), "–");
    }

    #[test]
    fn wrong_numbers_and_combinations_are_named() {
        let refusal = |request: Request| run(&request, &Context::silent(0, 1)).unwrap_err().to_string();
        let few = refusal(Request { episodes: 3, ..request() });
        assert_eq!(few, "episodes: expected 24 to 100000, found 3");
        let both = Request { cameras: true, anomalies: vec!["obs-noise".into()], ..request() };
        assert_eq!(refusal(both), "expected one of anomalies, cameras and at");
    }
}
