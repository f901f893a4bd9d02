//! Fitting a detector and setting its threshold on nominal episodes, as a monitor's file.

use crate::alike;
use crate::collect;
use crate::context::Context;
use crate::diverged::Diverged;
use crate::faults::{self, Alarming, Playing};
use crate::monitor_file::{self, Made, PlayFaults, System};
use crate::noise;
use crate::request::within;
use crate::request::{EnvId, POLICY};
use crate::rule_choice::asked;
use crate::subject::Subject;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use offnominal_core::limits;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_files::dataset::{self, DatasetRecipe, PolicyName};
use offnominal_files::write::atomically;
use offnominal_stats::{Rule, Threshold};
use offnominal_work::fitted;
pub use offnominal_work::fitted::{FittedMonitor, missing};
use offnominal_work::fitting::Fitting;
use std::path::{Path, PathBuf};

/// Episodes of each kind, if no number is given.
const EPISODES: usize = 100;
/// Faults of each hypothesis, if no number is given: a quarter of them are held out, and nine are needed there.
pub const FAULTS: usize = 60;

/// What to fit; the seed is that of the context.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct Request {
    /// The environment.
    #[command(flatten)]
    pub env: EnvId,
    /// The policy.
    #[arg(long, help = POLICY)]
    pub policy: String,
    /// Nominal episodes of `collect`, instead of new ones
    #[arg(long, value_name = "FILE.arrow")]
    pub data: Option<PathBuf>,
    /// Simulated episodes per fault, so that a diagnosis names faults [default: 60; hosted environments 0]
    #[arg(long, value_name = "N")]
    pub faults: Option<u32>,
    /// What is fitted, and how its threshold is set.
    #[command(flatten)]
    pub fitting: Fitting,
    /// Output file
    #[arg(long = "out", value_name = "FILE.monitor")]
    pub file: PathBuf,
}

/// Plays or reads the episodes, fits, sets the threshold and writes the file.
///
/// # Errors
/// If the environment, the policy, the detector or the episodes cannot be had, or there are too few of them.
pub fn run(request: &Request, context: &Context) -> Result<FittedMonitor> {
    for (name, n) in [("train", request.fitting.train), ("calibration", request.fitting.calibration)] {
        within(name, n.unwrap_or(1) as usize, 1..=limits::EPISODES)?;
    }
    // What can be wrong without the environment is said before it is made.
    request.fitting.rule(Some(1.0))?;
    let subject = Subject::new(&request.env, &request.policy)?;
    let rule = request.rule(&monitor_file::system(&subject))?;
    let ([train, calibration], left_out) = request.both(&subject, rule, context)?;
    alike::refuse(alike::copies_in(subject.env.spec(), &calibration)).context("calibration")?;
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
            warnings: made.warnings,
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
            (&self.fitting.detector, self.rule(system)?, self.fitting.diagnosis);
        enough(rule, calibration.len())?;
        let (alarm, lost_after) = (self.fitting.alarm(), self.fitting.lost_after);
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

    fn rule(&self, system: &System<'_>) -> Result<Rule> {
        let rule = self.fitting.rule(system.known_dt_secs());
        rule.with_context(|| format!("threshold of {}", system.environment.id))
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

    /// The episodes to learn from and those that set the threshold, and which of a file were left out. That there are enough of the latter is checked
    /// before anything is played.
    fn both(
        &self,
        subject: &Subject,
        rule: Rule,
        context: &Context,
    ) -> Result<([Vec<Episode>; 2], Vec<String>)> {
        let wanted = |given: Option<u32>| given.map(|n| n as usize);
        let (train, calibration) = (wanted(self.fitting.train), wanted(self.fitting.calibration));
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
    use crate::rule_choice::Threshold;

    fn rule(name: &str, alpha: f64) -> Result<Rule> {
        Threshold { rule: name.into(), alpha, ..Threshold::default() }.rule(Some(1.0))
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
