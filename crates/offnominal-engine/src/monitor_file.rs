//! Monitors as files: made from nominal episodes, and opened again.

use crate::context::Context;
use crate::detector_choice::{DetectorChoice, seed_label};
use crate::subject::Subject;
use crate::{catalogues, policies};
use anyhow::{Context as _, Result, ensure};
use offnominal_core::alarm::Settings;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_files::dataset::Dataset;
use offnominal_files::store::address;
use offnominal_monitor::{
    About, Calibrated, DetectorRecipe, FORMAT, Identity, Monitor, channel_names, encode,
};
use offnominal_stats::{Level, Rule, Threshold};
use serde_json::Value;
use std::path::Path;

/// What is fitted, and when it is to raise an alarm.
pub struct Fit<'a> {
    /// The environment and the policy that acts.
    pub subject: &'a Subject,
    /// The detector.
    pub detector: &'a DetectorChoice,
    /// How the threshold is set.
    pub rule: Rule,
    /// How exceedances become alarms.
    pub alarm: Settings,
    /// Whether an alarm is to be diagnosed.
    pub diagnoses: bool,
    /// The seed, who sees how far it is, and when to stop.
    pub context: &'a Context,
}

/// A monitor as the bytes of its file, with what it says of itself.
pub struct Made {
    /// The header.
    pub about: About,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Fit<'_> {
    /// Fits the detector on some episodes, and sets the threshold with others.
    ///
    /// # Errors
    /// If there are too few episodes, the detector cannot be fitted or kept, or the work was asked to stop.
    pub fn make(&self, train: &[Episode], calibration: &[Episode]) -> Result<Made> {
        let mut monitor = self.fit(train)?;
        let scores = self.scores(monitor.as_mut(), calibration)?;
        let threshold = self.rule.threshold(&scores, Level::P95)?;
        monitor.reset();
        let diagnoser = self.diagnoses.then(|| self.diagnoser(train)).transpose()?;
        let archive = Monitor::archive(monitor.as_ref(), &threshold.statistic, diagnoser.as_ref())?;
        let about = self.about(train.len(), calibration.len(), &threshold);
        Ok(Made { bytes: encode(&about, &archive), about })
    }

    fn fit(&self, train: &[Episode]) -> Result<Box<dyn offnominal_core::detector::Monitor>> {
        let detector = catalogues::detectors().build(&self.detector.id, &self.detector.params)?;
        let views: Vec<Signals<'_>> = train.iter().map(Episode::signals).collect();
        // One episode in ten tells when to stop, where training is to stop early.
        let n_held_out = if stops_early(&self.detector.params) { views.len().div_ceil(10) } else { 0 };
        let (seen, held_out) = views.split_at(views.len() - n_held_out);
        let mut rng = self.seed().child("fit").child(seed_label(&self.detector.name)).rng();
        let nominal = Nominal::new(seen, held_out).with_policy(self.subject.policy.as_ref());
        let fit = |course: Course<'_>| {
            detector.fit(nominal.with_course(course), &mut rng).context("the detector cannot be fitted")
        };
        self.context.watched(&format!("fit of {}", self.detector.name), fit)
    }

    fn diagnoser(&self, train: &[Episode]) -> Result<Diagnoser> {
        let views: Vec<Signals<'_>> = train.iter().map(Episode::signals).collect();
        let mut rng = self.seed().child("diagnosis").rng();
        let fit = |course: Course<'_>| {
            Diagnoser::fit(&views, &mut rng, course).context("the diagnosis cannot be fitted")
        };
        self.context.watched("fit of the diagnosis", fit)
    }

    /// The scores of each episode, `[n][T]`.
    fn scores(
        &self,
        monitor: &mut dyn offnominal_core::detector::Monitor,
        episodes: &[Episode],
    ) -> Result<Vec<Vec<f64>>> {
        let task = self.context.task(episodes.len(), "scores");
        let score = |episode: &Episode| {
            task.check()?;
            let mut scores = Vec::with_capacity(episode.len());
            monitor.score_episode(&episode.signals(), &mut scores);
            task.inc(1);
            Ok(scores)
        };
        episodes.iter().map(score).collect()
    }

    fn seed(&self) -> Seed {
        Seed(self.context.seed)
    }

    fn about(&self, train_episodes: usize, episodes: usize, threshold: &Threshold) -> About {
        let (spec, name) = (self.subject.env.spec(), &self.subject.name);
        About {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").into(),
            detector: DetectorRecipe { id: self.detector.id.clone(), params: self.detector.params.clone() },
            environment: identity(spec),
            policy: Identity { id: name.id.clone(), digest: name.digest.clone() },
            observation: channel_names(&spec.observation),
            action: channel_names(&spec.action),
            dt_secs: spec.dt_secs,
            train_episodes,
            seed: self.context.seed,
            diagnoses: self.diagnoses,
            threshold: Calibrated {
                rule: self.rule.id().into(),
                alpha: self.rule.alpha(),
                statistic: threshold.statistic.id().into(),
                value: threshold.value,
                episodes,
                false_alarms: threshold.false_alarms.clone(),
            },
            alarm: self.alarm,
        }
    }
}

/// Whether the parameters of a detector, or of one inside it, ask for early stopping.
fn stops_early(params: &Value) -> bool {
    match params {
        Value::Object(table) => {
            table.iter().any(|(key, v)| key == "patience" && !v.is_null() || stops_early(v))
        }
        Value::Array(list) => list.iter().any(stops_early),
        _ => false,
    }
}

/// An environment's name with the digest of its specification.
pub fn identity(spec: &EnvSpec) -> Identity {
    let digest = address(&serde_json::to_vec(spec).expect("a specification is valid JSON"));
    Identity { id: spec.id.clone(), digest }
}

/// Opens a monitor's file; a detector that looks inside the policy finds it by its name.
///
/// # Errors
/// As [`Monitor::open`], or if there is no such policy any longer.
pub fn open(path: &Path) -> Result<Monitor> {
    let policy = |about: &About| same_policy(about).map_err(|e| format!("{e:#}"));
    Ok(Monitor::open_with(path, &catalogues::detectors(), policy)?)
}

fn same_policy(about: &About) -> Result<Box<dyn Policy>> {
    let env = catalogues::environment(&about.environment.id, None)?;
    let found = policies::find(&about.policy.id, env.as_ref())?;
    let (expected, digest) = (&about.policy.digest, &found.digest);
    ensure!(digest == expected, "it was trained anew: expected SHA-256 {expected}, found {digest}");
    Ok(found.policy)
}

/// Checks that episodes are of the environment that a monitor was fitted on.
///
/// # Errors
/// If the environment is another one, its channels are, or its specification has changed since.
pub fn check(monitor: &Monitor, dataset: &Dataset) -> Result<()> {
    let (about, recipe) = (monitor.about(), &dataset.recipe);
    let (expected, found) = (&about.environment.id, &recipe.env);
    ensure!(
        found == expected,
        "expected episodes of {expected}, which the monitor was fitted on, found {found}"
    );
    let widths = [about.obs_width(), about.act_width()];
    let found = [recipe.obs_width(), recipe.act_width()];
    ensure!(
        widths == found,
        "expected {} observation and {} action channels, found {} and {}",
        widths[0],
        widths[1],
        found[0],
        found[1]
    );
    let known = catalogues::environments();
    if known.entries().iter().any(|entry| entry.id == about.environment.id) {
        let now = identity(catalogues::environment(&about.environment.id, None)?.spec());
        ensure!(
            now == about.environment,
            "the environment {} has changed since the monitor was fitted: expected the specification {}, found {}",
            now.id,
            about.environment.digest,
            now.digest
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn early_stopping_is_found_wherever_it_is_asked_for() {
        assert!(stops_early(&json!({"training": {"patience": 3}})));
        assert!(stops_early(&json!({"inner": ["knn", {"id": "mlp-dm", "training": {"patience": 3}}]})));
        assert!(!stops_early(&json!({"training": {"patience": null, "epochs": 3}})));
    }
}
