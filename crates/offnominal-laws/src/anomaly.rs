//! Laws of anomalies.
//!
//! An anomaly is applied in a recorded environment: a recorder between runner and environment notes what was commanded,
//! what was true, and what the parameters were. Comparing this with the episode shows what the anomaly did, and when.

use crate::recorder::{Record, Recorder};
use crate::{Verdicts, Violation};
use offnominal_core::prelude::*;
use offnominal_core::run::{Disturbance, play_on};
use serde_json::json;
use std::collections::BTreeSet;

/// What an anomaly may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    /// Observations on their way to the policy.
    Observation,
    /// Actions on their way to the environment.
    Action,
    /// A parameter of the environment.
    Environment,
}

/// An anomaly, the environment in which it is tried, and what is expected of it.
#[derive(Clone, Copy)]
pub struct AnomalyCase<'a> {
    /// Name as in a [`AnomalySpec`]: of an entry, or `dyn-<parameter>`.
    pub id: &'a str,
    /// Where to look the name up.
    pub from: &'a Catalogue<dyn Anomaly>,
    /// An environment that can be forked and whose episodes last ten steps or more under small actions.
    pub env: &'a dyn Env,
    /// What it may change.
    pub touches: Touches,
    /// The magnitude at which it does nothing.
    pub neutral: f64,
    /// A magnitude at which it cannot be overlooked.
    pub gross: f64,
}

/// First anomalous step of every trial, and the number of anomalous steps in a window.
const ONSET: u32 = 3;
const WINDOW: Extent = Extent::Window { steps: 3 };
const HORIZON: u32 = 12;
const N_SEEDS: u64 = 6;

/// Checks an anomaly.
///
/// # Panics
/// If it cannot be built for the environment at its neutral or its gross magnitude.
pub fn anomaly(case: &AnomalyCase<'_>, exempt: &[(Law, &'static str)]) -> Vec<Violation> {
    let mut verdicts = Verdicts::new(exempt);
    let all = (0..N_SEEDS).map(|i| Trials::of(case, Seed(i))).collect::<Vec<_>>();
    for trials in &all {
        trials.check(case, &mut verdicts);
    }
    verdicts.require(Law::MagnitudeBites, all.iter().any(Trials::bites), || {
        format!("magnitude {} changes nothing in {N_SEEDS} episodes", case.gross)
    });
    draws_one_channel(&all, case.touches, &mut verdicts);
    verdicts.require(Law::EndRestores, all.iter().any(Trials::outlasts_the_window), || {
        "no episode lasted beyond the window, so nothing was tested".into()
    });
    verdicts.found
}

/// A played episode and what the recorder noted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    pub(super) episode: Episode,
    pub(super) truth: Record,
}

/// The nominal episode of one seed and what becomes of it under the anomaly.
struct Trials {
    nominal: Trial,
    neutral: Trial,
    gross: Trial,
    again: Trial,
    window: Trial,
    one_channel: Option<Trial>,
    drawn_channel: Option<Trial>,
}

impl Trials {
    fn of(case: &AnomalyCase<'_>, seed: Seed) -> Trials {
        let play = |anomaly_spec: &AnomalySpec| case.play(seed, Some(anomaly_spec));
        let gross = case.anomaly_spec(case.gross, Extent::ToEnd);
        let has_channels = case.has_channels();
        let on = |channels: serde_json::Value| {
            let mut anomaly_spec = gross.clone();
            anomaly_spec.params["channels"] = channels;
            has_channels.then(|| play(&anomaly_spec))
        };
        Trials {
            nominal: case.play(seed, None),
            neutral: play(&case.anomaly_spec(case.neutral, Extent::ToEnd)),
            gross: play(&gross),
            again: play(&reread(&gross)),
            window: play(&case.anomaly_spec(case.gross, WINDOW)),
            one_channel: on(json!([0])),
            drawn_channel: on(json!("one")),
        }
    }

    fn check(&self, case: &AnomalyCase<'_>, verdicts: &mut Verdicts<'_>) {
        let changed = || format!("magnitude {} is not neutral", case.neutral);
        verdicts.require(Law::NeutralChangesNothing, alike(&self.nominal, &self.neutral), changed);
        verdicts.require(Law::SameSeedSameBits, self.gross.truth == self.again.truth, || {
            "two episodes of one recipe and seed differ".into()
        });
        let recipe = &self.gross.episode.anomaly_spec;
        round_trips(recipe.as_ref(), self.again.episode.anomaly_spec.as_ref(), verdicts);
        for trial in [&self.gross, &self.window] {
            silent_before_onset(trial, &self.nominal, verdicts);
            labels_tell_activity(&trial.episode, verdicts);
            records_the_command(&trial.episode, case.env.spec(), verdicts);
        }
        restores(&self.window, verdicts);
        touches_only(&self.gross, case.touches, None, verdicts);
        if let Some(trial) = &self.one_channel {
            touches_only(trial, case.touches, Some(0), verdicts);
        }
    }

    fn bites(&self) -> bool {
        self.gross.truth.observations != self.nominal.truth.observations
    }

    fn outlasts_the_window(&self) -> bool {
        self.window.episode.labels.iter().filter(|&&l| l).count() == 3 && self.window.episode.len() > 7
    }
}

impl AnomalyCase<'_> {
    /// Whether the signal that it changes has channels to choose from; an image is one as a whole.
    fn has_channels(&self) -> bool {
        match self.touches {
            Touches::Environment => false,
            Touches::Action => true,
            Touches::Observation => self.env.spec().image().is_none(),
        }
    }

    pub(super) fn anomaly_spec(&self, magnitude: f64, extent: Extent) -> AnomalySpec {
        let schedule = Schedule { onset: Onset::At(ONSET), extent };
        AnomalySpec { anomaly: self.id.into(), params: json!({ "magnitude": magnitude }), schedule }
    }

    pub(super) fn play(&self, seed: Seed, anomaly_spec: Option<&AnomalySpec>) -> Trial {
        let anomaly = |f: &AnomalySpec| -> Result<_, BuildError> { f.build(self.from, self.env) };
        let disturbance = anomaly_spec.map(|anomaly_spec| Disturbance {
            anomaly_spec,
            onset: ONSET,
            anomaly: anomaly(anomaly_spec).unwrap_or_else(|e| panic!("{} cannot be built: {e}", self.id)),
        });
        let mut recorder = Recorder::of(self.env);
        let mut policy = steer(self.env.spec());
        let episode = play_on(&mut recorder, &mut policy, HORIZON, seed, disturbance, &mut |_| ());
        Trial { episode, truth: recorder.record }
    }
}

/// A policy that reads every number of the observation, actions gently, and makes every choice now and then.
fn steer(spec: &EnvSpec) -> impl FnMut(&[f32], &mut [f32]) + Clone + Send + Sync + use<> {
    let weights: Vec<f32> = (1..=spec.obs_width()).map(|k| (k as f32).sin()).collect();
    let action = spec.action.clone();
    move |obs, commands| {
        let weighted: f32 = weights.iter().zip(obs).map(|(w, o)| w * o).sum();
        for ((i, command), channel) in commands.iter_mut().enumerate().zip(&action) {
            let wave = (weighted + 3.0 * i as f32).sin();
            *command = match channel.choices {
                0 => 0.3 * wave,
                n => (0.5 * (wave + 1.0) * n as f32).floor().min((n - 1) as f32),
            };
        }
    }
}

/// The channels changed by an anomaly of one drawn channel: at most one per episode, and not the same in all episodes.
fn draws_one_channel(all: &[Trials], touches: Touches, verdicts: &mut Verdicts<'_>) {
    let drawn: Vec<&Trial> = all.iter().filter_map(|t| t.drawn_channel.as_ref()).collect();
    let changed: Vec<BTreeSet<usize>> = drawn.iter().map(|trial| trial.changed(touches)).collect();
    verdicts.require(Law::DrawsOneChannel, changed.iter().all(|c| c.len() <= 1), || {
        format!("told to change one channel, {changed:?} were changed")
    });
    let wide = drawn.iter().any(|trial| trial.width(touches) > 1);
    let all_of_them: BTreeSet<usize> = changed.iter().flatten().copied().collect();
    verdicts.require(Law::DrawsOneChannel, !wide || all_of_them.len() > 1, || {
        format!("in {N_SEEDS} episodes only channel {all_of_them:?} was drawn")
    });
}

fn reread(anomaly_spec: &AnomalySpec) -> AnomalySpec {
    let text = serde_json::to_string(anomaly_spec).expect("a recipe can be written");
    serde_json::from_str(&text).expect("a recipe can be read")
}

fn alike(a: &Trial, b: &Trial) -> bool {
    a.truth == b.truth
        && a.episode.observations == b.episode.observations
        && a.episode.rewards == b.episode.rewards
}

pub(super) fn round_trips(
    written: Option<&AnomalySpec>,
    read: Option<&AnomalySpec>,
    verdicts: &mut Verdicts<'_>,
) {
    verdicts.require(Law::RecipeRoundTrips, written == read, || format!("{written:?} was read as {read:?}"));
}

pub(super) fn silent_before_onset(trial: &Trial, nominal: &Trial, verdicts: &mut Verdicts<'_>) {
    let until = |t: &Trial| {
        let steps = (ONSET as usize).min(t.episode.len());
        let seen = t.episode.observations[..(steps + 1) * t.episode.obs_width].to_vec();
        (seen, t.truth.commands[..steps].to_vec(), t.episode.rewards[..steps].to_vec())
    };
    verdicts.require(Law::SilentBeforeOnset, until(trial) == until(nominal), || {
        format!("the episode of {:?} differs from its twin before step {ONSET}", trial.episode.seed)
    });
}

pub(super) fn labels_tell_activity(episode: &Episode, verdicts: &mut Verdicts<'_>) {
    let (Some(anomaly_spec), Some(onset)) = (&episode.anomaly_spec, episode.onset) else { return };
    let wrong =
        (0_u32..).zip(&episode.labels).find(|&(t, &l)| l != anomaly_spec.schedule.extent.is_active(t, onset));
    verdicts.require(Law::LabelsTellActivity, wrong.is_none(), || format!("step and label {wrong:?}"));
}

pub(super) fn records_the_command(episode: &Episode, spec: &EnvSpec, verdicts: &mut Verdicts<'_>) {
    let mut policy = steer(spec);
    let mut command = vec![0.0; episode.act_width];
    let seen = episode.observations.chunks_exact(episode.obs_width);
    for (t, (obs, recorded)) in seen.zip(episode.actions.chunks_exact(episode.act_width)).enumerate() {
        policy(obs, &mut command);
        verdicts.require(Law::RecordsTheCommand, command == recorded, || {
            format!("step {t}: the policy commanded {command:?}, recorded is {recorded:?}")
        });
    }
}

/// Outside of the active steps, what is seen is true, what is commanded is done, and parameters are nominal.
fn restores(trial: &Trial, verdicts: &mut Verdicts<'_>) {
    for (t, _) in trial.episode.labels.iter().enumerate().filter(|&(_, &active)| !active) {
        verdicts.require(Law::EndRestores, trial.truth.is_nominal_at(t), || {
            format!("step {t}: a parameter still has its anomalous value")
        });
        let untouched = trial.changed_channels(t).is_empty() && trial.changed_commands(t).is_empty();
        verdicts.require(Law::EndRestores, untouched, || format!("step {t}: a signal is still changed"));
    }
}

/// No channel on the wrong side, and none but the chosen one, is changed.
fn touches_only(trial: &Trial, touches: Touches, chosen: Option<usize>, verdicts: &mut Verdicts<'_>) {
    let is_allowed = |side, i: &usize| touches == side && chosen.is_none_or(|c| c == *i);
    for t in 0..trial.episode.len() {
        let mut wrong = trial.changed_channels(t);
        wrong.retain(|i| !is_allowed(Touches::Observation, i));
        let mut wrong_commands = trial.changed_commands(t);
        wrong_commands.retain(|i| !is_allowed(Touches::Action, i));
        wrong.extend(wrong_commands);
        let parameters_kept = touches == Touches::Environment || trial.truth.is_nominal_at(t);
        verdicts.require(Law::TouchesOnlyChosen, wrong.is_empty() && parameters_kept, || {
            format!("step {t}: channels {wrong:?} were changed, or a parameter was")
        });
    }
}

impl Trial {
    /// Every channel that was changed at some step.
    fn changed(&self, touches: Touches) -> BTreeSet<usize> {
        let at = |t| match touches {
            Touches::Action => self.changed_commands(t),
            _ => self.changed_channels(t),
        };
        (0..self.episode.len()).flat_map(at).collect()
    }

    fn width(&self, touches: Touches) -> usize {
        if touches == Touches::Action { self.episode.act_width } else { self.episode.obs_width }
    }

    /// Observation channels after step `t` in which the policy did not see the truth.
    fn changed_channels(&self, t: usize) -> Vec<usize> {
        let width = self.episode.obs_width;
        differing(&self.episode.observations[(t + 1) * width..(t + 2) * width], &self.truth.observations[t])
    }

    /// Action channels of step `t` in which the environment did not get the policy's action.
    fn changed_commands(&self, t: usize) -> Vec<usize> {
        let width = self.episode.act_width;
        differing(&self.episode.actions[t * width..(t + 1) * width], &self.truth.commands[t])
    }
}

fn differing(a: &[f32], b: &[f32]) -> Vec<usize> {
    (0..a.len()).filter(|&i| a[i] != b[i]).collect()
}
