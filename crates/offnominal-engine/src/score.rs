//! A monitor's scores of recorded episodes.

use crate::context::Context;
use crate::monitor_file;
use anyhow::{Context as _, Result};
use offnominal_core::alarm::Event;
use offnominal_core::prelude::*;
use offnominal_files::dataset;
use offnominal_monitor::{Monitor, Verdict};
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// File of a monitor.
    pub monitor: PathBuf,
    /// File of episodes of the same environment.
    pub episodes: PathBuf,
}

/// What a monitor says of episodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Scored {
    /// What happened in each episode.
    pub episodes: Vec<Summary>,
    /// The verdicts and labels of the steps of each episode.
    #[serde(skip)]
    pub steps: Vec<Vec<(Verdict, bool)>>,
    /// The detector's name.
    #[serde(skip)]
    pub detector: String,
}

/// What happened in one episode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its number.
    pub episode: usize,
    /// Its length.
    pub steps: usize,
    /// The first anomalous step, if it was reached.
    pub onset: Option<u32>,
    /// The largest score.
    pub largest_score: f64,
    /// The step of the first alarm.
    pub alarm: Option<u64>,
}

/// Scores the episodes.
///
/// # Errors
/// If a file cannot be read, or the episodes are of another environment.
pub fn run(request: &Request, context: &Context) -> Result<Scored> {
    let mut monitor = monitor_file::open(&request.monitor)?;
    let dataset = dataset::load(&request.episodes)?;
    let place = || format!("dataset {}", request.episodes.display());
    monitor_file::check(&monitor, &dataset).with_context(place)?;
    let (mut episodes, mut steps) = (Vec::new(), Vec::new());
    for (i, episode) in dataset.episodes.iter().enumerate() {
        context.check()?;
        let verdicts =
            verdicts(&mut monitor, episode).with_context(|| format!("{}, episode {i}", place()))?;
        episodes.push(Summary::of(i, episode, &verdicts));
        steps.push(verdicts.into_iter().zip(episode.labels.iter().copied()).collect());
    }
    Ok(Scored { episodes, steps, detector: monitor.about().detector.id.clone() })
}

fn verdicts(monitor: &mut Monitor, episode: &Episode) -> Result<Vec<Verdict>> {
    monitor.reset();
    episode.signals().transitions().map(|seen| Ok(monitor.transition(&seen)?)).collect()
}

impl Summary {
    fn of(episode: usize, played: &Episode, verdicts: &[Verdict]) -> Summary {
        Summary {
            episode,
            steps: played.len(),
            onset: played.onset.filter(|&onset| (onset as usize) < played.len()),
            largest_score: verdicts.iter().map(|v| v.score).fold(f64::NEG_INFINITY, f64::max),
            alarm: verdicts.iter().find(|v| v.event == Some(Event::Raised)).map(|v| v.step),
        }
    }
}

impl Display for Scored {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (anomalous, nominal): (Vec<&Summary>, Vec<&Summary>) =
            self.episodes.iter().partition(|s| s.onset.is_some());
        let before = |s: &&&Summary| s.alarm.zip(s.onset).is_some_and(|(alarm, onset)| alarm < onset.into());
        let after = |s: &&&Summary| s.alarm.zip(s.onset).is_some_and(|(alarm, onset)| alarm >= onset.into());
        writeln!(out, "{} on {} episodes", self.detector, self.episodes.len())?;
        let alarms = nominal.iter().filter(|s| s.alarm.is_some()).count();
        writeln!(out, "  nominal:   {} episodes, {alarms} with a false alarm", nominal.len())?;
        write!(
            out,
            "  anomalous: {} episodes, {} detected, {} with an alarm before the onset, {} missed",
            anomalous.len(),
            anomalous.iter().filter(after).count(),
            anomalous.iter().filter(before).count(),
            anomalous.iter().filter(|s| s.alarm.is_none()).count()
        )
    }
}
