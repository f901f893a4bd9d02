//! From recordings to an alarm, on recordings that are made for it: a car that keeps its lane.

mod drive;

use crate::fit::{self, FittedOnLogs};
use crate::inspect::{self, Inspected};
use crate::score::{self, ScoredLogs};
use anyhow::Result;
use drive::Drives;
use offnominal_engine::context::Context;
use offnominal_work::fitting::Fitting;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// The seed of the recordings and of the fit.
const SEED: u64 = 1;

/// What the demo wrote and found.
#[derive(Debug, Clone, Serialize)]
pub struct Demo {
    /// The commands that do the same with the recordings.
    pub commands: [String; 3],
    /// What `inspect` found.
    #[serde(skip)]
    pub inspected: Inspected,
    /// What `fit` made.
    pub fitted: FittedOnLogs,
    /// What `score` found.
    pub scored: ScoredLogs,
    /// The page with a picture of the alarm.
    pub report: PathBuf,
}

/// Writes recordings into a folder, and goes from them to an alarm as the commands do.
///
/// # Errors
/// If a file cannot be written, or the work was asked to stop.
pub fn run(folder: &Path, context: &Context) -> Result<Demo> {
    let context = &Context { seed: SEED, ..context.clone() };
    let Drives { nominal, new } = Drives::write(folder, context)?;
    let [map, monitor, report] = ["map.toml", "car.monitor", "alarm.html"].map(|name| folder.join(name));
    let request =
        inspect::Request { logs: nominal.clone(), map: Some(map.clone()), report: None, against: vec![] };
    let inspected = inspect::run(&request, context)?;
    let (map, file) = (Some(map), monitor.clone());
    let request = fit::Request {
        logs: nominal,
        map,
        events: None,
        until: None,
        by_task: false,
        fitting: Fitting::default(),
        file,
    };
    let fitted = fit::run(&request, context)?;
    let request = score::Request {
        monitor,
        logs: new,
        map: None,
        events: None,
        bad: vec![],
        report: Some(report.clone()),
        alarms: None,
        mcap: None,
    };
    let scored = score::run(&request, context)?;
    Ok(Demo { commands: commands(folder), inspected, fitted, scored, report })
}

fn commands(folder: &Path) -> [String; 3] {
    let at = folder.display();
    [
        format!("offnominal inspect {at}/run*.csv --out {at}/map.toml"),
        format!(
            "offnominal fit {at}/run*.csv --map {at}/map.toml --alpha 0.05 --seed {SEED} --out {at}/car.monitor"
        ),
        format!("offnominal score {at}/car.monitor {at}/new-*.csv --report {at}/alarm.html"),
    ]
}

impl Display for Demo {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [inspect, fit, score] = &self.commands;
        writeln!(
            out,
            "{} recordings of a car that keeps its lane, and two of a new drive: in one of them the camera is knocked after 6 s.\n",
            self.fitted.recordings
        )?;
        writeln!(out, "$ {inspect}\n{}\n", self.inspected.mapping.trim_end())?;
        writeln!(out, "$ {fit}\n{}\n", self.fitted)?;
        writeln!(out, "$ {score}\n{}\n", self.scored)?;
        write!(out, "The picture of the alarm is in {}", self.report.display())
    }
}
