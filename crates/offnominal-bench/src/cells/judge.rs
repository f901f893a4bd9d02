//! Cells that are judgements: rows, scores over time and delay curves of one detector.

use crate::campaign::Setting;
use crate::cells::cell::Judgement;
use crate::cells::coverage;
use crate::cells::rows::{self, Alarm};
use crate::cells::scoring::{self, Scored};
use crate::cells::tell::Tell;
use crate::images::panels::Shown;
use crate::results::{Coverage, DelayCurve, Panel, Row, Trace};
use anyhow::{Context, Result};
use offnominal_engine::parallel;
use offnominal_engine::progress::Task;
use offnominal_engine::remarks;
use offnominal_engine::subject::Subject;
use offnominal_files::store::Store;
use offnominal_stats::alarm::statistic::Statistic;
use offnominal_stats::{Bootstrap, ScoredEpisode, Threshold, delays};
use serde::{Deserialize, Serialize};

/// Name of the file of a judgement in a cell.
pub(super) const JUDGEMENT: &str = "judgement.json";

/// Class, anomaly and strength of the control in results.
pub(super) const CONTROL: &str = "none";

/// The longest delay of a curve, in steps.
const LAST_DELAY: u32 = 50;

/// What a detector did.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub rows: Vec<Row>,
    pub traces: Vec<Trace>,
    pub curves: Vec<DelayCurve>,
    pub coverage: Vec<Coverage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panels: Vec<Panel>,
}

/// The episode of a trace, whose images are shown beside it.
fn shown(trace: &Trace) -> Shown<'_> {
    Shown {
        env: &trace.env,
        anomaly: &trace.anomaly,
        strength: &trace.strength,
        detector: &trace.detector,
        episode: trace.episode,
        onset: trace.onset as usize,
    }
}

/// Says that hardly any alarm is possible, where several episodes reach what seems to be the largest score there is.
fn remark(cell: &Judgement, alarms: &[Alarm], validation: &[Vec<f64>]) {
    let tied = |(rule, threshold): &Alarm| {
        let n = threshold.as_ref().ok()?.tied(validation);
        (n > 1).then_some((*rule, n))
    };
    if let Some((rule, n)) = alarms.iter().find_map(tied) {
        let (detector, env) = (&cell.detector.name, &cell.setup.env);
        remarks::say(format!(
            "{detector} in {env}: hardly any alarm is possible with the rule {rule}, as {n} validation episodes have the same \
             largest value, which seems to be the largest there is"
        ));
    }
}

/// Fits a detector and judges it on every anomaly, on so many threads, and tells how far it is.
pub(super) fn judge(
    cell: &Judgement,
    subject: &Subject,
    store: &Store,
    jobs: usize,
    tell: Tell<'_>,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let scored = scoring::fit(cell, subject, store, tell)?;
    let alarms = rows::alarms(cell.false_alarms, &scored.validation);
    remark(cell, &alarms, &scored.validation);
    let judge = Judge { cell, alarms, scored, plan: rows::plan(cell) };
    let (n, done) = (cell.settings.len(), Task::hidden());
    let judged = parallel::map(jobs, n, &done, |i| {
        tell.task.check()?;
        tell.say(&format!("{} of {n} anomalies", done.position()));
        let (setting, episodes) = &cell.settings[i];
        let mut judged =
            judge.setting(setting, scoring::anomalous(&judge.scored, episodes, subject, store)?)?;
        for trace in &judged.traces {
            judged.panels.extend(scoring::panel(&judge.scored, episodes, (subject, store), &shown(trace))?);
        }
        Ok::<_, anyhow::Error>(judged)
    })?;
    let (curves, coverage) = (judge.curves(&judged)?, coverage::of(cell, &judge.scored, &judge.alarms));
    let (rows, panels) = (judge.control()?, vec![]);
    let mut verdict = Verdict { rows, traces: vec![], curves, coverage, panels };
    for one in judged {
        verdict.rows.extend(one.rows);
        verdict.traces.extend(one.traces);
        verdict.panels.extend(one.panels);
    }
    Ok(vec![(JUDGEMENT, serde_json::to_vec(&verdict)?)])
}

/// One detector, fitted, with its thresholds.
struct Judge<'a> {
    cell: &'a Judgement,
    scored: Scored,
    alarms: Vec<Alarm>,
    plan: Bootstrap,
}

/// One anomaly at one strength, judged.
struct Judged {
    strength: String,
    episodes: Vec<ScoredEpisode>,
    rows: Vec<Row>,
    traces: Vec<Trace>,
    panels: Vec<Panel>,
}

impl Judge<'_> {
    fn setting(&self, setting: &Setting, episodes: Vec<ScoredEpisode>) -> Result<Judged> {
        let Setting { class, anomaly, strength, magnitude, .. } = setting;
        let blank = rows::blank(self.cell, class, anomaly, strength, *magnitude);
        let rows =
            rows::rows(&blank, &episodes, &self.alarms, &self.plan).with_context(|| anomaly.clone())?;
        let traces = self.traces(setting, &episodes);
        Ok(Judged { strength: strength.clone(), episodes, rows, traces, panels: vec![] })
    }

    /// Nominal episodes judged as if they were anomalous: whatever is found there is not an anomaly.
    fn control(&self) -> Result<Vec<Row>> {
        let blank = rows::blank(self.cell, CONTROL, CONTROL, CONTROL, 0.0);
        rows::rows(&blank, &self.scored.control, &self.alarms, &self.plan).context("control")
    }

    /// Scores over time of the first episodes that reach their onset.
    fn traces(&self, setting: &Setting, episodes: &[ScoredEpisode]) -> Vec<Trace> {
        if !self.cell.traced.contains(&setting.strength) {
            return vec![];
        }
        let reached = episodes.iter().enumerate().filter_map(|(i, e)| Some((i, e, e.onset_reached()?)));
        let trace = |(i, episode, onset): (usize, &ScoredEpisode, usize)| Trace {
            env: self.cell.setup.env.clone(),
            anomaly: setting.anomaly.clone(),
            strength: setting.strength.clone(),
            detector: self.cell.detector.name.clone(),
            episode: i as u64,
            dt_secs: self.scored.dt_secs,
            onset: onset as u32,
            scores: episode.scores.clone(),
            twin: episode.twin.clone().unwrap_or_default(),
            thresholds: self.levels(),
        };
        reached.take(self.cell.traces).map(trace).collect()
    }

    fn thresholds(&self) -> impl Iterator<Item = (&'static str, &Threshold)> {
        self.alarms.iter().filter_map(|(name, found)| Some((*name, found.as_ref().ok()?)))
    }

    /// The thresholds that are one level for all steps, to be drawn beside the scores.
    fn levels(&self) -> Vec<(String, f64)> {
        let levels = self.thresholds().filter(|(_, t)| t.statistic == Statistic::Score);
        levels.map(|(name, t)| (name.to_string(), t.value)).collect()
    }

    /// One curve per strength and threshold, over all anomalies of that strength. The intervals take the episodes as
    /// independent, though the anomalies share their seeds.
    fn curves(&self, judged: &[Judged]) -> Result<Vec<DelayCurve>> {
        let mut curves = Vec::new();
        let mut strengths: Vec<&str> = Vec::new();
        for one in judged {
            if strengths.contains(&&*one.strength) {
                continue;
            }
            strengths.push(&one.strength);
            let same = judged.iter().filter(|other| other.strength == one.strength);
            let episodes: Vec<ScoredEpisode> = same.flat_map(|one| one.episodes.iter().cloned()).collect();
            for (name, threshold) in self.thresholds() {
                curves.extend(self.curve(&one.strength, name, threshold, &episodes)?);
            }
        }
        Ok(curves)
    }

    fn curve(
        &self,
        strength: &str,
        name: &str,
        threshold: &Threshold,
        episodes: &[ScoredEpisode],
    ) -> Result<Option<DelayCurve>> {
        let found = delays(&threshold.watched(episodes), threshold.value, &self.plan)?;
        let last = LAST_DELAY.min(self.scored.horizon.saturating_sub(1));
        let (Ok(curve), Ok(false_alarms)) = (found.curve(last), found.false_alarm_rate()) else {
            return Ok(None);
        };
        Ok(Some(DelayCurve {
            env: self.cell.setup.env.clone(),
            anomaly: "all".into(),
            strength: strength.into(),
            detector: self.cell.detector.name.clone(),
            threshold: name.into(),
            false_alarm_rate: false_alarms.value,
            detected: curve.iter().map(|e| e.value).collect(),
            low: curve.iter().map(|e| e.low).collect(),
            high: curve.iter().map(|e| e.high).collect(),
        }))
    }
}
