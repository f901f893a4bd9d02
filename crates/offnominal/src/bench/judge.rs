//! Cells that are judgements: rows, scores over time and delay curves of one detector.

use super::cell::Judgement;
use super::scoring::{self, Scored};
use crate::campaign::Setting;
use crate::cast::Cast;
use crate::parallel;
use crate::results::{DelayCurve, Row, Trace};
use crate::store::Store;
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use offnominal_core::prelude::*;
use offnominal_stats::{
    Bootstrap, Level, Mode, Rule, ScoredEpisode, StatsError, Threshold, delays, detection,
};
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
}

/// An alarm threshold with its name; absent if the rule cannot be applied.
type Alarm = (&'static str, Result<Threshold, StatsError>);

/// Fits a detector and judges it on every anomaly, on so many threads.
pub(super) fn judge(
    cell: &Judgement,
    cast: &Cast,
    store: &Store,
    jobs: usize,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let scored = scoring::fit(cell, store)?;
    let bench = Bench { cell, alarms: alarms(cell, &scored), scored };
    let judged = parallel::map(jobs, cell.settings.len(), &ProgressBar::hidden(), |i| {
        let (setting, episodes) = &cell.settings[i];
        bench.setting(setting, scoring::anomalous(&bench.scored, episodes, store)?)
    })?;
    let mut verdict = Verdict { rows: bench.control()?, traces: vec![], curves: bench.pooled(&judged)? };
    for one in judged {
        verdict.rows.extend(one.rows);
        verdict.traces.extend(one.traces);
    }
    verdict.rows.iter_mut().for_each(|row| row.policy.clone_from(&cast.name.id));
    Ok(vec![(JUDGEMENT, serde_json::to_vec(&verdict)?)])
}

fn alarms(cell: &Judgement, scored: &Scored) -> Vec<Alarm> {
    let rules = Rule::all(cell.false_alarms);
    rules.iter().map(|rule| (rule.id(), rule.threshold(&scored.validation, Level::P95))).collect()
}

/// One detector, fitted, with its thresholds.
struct Bench<'a> {
    cell: &'a Judgement,
    scored: Scored,
    alarms: Vec<Alarm>,
}

/// One anomaly at one strength, judged.
struct Judged {
    strength: String,
    episodes: Vec<ScoredEpisode>,
    rows: Vec<Row>,
    traces: Vec<Trace>,
}

impl Bench<'_> {
    fn setting(&self, setting: &Setting, episodes: Vec<ScoredEpisode>) -> Result<Judged> {
        let row = self.row(&setting.class, &setting.anomaly, &setting.strength, setting.magnitude);
        let rows = self.rows(&row, &episodes).with_context(|| setting.anomaly.clone())?;
        let traces = self.traces(setting, &episodes);
        Ok(Judged { strength: setting.strength.clone(), episodes, rows, traces })
    }

    /// Nominal episodes judged as if they were anomalous: whatever is found there is not an anomaly.
    fn control(&self) -> Result<Vec<Row>> {
        self.rows(&self.row(CONTROL, CONTROL, CONTROL, 0.0), &self.scored.control).context("control")
    }

    /// A row without a metric.
    fn row(&self, class: &str, anomaly: &str, strength: &str, magnitude: f64) -> Row {
        let setup = &self.cell.setup;
        Row {
            campaign: String::new(),
            env: setup.env.clone(),
            modality: "vector".into(),
            policy: setup.policy.id.clone(),
            anomaly_class: class.into(),
            anomaly: anomaly.into(),
            strength: strength.into(),
            magnitude,
            detector: self.cell.detector.name.clone(),
            seed: setup.seed,
            episodes: 0,
            metric: String::new(),
            threshold: String::new(),
            value: f64::NAN,
            low: f64::NAN,
            high: f64::NAN,
        }
    }

    /// Every metric, those with a threshold for each threshold.
    fn rows(&self, row: &Row, episodes: &[ScoredEpisode]) -> Result<Vec<Row>> {
        let plan = self.plan();
        let mut rows = Vec::new();
        for mode in Mode::ALL {
            let found = detection(episodes, mode, &plan);
            for (k, id) in mode.metric_ids().into_iter().enumerate() {
                let outcome = found.as_ref().map(|d| d.rows()[k].1.clone()).map_err(Clone::clone);
                rows.push(filled(row, id, "", outcome)?);
            }
        }
        for (name, threshold) in &self.alarms {
            rows.extend(self.alarm_rows(row, episodes, name, threshold)?);
        }
        Ok(rows)
    }

    fn alarm_rows(
        &self,
        row: &Row,
        episodes: &[ScoredEpisode],
        name: &str,
        threshold: &Result<Threshold, StatsError>,
    ) -> Result<Vec<Row>> {
        let found = threshold.clone().and_then(|t| delays(episodes, t.value, &self.plan()));
        match found {
            Ok(found) => {
                found.rows().into_iter().map(|(id, outcome)| filled(row, id, name, outcome)).collect()
            }
            Err(why) => {
                let thresholded = offnominal_stats::METRICS.iter().filter(|m| m.thresholded);
                thresholded.map(|m| filled(row, m.id, name, Err(why.clone()))).collect()
            }
        }
    }

    fn plan(&self) -> Bootstrap {
        Bootstrap::new(self.cell.replicates, Level::P95, Seed(self.cell.setup.seed).child("judge"))
    }

    fn traces(&self, setting: &Setting, episodes: &[ScoredEpisode]) -> Vec<Trace> {
        if !self.cell.traced.contains(&setting.strength) {
            return vec![];
        }
        let thresholds =
            self.alarms.iter().filter_map(|(name, t)| Some((name.to_string(), t.as_ref().ok()?.value)));
        let thresholds: Vec<(String, f64)> = thresholds.collect();
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
            thresholds: thresholds.clone(),
        };
        reached.take(self.cell.traces).map(trace).collect()
    }

    /// One curve per strength and threshold, over all anomalies of that strength. The intervals take the episodes as
    /// independent, though the anomalies share their seeds.
    fn pooled(&self, judged: &[Judged]) -> Result<Vec<DelayCurve>> {
        let mut curves = Vec::new();
        let mut strengths: Vec<&str> = Vec::new();
        for one in judged.iter().filter(|one| !one.rows.is_empty()) {
            if !strengths.contains(&&*one.strength) {
                strengths.push(&one.strength);
            }
        }
        for strength in strengths {
            let same = judged.iter().filter(|one| one.strength == strength);
            let episodes: Vec<ScoredEpisode> = same.flat_map(|one| one.episodes.iter().cloned()).collect();
            for (name, threshold) in &self.alarms {
                let Ok(threshold) = threshold else { continue };
                curves.extend(self.curve(strength, name, threshold.value, &episodes)?);
            }
        }
        Ok(curves)
    }

    fn curve(
        &self,
        strength: &str,
        name: &str,
        threshold: f64,
        episodes: &[ScoredEpisode],
    ) -> Result<Option<DelayCurve>> {
        let found = delays(episodes, threshold, &self.plan())?;
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

/// The row with a metric. Where there is no data, there is no number; a median that is not reached is infinite.
fn filled(row: &Row, metric: &str, threshold: &str, outcome: Result<Estimate, StatsError>) -> Result<Row> {
    let (value, low, high, n) = match outcome {
        Ok(found) => (found.value, found.low, found.high, found.n),
        Err(StatsError::MedianNotReached { n, .. }) => (f64::INFINITY, f64::NAN, f64::INFINITY, n),
        Err(StatsError::TooFew { .. } | StatsError::OneClass { .. }) => (f64::NAN, f64::NAN, f64::NAN, 0),
        Err(other) => return Err(other.into()),
    };
    let episodes = n as u64;
    Ok(Row { metric: metric.into(), threshold: threshold.into(), value, low, high, episodes, ..row.clone() })
}
