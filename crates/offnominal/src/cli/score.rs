//! `score`: a monitor's scores of recorded episodes.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use clap::Args;
use offnominal_core::alarm::Event;
use offnominal_core::prelude::*;
use offnominal_engine::monitor_file;
use offnominal_files::dataset::{self, Dataset};
use offnominal_monitor::{Monitor, Verdict};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct Score {
    /// File written by `fit`
    #[arg(value_name = "FILE.monitor")]
    monitor: PathBuf,
    /// Episodes written by `collect`, of the same environment
    #[arg(value_name = "EPISODES.arrow")]
    episodes: PathBuf,
    /// Print every step as CSV, which `metrics` reads
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// What happened in one episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Summary {
    episode: usize,
    steps: usize,
    onset: Option<u32>,
    largest_score: f64,
    alarm: Option<u64>,
}

impl Score {
    /// Scores the episodes and prints what was found.
    ///
    /// # Errors
    /// If a file cannot be read, or the episodes are of another environment.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let mut monitor = monitor_file::open(&self.monitor)?;
        let dataset = dataset::load(&self.episodes)?;
        let place = || format!("dataset {}", self.episodes.display());
        monitor_file::check(&monitor, &dataset).with_context(place)?;
        let verdicts = dataset.episodes.iter().enumerate().map(|(i, episode)| {
            verdicts(&mut monitor, episode).with_context(|| format!("{}, episode {i}", place()))
        });
        let verdicts: Vec<Vec<Verdict>> = verdicts.collect::<Result<_>>()?;
        if self.csv {
            as_csv(&dataset, &verdicts)?;
        } else {
            let found: Vec<Summary> = summaries(&dataset, &verdicts).collect();
            print(&found, &monitor, common.json)?;
        }
        Ok(Outcome::Done)
    }
}

fn verdicts(monitor: &mut Monitor, episode: &Episode) -> Result<Vec<Verdict>> {
    monitor.reset();
    episode.signals().transitions().map(|seen| Ok(monitor.transition(&seen)?)).collect()
}

fn as_csv(dataset: &Dataset, verdicts: &[Vec<Verdict>]) -> Result<()> {
    let mut out = csv::Writer::from_writer(std::io::stdout().lock());
    out.write_record(["episode", "step", "score", "label", "statistic", "alarm"])?;
    for (i, (episode, verdicts)) in dataset.episodes.iter().zip(verdicts).enumerate() {
        for (verdict, label) in verdicts.iter().zip(&episode.labels) {
            let is_raised = verdict.state == offnominal_core::alarm::State::Raised;
            let flags = [*label, is_raised].map(u8::from);
            out.serialize((i, verdict.step, verdict.score, flags[0], verdict.statistic, flags[1]))?;
        }
    }
    Ok(out.flush()?)
}

fn summaries(dataset: &Dataset, verdicts: &[Vec<Verdict>]) -> impl Iterator<Item = Summary> {
    dataset.episodes.iter().zip(verdicts).enumerate().map(|(episode, (played, verdicts))| Summary {
        episode,
        steps: played.len(),
        onset: played.onset.filter(|&onset| (onset as usize) < played.len()),
        largest_score: verdicts.iter().map(|v| v.score).fold(f64::NEG_INFINITY, f64::max),
        alarm: verdicts.iter().find(|v| v.event == Some(Event::Raised)).map(|v| v.step),
    })
}

fn print(found: &[Summary], monitor: &Monitor, as_json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(found)?)?;
        return Ok(());
    }
    let (anomalous, nominal): (Vec<&Summary>, Vec<&Summary>) = found.iter().partition(|s| s.onset.is_some());
    let before = |s: &&&Summary| s.alarm.zip(s.onset).is_some_and(|(alarm, onset)| alarm < onset.into());
    let after = |s: &&&Summary| s.alarm.zip(s.onset).is_some_and(|(alarm, onset)| alarm >= onset.into());
    writeln!(out, "{} on {} episodes", monitor.about().detector.id, found.len())?;
    let alarms = nominal.iter().filter(|s| s.alarm.is_some()).count();
    writeln!(out, "  nominal:   {} episodes, {alarms} with a false alarm", nominal.len())?;
    writeln!(
        out,
        "  anomalous: {} episodes, {} detected, {} with an alarm before the onset, {} missed",
        anomalous.len(),
        anomalous.iter().filter(after).count(),
        anomalous.iter().filter(before).count(),
        anomalous.iter().filter(|s| s.alarm.is_none()).count()
    )?;
    Ok(())
}
