//! Cells that are diagnoses: what is said at the first alarm of each anomalous episode, against what was done.

use crate::campaign::Setting;
use crate::cells::cell::Diagnosing;
use crate::cells::play::load;
use crate::cells::scoring;
use crate::cells::tell::Tell;
use crate::results::Diagnosed;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::{Diagnoser, Family};
use offnominal_engine::parallel;
use offnominal_engine::progress::Task;
use offnominal_engine::subject::Subject;
use offnominal_files::store::Store;
use offnominal_stats::{Level, Promise, Rule, Threshold, Watch};

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
    let mut rng = Seed(seed).child("diagnosis").rng();
    let train = scoring::signals(&train);
    let diagnoser = tell.fit(|progress| Diagnoser::fit(&train, &mut rng, progress))?;
    let rows = parallel::map(jobs, cell.settings.len(), &Task::hidden(), |i| {
        tell.task.check()?;
        let (setting, episodes) = &cell.settings[i];
        let mut watcher =
            Watcher { monitor: monitor.fork(), threshold: &threshold, diagnoser: diagnoser.clone() };
        let episodes = load(store, episodes)?.episodes;
        Ok::<_, anyhow::Error>(row(cell, setting, &episodes, &mut watcher))
    })?;
    Ok(vec![(DIAGNOSES, serde_json::to_vec(&rows)?)])
}

struct Watcher<'t> {
    monitor: Box<dyn Monitor>,
    threshold: &'t Threshold,
    diagnoser: Diagnoser,
}

/// The diagnosis at an alarm.
struct Finding {
    family: Family,
    alarm: usize,
    onset: usize,
}

impl Watcher<'_> {
    /// What is said at the first alarm of an episode, if there is one.
    fn first(&mut self, episode: &Episode) -> Option<Finding> {
        let mut watch = Watch::new(self.threshold);
        self.monitor.reset();
        self.diagnoser.reset();
        for (alarm, seen) in episode.signals().transitions().enumerate() {
            self.diagnoser.observe(&seen);
            if watch.exceeds(self.monitor.score(&seen)) {
                let found = self.diagnoser.diagnose();
                return Some(Finding { family: found.family, alarm, onset: alarm - found.steps_ago });
            }
        }
        None
    }
}

/// One anomaly at one strength. Alarms before the onset are false and count nowhere.
fn row(cell: &Diagnosing, setting: &Setting, episodes: &[Episode], watcher: &mut Watcher<'_>) -> Diagnosed {
    let (mut counts, mut errors, mut delays) = ([0; 3], Vec::new(), Vec::new());
    let reached: Vec<(&Episode, usize)> = episodes.iter().filter_map(|e| Some((e, onset(e)?))).collect();
    for (episode, onset) in &reached {
        let Some(said) = watcher.first(episode).filter(|said| said.alarm >= *onset) else { continue };
        counts[said.family as usize] += 1;
        errors.push(said.onset.abs_diff(*onset) as f64);
        delays.push((said.alarm - onset) as f64);
    }
    Diagnosed {
        campaign: String::new(),
        env: cell.setup.env.clone(),
        policy: cell.setup.policy.id.clone(),
        anomaly_class: setting.class.clone(),
        anomaly: setting.anomaly.clone(),
        strength: setting.strength.clone(),
        detector: cell.detector.name.clone(),
        seed: cell.setup.seed,
        episodes: reached.len() as u64,
        alarms: errors.len() as u64,
        as_observation: counts[0],
        as_action: counts[1],
        as_dynamics: counts[2],
        onset_error: median(errors),
        alarm_delay: median(delays),
    }
}

/// The first anomalous step, if the episode reached it.
fn onset(episode: &Episode) -> Option<usize> {
    episode.onset.map(|onset| onset as usize).filter(|&onset| onset < episode.len())
}

/// The median; not a number of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!((median(vec![3.0, 1.0, 2.0]), median(vec![4.0, 1.0])), (2.0, 2.5));
        assert!(median(vec![]).is_nan());
    }
}
