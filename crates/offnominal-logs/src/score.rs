//! Alarms of a monitor in recordings, and what they are worth where labels or outcomes tell the truth.

mod draw;
mod event;
mod gaps;
#[cfg(not(target_family = "wasm"))]
mod good_bad;
mod lost;
#[cfg(not(target_family = "wasm"))]
mod mcap;
mod overview;
mod page;
mod ranking;
mod recording;
pub(crate) mod remarks;
mod truth;
mod when;
mod whole;

pub use lost::LostSensor;
pub use ranking::Ranked;
pub use recording::{AlarmSpan, ScoredRecording};
pub use truth::{KindFound, Truth};
pub use whole::Whole;

use crate::mapping::{Episodes, Mapping};
use crate::recordings::{self, Recordings};
use anyhow::Result;
use offnominal_core::{Seed, outside};
use offnominal_monitor::{About, Monitor};
use offnominal_work::context::Context;
use offnominal_work::steps;
use recording::Tell;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// File of a monitor that was fitted on logs, or on an environment whose channels the mapping names.
    pub monitor: PathBuf,
    /// The logs.
    pub logs: Vec<PathBuf>,
    /// A mapping with the channels of the monitor; without one, that of the fit.
    pub map: Option<PathBuf>,
    /// A file of events, whose intervals are the labels of the logs.
    pub events: Option<PathBuf>,
    /// Logs that are anomalous as a whole, while the others are nominal; if there is none, labels and outcomes tell.
    pub bad: Vec<PathBuf>,
    /// The page to write; if absent, none is written.
    pub report: Option<PathBuf>,
    /// The table of alarms to write as CSV; if absent, none is written.
    pub alarms: Option<PathBuf>,
    /// The MCAP file of all verdicts to write; if absent, none is written.
    pub mcap: Option<PathBuf>,
}

/// What a monitor says of recordings.
#[derive(Debug, Clone, Serialize)]
pub struct ScoredLogs {
    /// The detector.
    pub detector: String,
    /// The recordings in the order in which they begin.
    pub recordings: Vec<ScoredRecording>,
    /// What the alarms are worth.
    pub truth: Truth,
    /// How well the statistic ranks recordings at the same step, beside a clock and random numbers; where labels or
    /// outcomes say which of them are anomalous.
    pub ranked: Vec<Ranked>,
    /// What was left out of the logs, taken as missing or for granted, and what makes the promise of the monitor doubtful.
    pub remarks: Vec<String>,
    /// What the monitor says of itself.
    #[serde(skip)]
    pub about: About,
    /// What a recording is called: a window, if the mapping cuts logs so.
    #[serde(skip)]
    pub kind: &'static str,
}

/// Scores the recordings and writes what was asked for.
///
/// # Errors
/// If a file cannot be read or written, there is no mapping, or the logs have other channels.
#[cfg(not(target_family = "wasm"))]
pub fn run(request: &Request, context: &Context) -> Result<ScoredLogs> {
    use crate::episodes::Recorded;
    use crate::events::Events;
    use anyhow::{Context as _, ensure};
    use offnominal_files::write::atomically;
    use offnominal_monitor::VerdictLine;
    let mut monitor = offnominal_engine::monitor_file::open(&request.monitor)?;
    let mapping = recordings::mapping_of(monitor.about(), request.map.as_deref())
        .with_context(|| format!("monitor {}", request.monitor.display()))?;
    let (logs, bad) = good_bad::logs(&request.logs, &request.bad)?;
    let all = [logs, bad.clone()].concat();
    let mut recordings = recordings::read(&all, &mapping, crate::chosen::Truth::IfThere, context)?;
    if !bad.is_empty() {
        ensure!(
            request.events.is_none(),
            "bad: expected no --events beside --bad, as both say what was wrong"
        );
        good_bad::mark(&mut recordings, &bad, &mapping)?;
    }
    if let Some(path) = &request.events {
        Events::open(path)?.label(&mut recordings)?;
    }
    let about = monitor.about().clone();
    let mcap = request.mcap.as_ref().map(|path| mcap::File::begin(path, &about, &recordings, context));
    let mut mcap = mcap.transpose()?;
    let found = match &mut mcap {
        Some(file) => {
            let mut tell = |recorded: &Recorded, line: &VerdictLine<'_>| file.step(recorded, line);
            told(&mut monitor, recordings, &mapping, context, Some(&mut tell))
        }
        None => of(&mut monitor, recordings, &mapping, context),
    };
    // What was scored before an error is kept too.
    let finished = mcap.map_or(Ok(()), mcap::File::finish);
    let found = found?;
    finished?;
    if let Some(path) = &request.alarms {
        atomically(path, &found.table()?)?;
    }
    if let Some(path) = &request.report {
        atomically(path, found.page()?.as_bytes())?;
    }
    Ok(found)
}

/// Scores recordings that were read with a mapping that has the monitor's channels.
///
/// # Errors
/// If a step cannot be scored, or the work was asked to stop.
pub fn of(
    monitor: &mut Monitor,
    recordings: Recordings,
    mapping: &Mapping,
    context: &Context,
) -> Result<ScoredLogs> {
    told(monitor, recordings, mapping, context, None)
}

/// The same, with who is told every verdict.
fn told(
    monitor: &mut Monitor,
    recordings: Recordings,
    mapping: &Mapping,
    context: &Context,
    mut tell: Option<Tell<'_>>,
) -> Result<ScoredLogs> {
    let Recordings { all: recordings, mut remarks, are_whole, .. } = recordings;
    let task = context.task(recordings.len(), "recordings");
    let score = |recorded| {
        task.check()?;
        let mut scored = ScoredRecording::told(monitor, recorded, mapping, &mut tell)?;
        scored.labelled_secs = scored.labelled_secs.filter(|_| !are_whole);
        task.inc(1);
        Ok(scored)
    };
    let recordings = recordings.into_iter().map(score).collect::<Result<Vec<_>>>()?;
    let about = monitor.about().clone();
    let detector = about.detector.id.clone();
    let ranked = ranking::ranked(&recordings, &detector, Seed(context.seed));
    remarks.extend(remarks::remarks(&recordings, &about, mapping));
    let is_cut = matches!(mapping.episodes, Episodes::Window { .. });
    let kind = if is_cut { "window" } else { "recording" };
    let mut truth = Truth::of(&recordings)?;
    if are_whole {
        truth.median_delay_secs = None;
        truth.whole = Some(Whole::of(&recordings, is_cut, Seed(context.seed)));
    }
    Ok(ScoredLogs { remarks, detector, truth, ranked, recordings, about, kind })
}

impl ScoredLogs {
    /// All recordings with their alarms as a page.
    ///
    /// # Errors
    /// If the template cannot be filled, which is a mistake of ours.
    pub fn page(&self) -> Result<String> {
        page::page(self)
    }

    /// What so many recordings are called.
    fn kinds(&self, n: usize) -> String {
        let s = if n == 1 { "" } else { "s" };
        format!("{}{s}", self.kind)
    }

    /// Every step as CSV.
    ///
    /// # Errors
    /// None that is known: memory takes whatever is written.
    pub fn steps(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        steps::write(&mut out, self.recordings.iter().map(ScoredRecording::labelled_steps))?;
        Ok(out)
    }

    /// All alarms as CSV.
    ///
    /// # Errors
    /// If a name cannot be written.
    pub fn table(&self) -> Result<Vec<u8>> {
        let mut out = csv::Writer::from_writer(Vec::new());
        out.write_record([
            "log",
            "part",
            "step",
            "time_nanos",
            "secs",
            "until_secs",
            "onset_secs",
            "peak",
            "threshold",
            "channels",
            "outside",
            "evidence",
        ])?;
        for recording in &self.recordings {
            for alarm in &recording.alarms {
                let channels: Vec<&str> = alarm.channels.iter().map(|c| c.name.as_str()).collect();
                let beyond: Vec<&str> = alarm.outside.iter().map(|c| c.name.as_str()).collect();
                out.serialize((
                    outside::cell(&recording.log.display().to_string()),
                    recording.number,
                    alarm.step,
                    alarm.time_nanos,
                    alarm.secs,
                    alarm.until_secs,
                    alarm.onset_secs,
                    alarm.peak,
                    recording.threshold,
                    outside::cell(&channels.join(" ")),
                    outside::cell(&beyond.join(" ")),
                    outside::cell(alarm.evidence.as_deref().unwrap_or_default()),
                ))?;
            }
        }
        Ok(out.into_inner()?)
    }
}

/// So many quiet recordings have a line of their own each.
const FEW: usize = 3;

impl Display for ScoredLogs {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (quiet, other): (Vec<_>, Vec<_>) =
            self.recordings.iter().partition(|recording| recording.is_quiet());
        writeln!(
            out,
            "{} on {} {}",
            self.detector,
            self.recordings.len(),
            self.kinds(self.recordings.len())
        )?;
        if quiet.len() > FEW {
            other.iter().try_for_each(|recording| writeln!(out, "  {recording}"))?;
            writeln!(out, "  {} quiet {}", quiet.len(), self.kinds(quiet.len()))?;
        } else {
            self.recordings.iter().try_for_each(|recording| writeln!(out, "  {recording}"))?;
        }
        recordings::write(&self.remarks, out)?;
        write!(out, "{}", self.truth)?;
        self.ranked.iter().try_for_each(|ranked| write!(out, "\n{ranked}"))
    }
}

impl Display for ScoredRecording {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {} steps", self.name, self.steps)?;
        match &self.alarms[..] {
            [] => write!(out, ", no alarm")?,
            [first, more @ ..] => {
                write!(out, ", alarm {}", self.after(first.secs))?;
                let names: Vec<&str> = first.channels.iter().take(3).map(|c| c.name.as_str()).collect();
                if !names.is_empty() {
                    write!(out, " ({})", names.join(", "))?;
                }
                self.evidence(first).iter().try_for_each(|told| write!(out, ": {told}"))?;
                if !more.is_empty() {
                    write!(out, " and {} more", more.len())?;
                }
            }
        }
        self.lost_sensors().try_for_each(|sensor| write!(out, "; {sensor}"))?;
        self.labelled_secs.map_or(Ok(()), |secs| write!(out, "; labelled from {}", self.moment(secs)))
    }
}

impl ScoredRecording {
    /// Whether nothing happened in it, and nothing says that something should have.
    fn is_quiet(&self) -> bool {
        self.alarms.is_empty() && self.lost.is_empty() && self.is_anomalous() != Some(true)
    }

    /// A moment of it in words: its date, if the log has dates, else the seconds since its beginning.
    fn moment(&self, secs: f64) -> String {
        let time = self.time_nanos(secs);
        if when::is_date(time) { when::said(time) } else { format!("{secs:.3} s") }
    }

    /// What spoke at an alarm, and since when, in words.
    fn evidence(&self, alarm: &AlarmSpan) -> Option<String> {
        let earlier = if alarm.may_be_earlier { "before " } else { "" };
        let since =
            alarm.onset_secs.map_or(String::new(), |secs| format!(", since {earlier}{}", self.moment(secs)));
        alarm.evidence.as_ref().map(|says| format!("{says}{since}"))
    }

    /// The sensors that were lost, and when, in words.
    fn lost_sensors(&self) -> impl Iterator<Item = String> {
        self.lost.iter().map(|LostSensor { name, secs, until_secs }| {
            let back = until_secs.map_or(String::new(), |secs| format!(", back {}", self.after(secs)));
            format!("{name} lost {}{back}", self.after(*secs))
        })
    }

    /// The same after a verb.
    fn after(&self, secs: f64) -> String {
        let preposition = if when::is_date(self.start_nanos) { "at" } else { "after" };
        format!("{preposition} {}", self.moment(secs))
    }
}
