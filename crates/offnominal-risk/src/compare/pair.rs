//! A pair of episodes: both policies from the same seed, and what the monitor says of them.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use offnominal_core::alarm::Event;
use offnominal_core::episode::Outcome;
use offnominal_core::prelude::*;
use offnominal_engine::subject::Subject;
use offnominal_engine::{catalogues, monitor_file};
use offnominal_files::read;
use offnominal_files::store::address;
use offnominal_monitor::Monitor;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What came of one episode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Played {
    /// Whether it ended in failure; without an outcome it counts as one.
    pub failed: bool,
    /// The undiscounted sum of rewards; none without an outcome.
    #[serde(rename = "return")]
    pub total_reward: Option<f64>,
    /// Whether it counts as a success; none where the environment defines no success.
    pub success: Option<bool>,
    /// Whether the monitor raised an alarm; none without a monitor.
    pub alarm: Option<bool>,
    /// Number of steps.
    pub steps: u64,
    /// Whether it has no outcome.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diverged: bool,
}

/// The episodes of one policy in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The nominal one, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal: Option<Played>,
    /// The anomalous one, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anomalous: Option<Played>,
}

/// Both policies from the same seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The old policy.
    pub old: Side,
    /// The new policy.
    pub new: Side,
}

impl Pair {
    /// All its episodes.
    pub fn episodes(&self) -> impl Iterator<Item = Played> {
        [self.old, self.new].into_iter().flat_map(|side| [side.nominal, side.anomalous]).flatten()
    }
}

/// Refuses more episodes without an outcome than are accepted.
///
/// # Errors
/// If there are more.
pub fn at_most(pairs: &[Pair], allowed: u64) -> Result<()> {
    let diverged = pairs.iter().flat_map(Pair::episodes).filter(|played| played.diverged).count() as u64;
    ensure!(
        diverged <= allowed,
        "{diverged} episodes diverged and have no outcome; expected at most {allowed}, which --allow-diverged sets"
    );
    Ok(())
}

/// Who plays pairs.
pub struct Players<'a> {
    /// The old policy and the new one, each in its own copy of the environment.
    pub subjects: [&'a Subject; 2],
    /// What goes wrong, the same for both.
    pub anomaly: Option<&'a AnomalySpec>,
    /// Whether anomalous episodes keep their nominal twins.
    pub twin: bool,
    /// What watches.
    pub monitors: Option<&'a Monitors>,
    /// Root of all seeds.
    pub seed: Seed,
    /// Episodes that may be without an outcome; whoever asked for that counts them.
    pub allow_diverged: u64,
}

impl Players<'_> {
    /// Plays the pair with this number.
    ///
    /// # Errors
    /// If an episode has no outcome and none may be without one, or environment, policy or monitor cannot be used.
    pub fn pair(&self, index: u64) -> Result<Pair> {
        let seed = self.seed.child(index);
        let [old, new] = match self.anomaly {
            None => {
                self.both(|subject| Ok(Side { nominal: Some(self.nominal(subject, seed)?), anomalous: None }))
            }
            Some(anomaly) => self.disturbed(anomaly, seed),
        }
        .with_context(|| format!("pair {index}"))?;
        Ok(Pair { old, new })
    }

    fn both<T>(&self, of: impl Fn(&Subject) -> Result<T>) -> Result<[T; 2]> {
        let [old, new] = self.subjects;
        Ok([of(old)?, of(new)?])
    }

    /// Both policies under the same anomaly. An onset that is drawn lies within both nominal episodes, so that it is the
    /// same step for both.
    fn disturbed(&self, anomaly: &AnomalySpec, seed: Seed) -> Result<[Side; 2]> {
        let is_needed = self.twin || anomaly.schedule.onset == Onset::Random;
        let twins = is_needed.then(|| self.both(|subject| self.nominal(subject, seed))).transpose()?;
        let steps = match &twins {
            Some(twins) => twins.iter().map(|twin| twin.steps).min().unwrap_or_default() as usize,
            None => self.subjects[0].env.spec().horizon as usize,
        };
        let onset = anomaly.schedule.draw_onset(steps, &mut seed.child("onset").rng());
        let [old, new] = self.both(|subject| {
            let episode = subject.trial().disturbed(seed, anomaly, onset, &catalogues::anomalies())?;
            self.judged(subject, &subject.trusted(episode)?)
        })?;
        let twin = |i: usize| twins.as_ref().filter(|_| self.twin).map(|twins| twins[i]);
        let side = |i, anomalous| Side { nominal: twin(i), anomalous: Some(anomalous) };
        Ok([side(0, old), side(1, new)])
    }

    /// A nominal episode; its steps are kept only if somebody watches them.
    fn nominal(&self, subject: &Subject, seed: Seed) -> Result<Played> {
        if self.monitors.is_some() {
            let episode = subject.trusted(subject.trial().nominal(seed))?;
            return self.judged(subject, &episode);
        }
        let outcome = subject.trial().outcome(seed);
        subject.health().map_err(|why| anyhow!(why))?;
        self.of(subject, &outcome, None)
    }

    fn judged(&self, subject: &Subject, episode: &Episode) -> Result<Played> {
        let alarm = self.monitors.map(|monitors| monitors.alarms(episode)).transpose()?;
        self.of(subject, &Outcome::of(episode), alarm)
    }

    fn of(&self, subject: &Subject, outcome: &Outcome, alarm: Option<bool>) -> Result<Played> {
        let spec = subject.env.spec();
        if let Some(why) = outcome.divergence.filter(|_| self.allow_diverged == 0) {
            let (id, policy, why) = (&spec.id, &subject.name.id, why.describe(spec, outcome.steps));
            bail!(
                "environment {id}: an episode of {policy} has no outcome: {why}; --allow-diverged accepts some"
            );
        }
        let diverged = outcome.divergence.is_some();
        Ok(Played {
            failed: outcome.end == End::Failed || diverged,
            total_reward: (!diverged).then_some(outcome.total_reward),
            success: outcome.success,
            alarm,
            steps: outcome.steps as u64,
            diverged,
        })
    }
}

/// Copies of one monitor, for as many threads as ask at a time.
pub struct Monitors {
    path: PathBuf,
    /// The digest of its file.
    pub digest: String,
    idle: Mutex<Vec<Monitor>>,
}

impl Monitors {
    /// Opens the file of a monitor of an environment.
    ///
    /// # Errors
    /// If it cannot be read, or is the monitor of something with other channels.
    pub fn open(path: &Path, subject: &Subject) -> Result<Monitors> {
        let place = || format!("monitor {}", path.display());
        let bytes = read::bytes(path)?;
        let monitor = monitor_file::open(path).with_context(place)?;
        let (spec, about) = (subject.env.spec(), monitor.about());
        let (expected, found) = (without_options(&spec.id), without_options(&about.environment.id));
        ensure!(found == expected, "{}: expected one of {expected}, found one of {found}", place());
        let (expected, found) =
            ([spec.obs_width(), spec.act_width()], [about.obs_width(), about.act_width()]);
        ensure!(
            found == expected,
            "{}: expected {} observation and {} action channels, found {} and {}",
            place(),
            expected[0],
            expected[1],
            found[0],
            found[1]
        );
        let digest = address(&bytes);
        Ok(Monitors { path: path.into(), digest, idle: Mutex::new(vec![monitor]) })
    }

    /// Whether the monitor raises an alarm in an episode.
    ///
    /// # Errors
    /// If the file cannot be read any longer, or a step is not what it watches.
    pub fn alarms(&self, episode: &Episode) -> Result<bool> {
        let idle = || self.idle.lock().expect("nothing panics while it is held");
        let found = idle().pop();
        let mut monitor = found.map_or_else(|| monitor_file::open(&self.path), Ok)?;
        monitor.reset();
        let mut raised = false;
        for seen in episode.signals().transitions() {
            if monitor.transition(&seen)?.event == Some(Event::Raised) {
                raised = true;
                break;
            }
        }
        idle().push(monitor);
        Ok(raised)
    }
}

/// The id of an environment without noise and what else is said after it.
fn without_options(id: &str) -> &str {
    id.split_once('?').map_or(id, |(id, _)| id)
}
