//! Cells that are diagnoses: what is said at the first alarm of each anomalous episode and after it, against what was done.

use crate::campaign::Setting;
use crate::cells::cell::Diagnosing;
use crate::cells::play::load;
use crate::cells::said::{self, JudgedDiagnosis};
use crate::cells::scoring;
use crate::cells::tell::Tell;
use crate::results::{Diagnosed, Taught};
use anyhow::{Context, Result};
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::{AFTER, Diagnoser, Fault, Hypothesis};
use offnominal_engine::faults::{Alarming, Faults, Playing};
use offnominal_engine::parallel;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Subject;
use offnominal_files::store::Store;
use offnominal_stats::{Level, Promise, Rule};
use std::collections::{BTreeMap, HashSet};

/// Name of the file of a diagnosis in a cell.
pub(super) const DIAGNOSES: &str = "diagnoses.json";

/// Fits detector and diagnosis, and diagnoses the alarms in the episodes of every anomaly, on so many threads.
pub(super) fn diagnose(
    cell: &Diagnosing,
    subject: &Subject,
    store: &Store,
    jobs: usize,
    tell: Tell<'_>,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (train, validation) = (load(store, &cell.train)?, load(store, &cell.validation)?);
    let (seed, policy) = (cell.setup.seed, subject.policy.as_ref());
    let mut monitor = scoring::monitor(&cell.detector, seed, policy, [&train, &validation], tell)?;
    let thresholds = cell.thresholds.as_ref().map(|cell| load(store, cell)).transpose()?;
    let scores = scoring::score_all(monitor.as_mut(), &thresholds.unwrap_or(validation).episodes);
    let threshold = Rule::Conformal(Promise::on_average(cell.false_alarms)).threshold(&scores, Level::P95)?;
    let alarming = Alarming { monitor, threshold: &threshold };
    let known = Known::learn(cell, (subject, &alarming), &train.episodes, jobs, tell)?;
    let rows = parallel::map(jobs, cell.settings.len(), &Task::hidden(), |i| {
        tell.task.check()?;
        let (setting, episodes) = &cell.settings[i];
        let episodes = load(store, episodes)?.episodes;
        Ok::<_, anyhow::Error>(known.rows(cell, setting, &episodes, &mut alarming.fork()))
    })?;
    Ok(vec![(DIAGNOSES, serde_json::to_vec(&rows.concat())?)])
}

/// Diagnosers that were taught differently.
struct Known {
    by_rules: Diagnoser,
    by_faults: Diagnoser,
    /// One for each parameter of the dynamics, of which it has seen no fault.
    without: BTreeMap<String, Diagnoser>,
}

impl Known {
    fn learn(
        cell: &Diagnosing,
        (subject, alarming): (&Subject, &Alarming<'_>),
        train: &[Episode],
        jobs: usize,
        tell: Tell<'_>,
    ) -> Result<Known> {
        let root = Seed(cell.setup.seed).child("diagnosis");
        let mut rng = root.rng();
        let views: Vec<Signals<'_>> = train.iter().map(Episode::signals).collect();
        let by_rules = tell.fit(|progress| Diagnoser::fit(&views, &mut rng, progress))?;
        tell.say("faults");
        let (each, seed) = (cell.faults, root.child("faults"));
        let playing = Playing { subject, alarming, nominal: train, each, seed };
        let faults = playing.play(&anomalies(cell, |_| true), jobs, &Task::hidden())?;
        tell.say("names of faults");
        let teach = |hypotheses: Vec<Hypothesis>, views: &[Fault<'_>]| {
            let (mut taught, mut rng) = (by_rules.clone(), root.child("trees").rng());
            taught.teach(hypotheses, views, &mut rng, FitProgress::unseen()).context("naming faults")?;
            Ok::<_, anyhow::Error>(taught)
        };
        let without = |anomaly: String| {
            let (hypotheses, views) = faults.without(&anomaly);
            Ok((anomaly, teach(hypotheses, &views)?))
        };
        Ok(Known {
            by_faults: teach(faults.hypotheses.clone(), &Faults::views(&faults))?,
            without: anomalies(cell, |class| class == "dynamics")
                .into_iter()
                .map(without)
                .collect::<Result<_>>()?,
            by_rules,
        })
    }

    /// One anomaly at one strength. Alarms before the onset are false and count nowhere.
    fn rows(
        &self,
        cell: &Diagnosing,
        setting: &Setting,
        episodes: &[Episode],
        alarming: &mut Alarming<'_>,
    ) -> Vec<Diagnosed> {
        let reached = episodes.iter().filter_map(|e| Some((e, onset(e)?)));
        let reached: Vec<(&Episode, usize)> = reached.collect();
        let alarmed = reached.iter().filter_map(|(episode, onset)| {
            let alarm = alarming.first(&episode.signals()).filter(|alarm| alarm >= onset)?;
            Some((*episode, *onset, alarm))
        });
        let alarmed: Vec<(&Episode, usize, usize)> = alarmed.collect();
        let without =
            self.without.get(&setting.anomaly_spec.anomaly).map(|diagnoser| (Taught::OtherFaults, diagnoser));
        let all =
            [(Taught::Rules, &self.by_rules), (Taught::Faults, &self.by_faults)].into_iter().chain(without);
        let mut rows = Vec::new();
        for (taught, diagnoser) in all {
            let mut diagnoser = diagnoser.clone();
            let said: Vec<[JudgedDiagnosis; AFTER.len()]> =
                alarmed.iter().map(|alarmed| said::after(&mut diagnoser, cell, setting, *alarmed)).collect();
            rows.extend(AFTER.iter().enumerate().map(|(i, &after)| {
                let said: Vec<&JudgedDiagnosis> = said.iter().map(|said| &said[i]).collect();
                let delays = alarmed.iter().map(|(_, onset, alarm)| (alarm - onset) as f64).collect();
                let blank = blank(cell, setting, reached.len(), delays);
                said::counted(Diagnosed { taught, after: after as u64, ..blank }, &said)
            }));
        }
        rows
    }
}

/// The anomalies of a cell of some classes, by their ids, each once.
fn anomalies(cell: &Diagnosing, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let is_signal = |s: &&Setting| matches!(&*s.class, "observation" | "action" | "dynamics");
    let wanted = cell.settings.iter().map(|(s, _)| s).filter(is_signal).filter(|s| is_wanted(&s.class));
    let mut seen = HashSet::new();
    wanted.map(|s| s.anomaly_spec.anomaly.clone()).filter(|id| seen.insert(id.clone())).collect()
}

/// A row of which nothing was said yet.
fn blank(cell: &Diagnosing, setting: &Setting, episodes: usize, delays: Vec<f64>) -> Diagnosed {
    Diagnosed {
        campaign: String::new(),
        env: cell.setup.env.clone(),
        policy: cell.setup.policy.id.clone(),
        anomaly_class: setting.class.clone(),
        anomaly: setting.anomaly.clone(),
        strength: setting.strength.clone(),
        detector: cell.detector.name.clone(),
        seed: cell.setup.seed,
        taught: Taught::Rules,
        after: 0,
        episodes: episodes as u64,
        alarms: delays.len() as u64,
        alarm_delay: said::median(delays),
        ..Diagnosed::default()
    }
}

/// The first anomalous step, if the episode reached it.
fn onset(episode: &Episode) -> Option<usize> {
    episode.onset.map(|onset| onset as usize).filter(|&onset| onset < episode.len())
}
