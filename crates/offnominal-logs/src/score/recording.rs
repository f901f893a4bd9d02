//! A recording with what a monitor says of each step.

use crate::episodes::Recorded;
use crate::mapping::Mapping;
use crate::score::lost::{self, LostSensor};
use anyhow::{Context as _, Result};
use offnominal_core::alarm::Event;
use offnominal_core::reference::relative;
use offnominal_detectors::diagnosis::{Family, HISTORY};
use offnominal_monitor::{ChannelName, Monitor, Share, Verdict, VerdictLine};
use offnominal_topics::clock::nanos;
use serde::Serialize;
use std::path::PathBuf;

/// Steps before an alarm in which channels are looked at.
const SHORTLY: usize = 10;

/// Who is told every verdict of a recording.
pub(super) type Tell<'t> = &'t mut dyn FnMut(&Recorded, &VerdictLine<'_>);

/// A recording, scored.
#[derive(Debug, Clone, Serialize)]
pub struct ScoredRecording {
    /// The log.
    pub log: PathBuf,
    /// Its number within the log, from 1.
    pub number: usize,
    /// What it is called.
    #[serde(skip)]
    pub name: String,
    /// Number of steps.
    pub steps: usize,
    /// The time of its first observation in nanoseconds of the clock of the log.
    pub start_nanos: i64,
    /// Length in seconds.
    pub length_secs: f64,
    /// The largest score.
    pub largest_score: f64,
    /// Share of the numbers that were missing.
    pub share_missing: f64,
    /// The alarms in the order of time.
    pub alarms: Vec<AlarmSpan>,
    /// Sensors that were lost, in the order of time; that is no alarm.
    pub lost: Vec<LostSensor>,
    /// When the label first says that something is wrong.
    pub labelled_secs: Option<f64>,
    /// Whether it succeeded, if the log says so.
    pub success: Option<bool>,
    /// Its task, if the log names one.
    pub task: Option<String>,
    /// What the statistic was compared with.
    pub threshold: f64,
    /// Whether the monitor has thresholds of groups, and none for the task of this recording.
    pub has_unknown_task: bool,
    /// What the monitor says of each step.
    #[serde(skip)]
    pub verdicts: Vec<Verdict>,
    /// What was recorded.
    #[serde(skip)]
    pub recorded: Recorded,
}

/// An alarm from the step that raised it to the one that cleared it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmSpan {
    /// The step that raised it.
    pub step: u64,
    /// When it ended, in seconds since the first step of the recording.
    pub secs: f64,
    /// The same in nanoseconds of the clock of the log.
    pub time_nanos: i64,
    /// When the alarm was cleared, or the recording ended.
    pub until_secs: f64,
    /// What spoke, in words, if the detector tells: which statistic, of which channel, against what.
    pub evidence: Option<String>,
    /// When it seems to have begun: by the diagnosis, or else since when what spoke has been among the highest
    /// tenth of nominal steps.
    pub onset_secs: Option<f64>,
    /// Whether the onset is the first step that a diagnosis looks at, so that it may have begun before.
    pub may_be_earlier: bool,
    /// The largest statistic while it was on.
    pub peak: f64,
    /// Where the fault seems to lie, with its probability, if the monitor diagnoses.
    pub family: Option<(Family, f64)>,
    /// What deviated, most first, if the monitor diagnoses.
    pub channels: Vec<Deviating>,
    /// Which part of the score at the alarm is due to each channel, the largest first, if the detector tells.
    pub shares: Vec<Share>,
    /// Channels that left their usual range shortly before the alarm or while it was on, the farthest first.
    pub outside: Vec<Outside>,
}

/// A channel outside of its usual range, which holds 98 % of its values in training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outside {
    /// Its name.
    pub name: String,
    /// How far beyond the range, in widths of the range.
    pub widths: f64,
}

/// A channel that is off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deviating {
    /// Its name.
    pub name: String,
    /// How far, in nominal standard deviations of a prediction.
    pub size: f64,
}

impl ScoredRecording {
    /// Lets a monitor watch a recording.
    ///
    /// # Errors
    /// If a step cannot be scored.
    pub fn of(monitor: &mut Monitor, recorded: Recorded, mapping: &Mapping) -> Result<ScoredRecording> {
        ScoredRecording::told(monitor, recorded, mapping, &mut None)
    }

    /// The same, with who is told every verdict.
    pub(super) fn told(
        monitor: &mut Monitor,
        recorded: Recorded,
        mapping: &Mapping,
        tell: &mut Option<Tell<'_>>,
    ) -> Result<ScoredRecording> {
        let (mut verdicts, mut alarms) = (Vec::with_capacity(recorded.secs.len()), Vec::<AlarmSpan>::new());
        let has_unknown_task = !monitor.begin_task(recorded.task.as_deref());
        let mut lost = Vec::new();
        for seen in recorded.signals(mapping).transitions() {
            let verdict = monitor.transition(&seen).with_context(|| recorded.name())?;
            if verdict.event == Some(Event::Raised) {
                alarms.push(raised(monitor, &verdict, &recorded));
            }
            if verdict.sensor_event.is_some() {
                lost::note(&mut lost, monitor.lost(), recorded.after(verdict.step));
            }
            if let Some(alarm) = alarms.last_mut().filter(|_| is_on(&verdict)) {
                alarm.peak = alarm.peak.max(verdict.statistic);
                alarm.until_secs = recorded.after(verdict.step);
            }
            if let Some(tell) = tell {
                tell(&recorded, &line(monitor, verdict, &recorded));
            }
            verdicts.push(verdict);
        }
        let about = monitor.about();
        for alarm in &mut alarms {
            alarm.outside = recorded.outside(alarm, &about.usual, &about.observation);
        }
        let labelled = recorded.labels.as_ref().and_then(|labels| labels.iter().position(|&label| label));
        Ok(ScoredRecording {
            log: recorded.log.clone(),
            number: recorded.number,
            name: recorded.name(),
            steps: verdicts.len(),
            start_nanos: recorded.start_nanos,
            length_secs: recorded.secs.last().copied().unwrap_or(0.0),
            largest_score: verdicts.iter().map(|v| v.score).fold(f64::NEG_INFINITY, f64::max),
            share_missing: recorded.share_missing(),
            alarms,
            lost,
            labelled_secs: labelled.map(|step| recorded.after(step as u64)),
            success: recorded.success,
            task: recorded.task.clone(),
            threshold: monitor.threshold(),
            has_unknown_task,
            verdicts,
            recorded,
        })
    }

    /// The verdicts with the labels of their steps; without labels none is anomalous.
    pub fn labelled_steps(&self) -> impl Iterator<Item = (Verdict, bool)> + use<'_> {
        let label = |step| self.recorded.labels.as_ref().is_some_and(|labels| labels[step]);
        self.verdicts.iter().enumerate().map(move |(step, verdict)| (*verdict, label(step)))
    }

    /// The time of some seconds since its first observation in nanoseconds of the clock of the log.
    pub(super) fn time_nanos(&self, secs: f64) -> i64 {
        self.start_nanos + nanos(secs)
    }

    /// Whether anything says that it was not nominal; `None` if nothing says either.
    pub fn is_anomalous(&self) -> Option<bool> {
        match (&self.recorded.labels, self.success) {
            (None, None) => None,
            _ => Some(self.recorded.not_nominal().is_some()),
        }
    }
}

/// A verdict as `monitor` tells it.
fn line<'m>(monitor: &'m mut Monitor, mut verdict: Verdict, recorded: &Recorded) -> VerdictLine<'m> {
    let secs = recorded.after(verdict.step);
    verdict.beyond_promise |= monitor.about().is_other_pace(secs, verdict.step + 1);
    let time_nanos = Some(recorded.start_nanos + nanos(secs));
    VerdictLine { time_nanos, secs: Some(secs), ..monitor.line(verdict, 0) }
}

fn is_on(verdict: &Verdict) -> bool {
    verdict.state == offnominal_core::alarm::State::Raised
}

fn raised(monitor: &mut Monitor, verdict: &Verdict, recorded: &Recorded) -> AlarmSpan {
    let (secs, shares) = (recorded.after(verdict.step), monitor.shares().unwrap_or_default());
    let (evidence, since) = monitor.evidence().map(|found| (found.says, found.since)).unzip();
    let diagnosis = monitor.diagnose();
    let deviating = |(name, off): (&str, offnominal_detectors::diagnosis::Deviation)| Deviating {
        name: name.into(),
        size: off.size,
    };
    let onset = diagnosis.as_ref().map(|d| d.onset());
    // Where the family is unknown, all have the same probability.
    let family = diagnosis.as_ref().map(|d| {
        let all = d.probabilities();
        (d.family(), all.into_iter().find(|(family, _)| *family == d.family()).unwrap_or(all[0]).1)
    });
    AlarmSpan {
        step: verdict.step,
        secs,
        time_nanos: recorded.start_nanos + nanos(secs),
        until_secs: secs,
        evidence,
        onset_secs: onset.or(since.flatten()).map(|step| recorded.after(step)),
        may_be_earlier: onset.is_some_and(|step| step > 0 && verdict.step - step + 1 >= HISTORY as u64),
        peak: verdict.statistic,
        family,
        channels: diagnosis.iter().flat_map(|d| d.channels().map(deviating)).collect(),
        shares,
        outside: Vec::new(),
    }
}

impl Recorded {
    /// When a step had ended, in seconds since the first observation.
    pub(crate) fn after(&self, step: u64) -> f64 {
        self.secs[step as usize + 1]
    }

    /// The channels that left their usual range at an alarm.
    fn outside(&self, alarm: &AlarmSpan, usual: &[[f32; 2]], names: &[ChannelName]) -> Vec<Outside> {
        let until = self.secs.partition_point(|&secs| secs <= alarm.until_secs);
        let rows = (alarm.step as usize + 1).saturating_sub(SHORTLY)..until;
        let farthest = |(channel, &[low, high]): (usize, &[f32; 2])| {
            let less = |x: f64| relative(x, names[channel].reference).unwrap_or(f32::NAN);
            let numbers = rows.clone().map(|row| less(self.observations[row * names.len() + channel]));
            let beyond = numbers.map(|x| f64::from((low - x).max(x - high))).fold(0.0, f64::max);
            // A channel that hardly moved in training has next to no width.
            let width = f64::from(high - low).max(1e-6 * f64::from(low.abs().max(high.abs())));
            (beyond > 0.0)
                .then(|| Outside { name: names[channel].name.clone(), widths: beyond / width.max(1e-12) })
        };
        let mut outside: Vec<Outside> = usual.iter().enumerate().filter_map(farthest).collect();
        outside.sort_by(|a, b| b.widths.total_cmp(&a.widths));
        outside
    }
}
