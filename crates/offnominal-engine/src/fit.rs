//! Fitting a detector and setting its threshold on nominal episodes, as a monitor's file.

use crate::collect;
use crate::context::Context;
use crate::detector_choice::DetectorChoice;
use crate::diverged::Diverged;
use crate::faults::{self, Alarming, Playing};
use crate::monitor_file::{self, Made, PlayFaults, System};
use crate::noise;
use crate::request::within;
use crate::rule_choice::{RuleChoice, Span, asked};
use crate::subject::Subject;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::alarm::Settings;
use offnominal_core::limits;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_files::dataset::{self, DatasetRecipe, PolicyName};
use offnominal_files::write::atomically;
use offnominal_stats::{Rule, Threshold};
use offnominal_work::fitted;
pub use offnominal_work::fitted::{FittedMonitor, alpha, detector, diagnosis, missing, monitors, rule};
use serde::Deserialize;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Episodes of each kind, if no number is given.
const EPISODES: usize = 100;
/// Faults of each hypothesis, if no number is given: a quarter of them are held out, and nine are needed there.
pub const FAULTS: usize = 60;

/// What to fit; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The environment.
    pub env: String,
    /// The policy.
    pub policy: String,
    /// The detector.
    #[serde(default = "detector")]
    pub detector: DetectorChoice,
    /// A dataset of nominal episodes, instead of new ones.
    pub data: Option<PathBuf>,
    /// Episodes that the detector learns from; 100, or of a file those that are not for calibration.
    pub train: Option<u32>,
    /// Episodes that set the threshold, which the detector does not see; 100, or of a file the last half.
    pub calibration: Option<u32>,
    /// How the threshold is set.
    #[serde(default = "rule")]
    pub rule: String,
    /// Accepted share of nominal episodes with an alarm, for the rules that promise one.
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// With which confidence over calibration sets that share is promised; on average over them if not given.
    pub confidence: Option<f64>,
    /// How far apart false alarms are at least, on average; for the rule `run-length`.
    pub run_length: Option<Span>,
    /// Steps of a block, for the same rule; chosen from the calibration episodes if not given.
    pub block: Option<u32>,
    /// Monitors that share what is promised: each may have so large a part of the false alarms.
    #[serde(default = "monitors")]
    pub monitors: NonZeroU32,
    /// How exceedances become alarms.
    #[serde(default)]
    pub alarm: Settings,
    /// Whether the file is to hold what a diagnosis needs.
    #[serde(default = "diagnosis")]
    pub diagnosis: bool,
    /// Faults of each kind that are played in the environment, so that a diagnosis can name them; 60 in environments of this
    /// program and none in others, where playing may take long.
    pub faults: Option<u32>,
    /// Steps in a row that a number may be missing before its sensor counts as lost.
    pub lost_after: Option<u32>,
    /// The file to write.
    pub file: PathBuf,
}

/// Plays or reads the episodes, fits, sets the threshold and writes the file.
///
/// # Errors
/// If the environment, the policy, the detector or the episodes cannot be had, or there are too few of them.
pub fn run(request: &Request, context: &Context) -> Result<FittedMonitor> {
    for (name, n) in [("train", request.train), ("calibration", request.calibration)] {
        within(name, n.unwrap_or(1) as usize, 1..=limits::EPISODES)?;
    }
    // What can be wrong without the environment is said before it is made.
    request.checked_rule(1.0)?;
    let subject = Subject::new(&request.env, &request.policy)?;
    let spec = subject.env.spec();
    ensure!(
        request.run_length.is_none() || !spec.assumes_dt,
        "run_length: environment {}: expected to know how many seconds a step takes, as the rule promises false alarms per \
         time, and nobody has said it; the option dt=SECONDS of the id does",
        spec.id
    );
    let rule = request.checked_rule(spec.dt_secs)?;
    let ([train, calibration], left_out) = request.both(&subject, rule, context)?;
    Ok(FittedMonitor { left_out, ..request.fit(&subject, [&train, &calibration], context)? })
}

impl Request {
    /// Fits on some episodes, sets the threshold on others, and writes the file.
    ///
    /// # Errors
    /// If a setting is wrong, there are too few episodes, the file cannot be written, or the work was asked to stop.
    pub fn fit(
        &self,
        subject: &Subject,
        episodes: [&[Episode]; 2],
        context: &Context,
    ) -> Result<FittedMonitor> {
        let views = episodes.map(|episodes| episodes.iter().map(Episode::signals).collect::<Vec<_>>());
        let teach = |diagnoser: &mut Diagnoser, monitor: &dyn Scorer, threshold: &Threshold| {
            self.teach(diagnoser, (subject, monitor, threshold), episodes[0], context)
        };
        let teach = (self.faults_in(subject) > 0).then_some(&teach as &PlayFaults<'_>);
        let made = self.make(&monitor_file::system(subject), [&views[0], &views[1]], None, teach, context)?;
        let bytes = made.bytes();
        atomically(&self.file, &bytes)?;
        Ok(FittedMonitor {
            file: self.file.clone(),
            bytes: bytes.len(),
            monitor: made.about,
            left_out: vec![],
        })
    }

    /// The contents of the file, for any system: fitted on some episodes, with the threshold set by others, of which groups may
    /// have thresholds of their own.
    ///
    /// # Errors
    /// As [`Request::fit`], or if the episodes have other channels than the system.
    pub fn make(
        &self,
        system: &System<'_>,
        [train, calibration]: [&[Signals<'_>]; 2],
        groups: Option<&[String]>,
        faults: Option<&PlayFaults<'_>>,
        context: &Context,
    ) -> Result<Made> {
        let (detector, rule, diagnoses) =
            (&self.detector, self.checked_rule(system.dt_secs)?, self.diagnosis);
        enough(rule, calibration.len())?;
        let (alarm, lost_after) = (self.alarm, self.lost_after);
        let fit = monitor_file::Fit {
            system,
            detector,
            rule,
            groups,
            alarm,
            diagnoses,
            faults,
            lost_after,
            context,
        };
        fit.make(train, calibration)
    }

    /// Faults of each kind.
    fn faults_in(&self, subject: &Subject) -> usize {
        let id = noise::base(&subject.env.spec().id);
        let is_own = offnominal_worlds::ENVS.iter().any(|entry| entry.id == id);
        self.faults.map_or(if is_own { FAULTS } else { 0 }, |n| n as usize)
    }

    /// Plays faults that the monitor notices, and teaches a diagnosis their names.
    fn teach(
        &self,
        diagnoser: &mut Diagnoser,
        (subject, monitor, threshold): (&Subject, &dyn Scorer, &Threshold),
        nominal: &[Episode],
        context: &Context,
    ) -> Result<()> {
        let alarming = Alarming { monitor: monitor.fork(), threshold };
        let (each, root) = (self.faults_in(subject), Seed(context.seed).child("fit").child("faults"));
        let playing = Playing { subject, alarming: &alarming, nominal, each, seed: root };
        let anomalies = faults::anomalies(subject.env.as_ref())?;
        let found = playing.play(
            &anomalies,
            context.jobs,
            &context.task(playing.n_hypotheses(&anomalies)?, "faults"),
        )?;
        let mut rng = root.child("trees").rng();
        let learn = |progress: FitProgress<'_>| {
            let (hypotheses, faults) = (found.hypotheses.clone(), found.views());
            diagnoser.teach(hypotheses, &faults, &mut rng, progress).context("faults cannot be named")
        };
        context.watched("names of faults", learn)
    }

    fn checked_rule(&self, dt_secs: f64) -> Result<Rule> {
        let Request { rule, alpha, confidence, run_length, block, monitors, .. } = self;
        let (alpha, confidence, run_length, block) = (*alpha, *confidence, *run_length, *block);
        RuleChoice { rule, alpha, confidence, run_length, block, monitors: *monitors }.rule(dt_secs)
    }

    /// The episodes to learn from and those that set the threshold, and which of a file were left out. That there are enough of the latter is checked
    /// before anything is played.
    fn both(
        &self,
        subject: &Subject,
        rule: Rule,
        context: &Context,
    ) -> Result<([Vec<Episode>; 2], Vec<String>)> {
        let wanted = |given: Option<u32>| given.map(|n| n as usize);
        let (train, calibration) = (wanted(self.train), wanted(self.calibration));
        let Some(path) = &self.data else {
            let (train, calibration) = (train.unwrap_or(EPISODES), calibration.unwrap_or(EPISODES));
            enough(rule, calibration)?;
            let played = [
                play(subject, "train", train, context)?,
                play(subject, "calibration", calibration, context)?,
            ];
            return Ok((played, vec![]));
        };
        let dataset = dataset::load(path)?;
        let read = || {
            are_of(&dataset.recipe, subject)?;
            Diverged::of(subject.env.spec(), &dataset.episodes).at_most(context.allow_diverged)
        };
        read().with_context(|| format!("dataset {}", path.display()))?;
        let (mut episodes, left_out) = nominal(dataset.episodes, path)?;
        let n = episodes.len();
        let calibration = calibration.unwrap_or_else(|| n - train.unwrap_or(n / 2).min(n));
        let train = train.unwrap_or_else(|| n.saturating_sub(calibration));
        ensure!(
            train > 0 && train + calibration <= n,
            "{}: expected {} nominal episodes to learn from and {calibration} for calibration, found {n} in all",
            path.display(),
            train.max(1)
        );
        enough(rule, calibration)?;
        let calibration = episodes.split_off(n - calibration);
        episodes.truncate(train);
        Ok(([episodes, calibration], left_out))
    }
}

fn enough(rule: Rule, found: usize) -> Result<()> {
    let needed = rule.min_episodes();
    ensure!(
        found >= needed,
        "rule {}{}: expected at least {needed} nominal calibration episodes, found {found}",
        rule.id(),
        asked(rule)
    );
    Ok(())
}

fn play(subject: &Subject, role: &str, n: usize, context: &Context) -> Result<Vec<Episode>> {
    let root = Seed(context.seed).child("fit").child(role);
    let episodes = collect::play(subject, None, root, 0..n, role, context)?.episodes;
    Diverged::of(subject.env.spec(), &episodes).at_most(context.allow_diverged).context(role.to_string())?;
    Ok(episodes)
}

/// The nominal episodes of a file, and those that were left out.
pub(crate) fn nominal(episodes: Vec<Episode>, path: &Path) -> Result<(Vec<Episode>, Vec<String>)> {
    let named = episodes.into_iter().enumerate().map(|(i, episode)| (format!("episode {i}"), episode));
    fitted::nominal(named, Episode::not_nominal).with_context(|| format!("dataset {}", path.display()))
}

/// Insists on episodes of this environment and policy.
///
/// # Errors
/// If they are others.
pub fn are_of(recipe: &DatasetRecipe, subject: &Subject) -> Result<()> {
    let env = &subject.env.spec().id;
    ensure!(recipe.env == *env, "expected episodes of {env}, found {}", recipe.env);
    are_by(recipe, &subject.name)
}

/// Insists on episodes of a policy.
pub(crate) fn are_by(recipe: &DatasetRecipe, policy: &PolicyName) -> Result<()> {
    let (expected, found) = (policy, &recipe.policy);
    ensure!(
        expected.digest == found.digest,
        "expected episodes of the policy {} (SHA-256 {}), found {} ({})",
        expected.id,
        expected.digest,
        found.id,
        found.digest
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(name: &str, alpha: f64) -> Result<Rule> {
        let asked = json!({ "env": "e", "policy": "p", "rule": name, "alpha": alpha, "file": "f" });
        serde_json::from_value::<Request>(asked).unwrap().checked_rule(1.0)
    }

    #[test]
    fn too_few_calibration_episodes_are_refused_with_the_number_that_is_needed() {
        let says = |rule: Rule, n, want: &str| assert_eq!(enough(rule, n).unwrap_err().to_string(), want);
        let conformal = rule("conformal", 0.01).unwrap();
        assert!(enough(conformal, 99).is_ok());
        says(
            conformal,
            98,
            "rule conformal with an alpha of 0.01: expected at least 99 nominal calibration episodes, found 98",
        );
        assert!(
            enough(rule("band", 0.05).unwrap(), 23).is_err() && enough(rule("max", 0.05).unwrap(), 1).is_ok()
        );
    }
}
