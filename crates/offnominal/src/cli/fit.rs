//! `fit`: a detector, fitted and calibrated on nominal episodes, as one file.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result, ensure};
use clap::Args;
use offnominal_core::alarm::Settings;
use offnominal_core::prelude::*;
use offnominal_core::suggest::did_you_mean;
use offnominal_engine::collect::{self, Plan};
use offnominal_engine::detector_choice::DetectorChoice;
use offnominal_engine::monitor_file::{self, Made};
use offnominal_engine::subject::Subject;
use offnominal_files::dataset::{self, Dataset};
use offnominal_files::write::atomically;
use offnominal_stats::Rule;
use serde_json::json;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Episodes of each kind, if no number is given.
const EPISODES: usize = 100;

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Environment id (see `list envs`), or `gymnasium:ID` for any environment of Gymnasium
    #[arg(long)]
    env: String,
    /// `tqc` for the one shipped with the environment, a name of `list policies`, the path of a file, or `random`
    #[arg(long)]
    policy: String,
    /// Detector id (see `list detectors`; `default` is `residual-views`), or a table such as `{ id = "knn", k = 3 }`
    #[arg(long, default_value = "default", value_parser = detector)]
    detector: DetectorChoice,
    /// Nominal episodes written by `collect`, instead of new ones
    #[arg(long, value_name = "FILE.arrow")]
    episodes: Option<PathBuf>,
    /// Episodes that the detector learns from [default: 100; of a file, those that are not for calibration]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    train: Option<u32>,
    /// Episodes that set the threshold, which the detector does not see [default: 100; of a file, the last half]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(collect::MAX_EPISODES)))]
    calibration: Option<u32>,
    /// How the threshold is set: 3sigma, q95, max, conformal, band, cusum or martingale
    #[arg(long, default_value = "conformal")]
    rule: String,
    /// Accepted share of nominal episodes with an alarm, for the rules that promise one
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    alpha: f64,
    /// Steps at the beginning of an episode in which no alarm is raised
    #[arg(long, default_value_t = 0, value_name = "STEPS")]
    arm_after: u32,
    /// Exceedances in a row that raise the alarm
    #[arg(long, default_value = "1", value_name = "STEPS")]
    raise_after: NonZeroU32,
    /// Quiet steps in a row that clear the alarm; without it the alarm stays until the next episode
    #[arg(long, value_name = "STEPS")]
    clear_after: Option<NonZeroU32>,
    /// Whether the file is to hold what a diagnosis needs; it takes as long to fit as `ensemble-dm`
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "true|false")]
    diagnosis: bool,
    /// The file to write
    #[arg(long, value_name = "FILE.monitor")]
    out: PathBuf,
}

impl Fit {
    /// Fits, calibrates, writes the file and says what it holds.
    ///
    /// # Errors
    /// If the environment, the policy, the detector or the episodes cannot be had, or there are too few of them.
    pub fn run(&self, common: &Common) -> Result<Outcome> {
        let rule = rule(&self.rule, self.alpha)?;
        let subject = Subject::new(&self.env, &self.policy)?;
        let (train, calibration) = self.both(&subject, rule, common)?;
        let alarm = Settings {
            arm_after: self.arm_after,
            raise_after: self.raise_after,
            clear_after: self.clear_after,
        };
        let (detector, diagnoses, seed) = (&self.detector, self.diagnosis, common.seed);
        let fit = monitor_file::Fit { subject: &subject, detector, rule, alarm, diagnoses, seed };
        let made = fit.make(&train, &calibration)?;
        atomically(&self.out, &made.bytes)?;
        print(&made, &self.out, common.json)?;
        Ok(Outcome::Done)
    }

    /// The episodes to learn from and those that set the threshold. That there are enough of the latter is checked
    /// before anything is played.
    fn both(&self, subject: &Subject, rule: Rule, common: &Common) -> Result<(Vec<Episode>, Vec<Episode>)> {
        let wanted = |given: Option<u32>| given.map(|n| n as usize);
        let (train, calibration) = (wanted(self.train), wanted(self.calibration));
        let Some(path) = &self.episodes else {
            let (train, calibration) = (train.unwrap_or(EPISODES), calibration.unwrap_or(EPISODES));
            enough(rule, calibration)?;
            return Ok((
                play(subject, "train", train, common)?,
                play(subject, "calibration", calibration, common)?,
            ));
        };
        let mut episodes = nominal(path, subject)?;
        let n = episodes.len();
        let calibration = calibration.unwrap_or_else(|| n - train.unwrap_or(n / 2).min(n));
        let train = train.unwrap_or_else(|| n.saturating_sub(calibration));
        ensure!(
            train > 0 && train + calibration <= n,
            "{}: expected {} episodes to learn from and {calibration} for calibration, found {n} in all",
            path.display(),
            train.max(1)
        );
        enough(rule, calibration)?;
        let calibration = episodes.split_off(n - calibration);
        episodes.truncate(train);
        Ok((episodes, calibration))
    }
}

/// A detector as campaigns write it: an id, or a table.
pub(super) fn detector(text: &str) -> Result<DetectorChoice, String> {
    if !text.trim_start().starts_with('{') {
        return DetectorChoice::try_from(toml::Value::String(text.into()));
    }
    let table: toml::Table = format!("detector = {text}").parse().map_err(|e| format!("{e}"))?;
    DetectorChoice::try_from(table["detector"].clone())
}

/// The rule of that name.
fn rule(name: &str, alpha: f64) -> Result<Rule> {
    ensure!(alpha > 0.0 && alpha < 1.0, "--alpha: expected a number between 0 and 1, found {alpha}");
    let rules = Rule::all(alpha);
    rules.into_iter().find(|rule| rule.id() == name).with_context(|| {
        let ids = rules.map(|rule| rule.id());
        format!(
            "--rule: no rule is called {name:?}{}; there are: {}",
            did_you_mean(name, ids.into_iter()),
            ids.join(", ")
        )
    })
}

fn enough(rule: Rule, found: usize) -> Result<()> {
    let needed = rule.min_episodes();
    let promise = rule.alpha().map_or(String::new(), |alpha| format!(" with an alpha of {alpha}"));
    ensure!(
        found >= needed,
        "rule {}{promise}: expected at least {needed} nominal calibration episodes, found {found}",
        rule.id()
    );
    Ok(())
}

fn play(subject: &Subject, role: &str, n: usize, common: &Common) -> Result<Vec<Episode>> {
    let bar = common.context().task(n, role);
    let root = Seed(common.seed).child("fit").child(role);
    let plan = Plan { seed: common.seed, root, episodes: 0..n, jobs: common.jobs, bar: &bar };
    let played = collect::nominal(subject, &plan);
    Ok(played?.episodes)
}

/// The episodes of a file, which must be nominal ones of this environment and policy.
fn nominal(path: &Path, subject: &Subject) -> Result<Vec<Episode>> {
    let Dataset { recipe, episodes, .. } = dataset::load(path)?;
    let place = || format!("dataset {}", path.display());
    let env = &subject.env.spec().id;
    ensure!(recipe.env == *env, "{}: expected episodes of {env}, found {}", place(), recipe.env);
    ensure!(recipe.anomaly_spec.is_none(), "{}: expected nominal episodes, found anomalous ones", place());
    let (expected, found) = (&subject.name, &recipe.policy);
    ensure!(
        expected.digest == found.digest,
        "{}: expected episodes of the policy {} (SHA-256 {}), found {} ({})",
        place(),
        expected.id,
        expected.digest,
        found.id,
        found.digest
    );
    Ok(episodes)
}

fn print(made: &Made, path: &Path, as_json: bool) -> Result<()> {
    let (about, mut out) = (&made.about, std::io::stdout().lock());
    if as_json {
        writeln!(out, "{:#}", json!({ "file": path, "bytes": made.bytes.len(), "monitor": about }))?;
        return Ok(());
    }
    let set = &about.threshold;
    writeln!(
        out,
        "{}: {} for {}, learned from {} episodes; {} bytes",
        path.display(),
        about.detector.id,
        about.environment.id,
        about.train_episodes,
        made.bytes.len()
    )?;
    let promise = match &set.false_alarms {
        Some(share) => format!("; expected share of nominal episodes with an alarm {share:.4}"),
        None => "; the rule promises nothing about false alarms".into(),
    };
    writeln!(
        out,
        "alarm: {} above {:.4}, set by {} on {} episodes{promise}",
        set.statistic, set.value, set.rule, set.episodes
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn wrong_rules_shares_and_detectors_are_named() {
        let error = rule("confromal", 0.1).unwrap_err().to_string();
        assert!(error.contains("did you mean \"conformal\"?") && error.contains("martingale"), "{error}");
        let error = rule("max", 0.0).unwrap_err().to_string();
        assert_eq!(error, "--alpha: expected a number between 0 and 1, found 0");
        assert_eq!(detector("{ id = \"knn\", k = 3 }").unwrap().params, json!({"k": 3}));
        assert!(detector("{ k = 3 }").unwrap_err().contains("expected an `id`"));
    }
}
