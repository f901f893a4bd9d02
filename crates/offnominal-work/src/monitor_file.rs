//! Monitors as files, made from nominal episodes.

use crate::context::Context;
use crate::detector_choice::{DetectorChoice, seed_label};
use crate::{detectors, reach};
use anyhow::{Context as _, Result, bail, ensure};
use offnominal_core::alarm::Settings;
use offnominal_core::archive::Archive;
use offnominal_core::prelude::*;
use offnominal_detectors::diagnosis::Diagnoser;
use offnominal_monitor::{
    About, Calibrated, ChannelName, DetectorRecipe, FORMAT, Groups, Identity, Monitor, digest, encode,
    remember, score_episode,
};
use offnominal_stats::alarm::statistic::Statistic;
use offnominal_stats::{GroupThresholds, Level, Rule, Threshold, rate};
use serde_json::Value;
use std::collections::HashSet;

/// What a monitor is to watch: an environment, or anything of which there are only episodes.
pub struct System<'a> {
    /// What it is called, with the digest of its specification if it has one.
    pub environment: Identity,
    /// The policy that acts, with the digest of its file if it has one.
    pub policy_name: Identity,
    /// The policy, if it is at hand.
    pub policy: Option<&'a dyn Policy>,
    /// One name for each number of an observation.
    pub observation: Vec<ChannelName>,
    /// One name for each number of a command.
    pub action: Vec<ChannelName>,
    /// Seconds per step.
    pub dt_secs: f64,
    /// Whether nobody has said how many seconds that are.
    pub assumes_dt: bool,
    /// Which column of a log is which channel, as TOML, if the episodes are from logs.
    pub mapping: Option<String>,
}

impl System<'_> {
    /// Seconds per step, if somebody has said them.
    pub fn known_dt_secs(&self) -> Option<f64> {
        (!self.assumes_dt).then_some(self.dt_secs)
    }

    /// Insists on episodes with the channels of the system.
    fn check(&self, episodes: &[Signals<'_>], what: &str) -> Result<()> {
        let expected = [self.observation.len(), self.action.len()];
        for (i, episode) in episodes.iter().enumerate() {
            let found = [episode.obs_width(), episode.act_width()];
            ensure!(
                found == expected,
                "{what} episode {i}: expected {} observation and {} action channels of {}, found {} and {}",
                expected[0],
                expected[1],
                self.environment.id,
                found[0],
                found[1]
            );
        }
        Ok(())
    }
}

/// What is fitted, and when it is to raise an alarm.
pub struct Fit<'a> {
    /// What is watched.
    pub system: &'a System<'a>,
    /// The detector.
    pub detector: &'a DetectorChoice,
    /// How the threshold is set.
    pub rule: Rule,
    /// The name of each calibration episode's group, if groups are to have thresholds of their own.
    pub groups: Option<&'a [String]>,
    /// How exceedances become alarms.
    pub alarm: Settings,
    /// Whether an alarm is to be diagnosed.
    pub diagnoses: bool,
    /// Plays faults that the fitted monitor notices, so that a diagnosis can name them; not if there is only nominal data.
    pub faults: Option<&'a PlayFaults<'a>>,
    /// Steps in a row that a number may be missing before its sensor counts as lost; without it, what [`LOST_AFTER`] says.
    pub lost_after: Option<u32>,
    /// The seed, who sees how far it is, and when to stop.
    pub context: &'a Context,
}

/// Teaches a diagnosis named faults that a fitted detector notices at its threshold.
pub type PlayFaults<'a> =
    dyn Fn(&mut Diagnoser, &dyn offnominal_core::detector::Scorer, &Threshold) -> Result<()> + 'a;

/// A sensor counts as lost after more steps than nineteen of twenty calibration episodes go without one of their numbers,
/// and after more than this many.
pub const LOST_AFTER: u32 = 10;

/// The contents of a monitor's file.
pub struct Made {
    /// The header.
    pub about: About,
    /// What was learned.
    pub archive: Archive,
    /// What makes it doubtful that there is ever an alarm.
    pub warnings: Vec<String>,
}

impl Made {
    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        encode(&self.about, &self.archive)
    }
}

impl Fit<'_> {
    /// Fits the detector on some episodes, and sets the threshold with others.
    ///
    /// # Errors
    /// If there are too few episodes, the detector cannot be fitted or kept, or the work was asked to stop.
    pub fn make(&self, train: &[Signals<'_>], calibration: &[Signals<'_>]) -> Result<Made> {
        self.system.check(train, "training")?;
        self.system.check(calibration, "calibration")?;
        self.check_groups(calibration.len())?;
        insist_on_others(train, calibration)?;
        let steps: Vec<usize> = calibration.iter().map(Signals::len).collect();
        let rule = self.rule.of_lengths(&steps)?;
        let mut monitor = self.fit(train)?;
        let usual = usual(train, self.system.observation.len());
        let whole = calibration.iter().find(|episode| is_whole(episode));
        insist_on_equal_scores(monitor.as_mut(), whole.or(train.first()))
            .with_context(|| format!("detector {}", self.detector.name))?;
        let scores = self.scores(monitor.as_mut(), &usual, calibration)?;
        let threshold = rule.threshold(&scores, Level::P95)?;
        let grouped = |groups| rule.group_thresholds(&scores, groups, Level::P95);
        let groups = self.groups.map(grouped).transpose()?;
        let warnings = self.doubts(
            (&threshold, groups.as_ref()),
            &scores,
            &gross(monitor.as_mut(), &usual, calibration),
        );
        monitor.reset();
        let mut diagnoser = self.diagnoses.then(|| self.diagnoser(train)).transpose()?;
        if let (Some(diagnoser), Some(teach)) = (&mut diagnoser, self.faults) {
            teach(diagnoser, monitor.as_ref(), &threshold)?;
        }
        let mut archive =
            Monitor::archive(monitor.as_ref(), &threshold, groups.as_ref(), diagnoser.as_ref())?;
        remember(&mut archive, train.iter().chain(calibration));
        let (missing, lost_after) =
            (monitor.missing(), self.lost_after.unwrap_or_else(|| longest_gap(calibration)));
        let groups = groups.map(|groups| Groups::new(rule, &groups));
        let about = self.about(train.len(), Calibrated::new(rule, &threshold, calibration.len()));
        let hypotheses = diagnoser.map_or(vec![], |d| d.hypotheses().to_vec());
        let mut about = About { groups, usual, missing, lost_after, hypotheses, ..about };
        about.threshold.longest = steps.iter().map(|&steps| steps as u64).max();
        self.per_hour(&mut about.threshold, &threshold.statistic, &steps)?;
        Ok(Made { about, archive, warnings })
    }

    /// What is to be said where hardly anything can be above a threshold, given what a gross fault scores.
    fn doubts(
        &self,
        (all, groups): (&Threshold, Option<&GroupThresholds>),
        scores: &[Vec<f64>],
        gross: &[f64],
    ) -> Vec<String> {
        let views: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
        let (id, names) = (&self.detector.id, self.groups.unwrap_or_default());
        let of_group = |(name, _, threshold): &(String, usize, Threshold)| {
            let own = views.iter().zip(names).filter(|(_, group)| *group == name);
            let own: Vec<&[f64]> = own.map(|(scores, _)| *scores).collect();
            reach::doubt(&format!("{id} in group {name}"), threshold, &own, gross)
        };
        let own = groups.iter().flat_map(|groups| &groups.own).filter_map(of_group);
        reach::doubt(id, all, &views, gross).into_iter().chain(own).collect()
    }

    /// Insists on a rule that can have groups, and on one for each calibration episode, if there are any.
    fn check_groups(&self, episodes: usize) -> Result<()> {
        let Some(groups) = self.groups else { return Ok(()) };
        ensure!(
            !matches!(self.rule, Rule::RunLength(_)),
            "groups: expected a rule for episodes, found {}, which is for streams without any",
            self.rule.id()
        );
        ensure!(
            !matches!(self.rule, Rule::Rate(_)),
            "groups: expected alpha, which is promised within each group, found false_alarms, whose rate is that of all together"
        );
        let found = groups.len();
        ensure!(
            found == episodes,
            "groups: expected one for each of {episodes} calibration episodes, found {found}"
        );
        Ok(())
    }

    fn fit(&self, views: &[Signals<'_>]) -> Result<Box<dyn offnominal_core::detector::Scorer>> {
        let detector = detectors::catalogue().build(&self.detector.id, &self.detector.params)?;
        // One episode in ten tells when to stop, where training is to stop early.
        let n_held_out = if stops_early(&self.detector.params) { views.len().div_ceil(10) } else { 0 };
        let (seen, held_out) = views.split_at(views.len() - n_held_out);
        let mut rng = self.seed().child("fit").child(seed_label(&self.detector.name)).rng();
        let nominal = Nominal { policy: self.system.policy, ..Nominal::new(seen, held_out) };
        let fit = |progress: FitProgress<'_>| {
            detector.fit(nominal.with_progress(progress), &mut rng).context("the detector cannot be fitted")
        };
        self.context.watched(&format!("fit of {}", self.detector.name), fit)
    }

    fn diagnoser(&self, train: &[Signals<'_>]) -> Result<Diagnoser> {
        let mut rng = self.seed().child("diagnosis").rng();
        let fit = |progress: FitProgress<'_>| {
            Diagnoser::fit(train, &mut rng, progress).context("the diagnosis cannot be fitted")
        };
        self.context.watched("fit of the diagnosis", fit)
    }

    /// The scores of each episode, `[n][T]`.
    fn scores(
        &self,
        monitor: &mut dyn offnominal_core::detector::Scorer,
        usual: &[[f32; 2]],
        episodes: &[Signals<'_>],
    ) -> Result<Vec<Vec<f64>>> {
        let task = self.context.task(episodes.len(), "scores");
        let score = |episode: &Signals<'_>| {
            task.check()?;
            let scores = score_episode(monitor, usual, episode);
            task.inc(1);
            Ok(scores)
        };
        episodes.iter().map(score).collect()
    }

    fn seed(&self) -> Seed {
        Seed(self.context.seed)
    }

    /// What is promised and expected of alarms an hour, where a step is known to take so many seconds.
    fn per_hour(&self, set: &mut Calibrated, statistic: &Statistic, steps: &[usize]) -> Result<()> {
        let Some(dt_secs) = self.system.known_dt_secs() else { return Ok(()) };
        set.promised_per_hour = match self.rule {
            Rule::Rate(rate) => Some(rate.per_hour),
            Rule::RunLength(run_length) => Some(3600.0 / (run_length.steps * dt_secs)),
            _ => None,
        };
        // An alarm that clears itself can be raised again in the same episode, and before evidence has begun anew.
        if self.alarm.clear_after.is_some() {
            return Ok(());
        }
        if let Statistic::Blocks(blocks) = statistic {
            let hours = blocks.steps() as f64 * dt_secs / 3600.0;
            let of_block = blocks.alarms_per_block(set.value, Level::P95);
            set.per_hour = of_block.map(|e| {
                Level::P95.estimate(e.value / hours, (e.low / hours, e.high / hours), e.n, &e.method)
            });
        } else if let Some(share) = &set.false_alarms {
            // Those that set the value; others before them may have told what is nominal at each step.
            let ranked = &steps[steps.len() - share.n..];
            let hours: Vec<f64> = ranked.iter().map(|&steps| steps as f64 * dt_secs / 3600.0).collect();
            set.per_hour = Some(rate::per_hour(share, &hours, Level::P95)?);
        }
        Ok(())
    }

    fn about(&self, train_episodes: usize, threshold: Calibrated) -> About {
        let system = self.system;
        About {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").into(),
            detector: DetectorRecipe {
                id: self.detector.id.clone(),
                params: offnominal_detectors::complete(&self.detector.id, &self.detector.params),
            },
            environment: system.environment.clone(),
            policy: system.policy_name.clone(),
            observation: system.observation.clone(),
            action: system.action.clone(),
            dt_secs: system.dt_secs,
            train_episodes,
            seed: self.context.seed,
            diagnoses: self.diagnoses,
            hypotheses: vec![],
            threshold,
            groups: None,
            alarm: self.alarm,
            missing: Missing::Held,
            lost_after: LOST_AFTER,
            usual: vec![],
            mapping: system.mapping.clone(),
        }
    }
}

/// The scores of an episode with a gross fault.
fn gross(
    monitor: &mut dyn offnominal_core::detector::Scorer,
    usual: &[[f32; 2]],
    episodes: &[Signals<'_>],
) -> Vec<f64> {
    let Some(longest) = episodes.iter().max_by_key(|episode| episode.len()) else { return vec![] };
    let rows = reach::gross(longest, usual);
    let steps = rows.len() / longest.obs_width() - 1;
    let broken =
        Signals::new(&rows, longest.until(steps).actions(), longest.obs_width(), longest.act_width());
    score_episode(monitor, usual, &broken)
}

/// Insists on calibration episodes that are not those which were learned from, all over again. Where nominal episodes are
/// equal to one another anyway, as in a game without chance, so may these be.
fn insist_on_others(train: &[Signals<'_>], calibration: &[Signals<'_>]) -> Result<()> {
    let learned: HashSet<u64> = train.iter().map(digest).collect();
    let copied = |episode: &&Signals<'_>| learned.contains(&digest(episode));
    let copies = calibration.iter().filter(copied).count();
    ensure!(
        learned.len() < train.len() || copies < calibration.len() || copies == 0,
        "calibration: expected other episodes than those that were learned from, found {copies} of {copies} among these; \
         a threshold that they set would be too low"
    );
    Ok(())
}

/// Steps in which scores of a whole episode are compared with those of one step after another.
const COMPARED: usize = 100;

/// Insists on scores that do not depend on whether an episode is scored as a whole, as for a threshold, or step by step, as
/// at work: else the threshold promises nothing.
fn insist_on_equal_scores(
    monitor: &mut dyn offnominal_core::detector::Scorer,
    episode: Option<&Signals<'_>>,
) -> Result<()> {
    let Some(episode) = episode.map(|e| e.until(e.len().min(COMPARED))) else { return Ok(()) };
    let mut whole = Vec::with_capacity(episode.len());
    monitor.score_episode(&episode, &mut whole);
    monitor.reset();
    let single: Vec<f64> = episode.transitions().map(|step| monitor.score(&step)).collect();
    let largest = whole.iter().chain(&single).fold(0.0_f64, |most, x| most.max(x.abs()));
    let differ = |(a, b): &(f64, f64)| (a - b).abs() > 1e-3 * a.abs().max(b.abs()) + 1e-6 * largest;
    let found = whole.into_iter().zip(single).enumerate().find(|(_, both)| differ(both));
    let Some((step, (whole, single))) = found else { return Ok(()) };
    bail!(
        "expected the score of a step to depend on the steps before it only, found {whole:.6} at step {step} of a whole episode \
         and {single:.6} at the same step as it comes; a threshold set by the former promises nothing of the latter"
    )
}

fn is_whole(episode: &Signals<'_>) -> bool {
    episode.observations().iter().chain(episode.actions()).all(|x| x.is_finite())
}

/// Steps in a row that nineteen of twenty episodes at most go without one of their numbers.
fn longest_gap(episodes: &[Signals<'_>]) -> u32 {
    let of_channel = |episode: &Signals<'_>, channel: usize| {
        let (mut gap, mut longest) = (0_u32, 0);
        for x in episode.observations().iter().skip(channel).step_by(episode.obs_width()) {
            gap = if x.is_finite() { 0 } else { gap + 1 };
            longest = longest.max(gap);
        }
        longest
    };
    let of_episode = |e: &Signals<'_>| (0..e.obs_width()).map(|c| of_channel(e, c)).max().unwrap_or(0);
    let mut gaps: Vec<u32> = episodes.iter().map(of_episode).collect();
    gaps.sort_unstable();
    let rank = ((gaps.len() + 1) * 19).div_ceil(20).clamp(1, gaps.len().max(1));
    gaps.get(rank - 1).copied().unwrap_or(0).max(LOST_AFTER)
}

/// The 1 % and the 99 % quantile of each channel of observations.
fn usual(episodes: &[Signals<'_>], n_channels: usize) -> Vec<[f32; 2]> {
    let of = |channel| {
        let rows = episodes.iter().flat_map(|e| e.observations().chunks_exact(n_channels));
        let mut values: Vec<f32> = rows.map(|row| row[channel]).collect();
        values.sort_unstable_by(f32::total_cmp);
        [0.01, 0.99].map(|share| values[((values.len() - 1) as f64 * share).round() as usize])
    };
    (0..n_channels).map(of).collect()
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
