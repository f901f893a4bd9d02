//! Scores from anywhere, as CSV with the columns `episode`, `step`, `score`, `label`, and the metrics of them.
//!
//! Columns come in any order and others are ignored; rows too come in any order. An episode is named by any text, a
//! step is a whole number, a score a finite number, a label 0 or 1 (or 0.0, 1.0, False, True, false, true, as other
//! programs write them). A column `twin` may name, in each row of an anomalous episode, the nominal episode with the same
//! seed and initial condition; then there are matched metrics. What is wrong is named with file, line and column.
//!
//! ```
//! let csv = b"episode,step,score,label\na,0,0.1,0\na,1,0.9,1\n";
//! let episodes = offnominal_bench::metrics_file::read("scores.csv", csv)?;
//! assert_eq!((episodes[0].scores.len(), episodes[0].onset), (2, Some(1)));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod rows;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use offnominal_core::Seed;
use offnominal_core::estimate::Estimate;
use offnominal_core::limits::REPLICATES;
use offnominal_engine::context::Context;
use offnominal_engine::request::within;
use offnominal_stats::{Bootstrap, Level, Mode, ScoredEpisode, StatsError, delays, detection};
use serde::{Serialize, Serializer};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

use rows::{Episode, neighbours, paired, rows};

/// What to judge; the seed of the intervals is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// CSV file with episode, step, score, label, perhaps twin; `-` is standard input
    pub file: PathBuf,
    /// Alarm threshold; adds delay, missed, early and false alarms
    #[arg(long, allow_negative_numbers = true, value_name = "SCORE")]
    pub threshold: Option<f64>,
    /// Bootstrap replicates per interval
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub replicates: u32,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95, value_name = "P", allow_negative_numbers = true)]
    pub level: f64,
}

/// The metrics of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The metrics.
    pub rows: Rows,
    /// Episodes in the file.
    pub episodes: usize,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Whether delays count events in place of episodes: some anomalies end before their episode does.
    pub by_event: bool,
}

/// Reads the scores and judges them.
///
/// # Errors
/// If the file cannot be read or something in it is wrong.
pub fn run(request: &Request, context: &Context) -> Result<Judged> {
    within("replicates", request.replicates as usize, 1..=REPLICATES)?;
    let name = request.file.display().to_string();
    request.judge(&name, &offnominal_files::read::bytes(&request.file)?, context)
}

impl Request {
    /// Judges the content of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// If something in it is wrong.
    pub fn judge(&self, file: &str, bytes: &[u8], context: &Context) -> Result<Judged> {
        let plan = Bootstrap::new(self.replicates as usize, Level::try_from(self.level)?, Seed(context.seed));
        let read = if self.threshold.is_some() { read_without_gaps } else { read };
        let episodes = read(file, bytes)?;
        let rows = judge(file, &episodes, self.threshold, &plan)?;
        let by_event = self.threshold.is_some() && episodes.iter().any(ScoredEpisode::has_passing_events);
        Ok(Judged { rows, episodes: episodes.len(), level: self.level, by_event })
    }
}

/// An object metric → estimate; null where these scores do not define it.
impl Serialize for Judged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.rows.iter().map(|(id, found)| (id, found.as_ref().ok())))
    }
}

impl Display for Judged {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} episodes, {} % intervals", self.episodes, 100.0 * self.level)?;
        let width = self.rows.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
        self.rows.iter().try_for_each(|(id, found)| match found {
            Ok(found) => write!(out, "\n  {id:<width$} {found:.4}  ({}, n = {})", found.method, found.n),
            Err(why) => write!(out, "\n  {id:<width$} no value: {why}"),
        })?;
        if self.by_event {
            write!(
                out,
                "\nsome episodes have several events, or one that ends: each labelled event counts by itself, and is detected \
                 by an alarm while it lasts; false alarms are those of nominal stretches"
            )?;
        }
        Ok(())
    }
}

/// The columns that are read.
pub const COLUMNS: [&str; 4] = ["episode", "step", "score", "label"];

/// Name in results and estimate of each metric, or why there is none.
pub type Rows = Vec<(&'static str, Result<Estimate, StatsError>)>;

/// Reads scored episodes, in order of first appearance.
///
/// # Errors
/// Whatever is wrong, by file, line and column; `file` is the name used in messages.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<ScoredEpisode>> {
    paired(file, rows(file, bytes)?)
}

/// As [`read`], for delays: refuses episodes with missing steps.
///
/// # Errors
/// As [`read`], and if steps are not consecutive.
pub fn read_without_gaps(file: &str, bytes: &[u8]) -> Result<Vec<ScoredEpisode>> {
    let episodes = rows(file, bytes)?;
    for Episode { name, rows, .. } in &episodes {
        if let Some([before, after]) = neighbours(rows).find(|[a, b]| b.step - a.step > 1) {
            bail!(
                "{file}, line {}: expected step {} of episode {name:?} (delays count steps), found step {}",
                after.line,
                before.step + 1,
                after.step
            );
        }
    }
    paired(file, episodes)
}

/// The metrics of scored episodes: local, pooled and, with twins, matched ranking, and delays if there is a threshold. A
/// metric that these episodes do not define comes with the reason.
///
/// # Errors
/// If there are not steps of both classes.
pub fn judge(
    file: &str,
    episodes: &[ScoredEpisode],
    threshold: Option<f64>,
    plan: &Bootstrap,
) -> Result<Rows> {
    let because = |why: StatsError| anyhow!("{file}: {why}");
    let pooled = detection(episodes, Mode::Global, plan).map_err(because)?;
    let mut rows: Vec<_> = match detection(episodes, Mode::Local, plan) {
        Ok(local) => local.rows().map(|(id, found)| (id, Ok(found.clone()))).to_vec(),
        Err(why) => Mode::Local.metric_ids().map(|id| (id, Err(why.clone()))).to_vec(),
    };
    rows.extend(pooled.rows().map(|(id, found)| (id, Ok(found.clone()))));
    if episodes.iter().any(|episode| episode.twin.is_some()) {
        let matched = detection(episodes, Mode::Matched, plan).map_err(because)?;
        rows.extend(matched.rows().map(|(id, found)| (id, Ok(found.clone()))));
    }
    if let Some(threshold) = threshold {
        let events = events(episodes);
        rows.extend(delays(events.as_deref().unwrap_or(episodes), threshold, plan).map_err(because)?.rows());
    }
    Ok(rows)
}

/// Each stretch of anomalous and of nominal steps as an episode of its own, and the twins, if some anomaly ends before its
/// episode does: an alarm after it is no detection.
fn events(episodes: &[ScoredEpisode]) -> Option<Vec<ScoredEpisode>> {
    let has_passing = episodes.iter().any(ScoredEpisode::has_passing_events);
    let twins = episodes.iter().filter_map(|episode| episode.twin.clone()).map(ScoredEpisode::nominal);
    has_passing.then(|| episodes.iter().flat_map(ScoredEpisode::stretches).chain(twins).collect())
}

#[cfg(test)]
mod tests;
