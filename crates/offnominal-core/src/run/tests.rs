//! What the runner owns: time, onset, labels and ends, on small environments.

use super::*;
use crate::Rng;
use crate::env::Step;
use crate::schedule::{Extent, Onset, Schedule};
use crate::spec::{Channel, EnvSpec, ParameterError};
use serde::Deserialize;
use serde_json::json;

/// Position moves by the action plus noise; the episode ends well beyond 5.
#[derive(Clone)]
struct Walker(EnvSpec, f64);

fn walker() -> Walker {
    let spec = EnvSpec {
        id: "walker".into(),
        summary: String::new(),
        source: String::new(),
        observation: vec![Channel::unbounded("x", "position", "m")],
        action: vec![Channel::new("push", "step", "m", -1.0, 1.0)],
        dt_secs: 1.0,
        horizon: 20,
        parameters: vec![],
        initial: vec!["x".into()],
        reward: String::new(),
        reset: String::new(),
        success: String::new(),
        ..EnvSpec::default()
    };
    Walker(spec, 0.0)
}

impl Env for Walker {
    fn spec(&self) -> &EnvSpec {
        &self.0
    }
    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.uniform()]
    }
    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.1 = x[0];
    }
    fn observe(&self, obs: &mut [f32]) {
        obs[0] = self.1 as f32;
    }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.1 += f64::from(action[0]) + 0.01 * rng.normal();
        let status = if self.1 > 5.0 { Status::Succeeded } else { Status::Running };
        Step { reward: 1.0, status }
    }
    fn set_parameter(&mut self, name: &str, _: f64) -> Result<(), ParameterError> {
        self.0.parameter(name).map(|_| ())
    }
    fn fork(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

/// Adds to observation and action, and draws noise it does not use.
#[derive(Deserialize)]
struct Push {
    magnitude: f64,
}

impl Anomaly for Push {
    fn on_action(&mut self, action: &mut [f32], rng: &mut Rng) {
        action[0] += self.magnitude as f32 + 0.0 * rng.normal() as f32;
    }
}

fn anomalies() -> Catalogue<dyn Anomaly> {
    Catalogue::new("anomaly", &[crate::entry!(Push as dyn Anomaly, "push", "a fixture")])
}

fn anomaly_spec(onset: Onset, extent: Extent) -> AnomalySpec {
    AnomalySpec {
        anomaly: "push".into(),
        params: json!({"magnitude": 0.5}),
        schedule: Schedule { onset, extent },
    }
}

fn forward(_: &[f32], action: &mut [f32]) {
    action[0] = 0.25;
}

#[test]
fn an_anomalous_episode_is_its_twin_until_the_onset() {
    let (env, all) = (walker(), anomalies());
    for i in 0..50_u64 {
        let trial = Trial::new(&env, &forward);
        let (anomalous, twin) =
            trial.with_twin(Seed(i), &anomaly_spec(Onset::Random, Extent::ToEnd), &all).unwrap();
        let onset = anomalous.onset.unwrap() as usize;
        assert!((2..twin.len()).contains(&onset));
        assert_eq!(anomalous.observations[..=onset], twin.observations[..=onset]);
        assert_ne!(anomalous.observations[onset + 1], twin.observations[onset + 1]);
        assert!(anomalous.labels.iter().enumerate().all(|(t, &label)| label == (t >= onset)));
        assert!(twin.labels.iter().all(|&label| !label));
    }
}

#[test]
fn the_recorded_action_is_the_policys_own() {
    let (env, all) = (walker(), anomalies());
    let episode = Trial::new(&env, &forward)
        .disturbed(Seed(1), &anomaly_spec(Onset::At(0), Extent::ToEnd), 0, &all)
        .unwrap();
    assert!(episode.actions.iter().all(|&a| a == 0.25));
    assert_eq!((episode.end, episode.success()), (End::Succeeded, Some(true)));
    assert!(episode.len() < 10, "the push should have shortened the episode");
}

#[test]
fn a_replay_is_the_same_bits_and_is_watched() {
    let (env, all) = (walker(), anomalies());
    let trial = Trial::new(&env, &forward);
    let (anomalous, _) =
        trial.with_twin(Seed(4), &anomaly_spec(Onset::At(3), Extent::Window { steps: 2 }), &all).unwrap();
    let mut looks = 0;
    assert_eq!(trial.replay(&anomalous, &all, &mut |_| looks += 1).unwrap(), anomalous);
    assert_eq!(looks, anomalous.len() + 1);
    assert_eq!(anomalous.labels.iter().filter(|&&l| l).count(), 2);
}

#[test]
fn an_episode_from_a_chosen_initial_condition_is_replayed_from_there() {
    let (env, all) = (walker(), anomalies());
    let trial = Trial::new(&env, &forward);
    let (drawn, seed) = (trial.nominal(Seed(4)), Seed(4));
    assert_eq!(trial.starting_at(drawn.initial.clone(), seed, &mut |_| ()), drawn);
    let chosen = trial.starting_at(vec![3.0], seed, &mut |_| ());
    assert!(chosen.len() < drawn.len() && chosen.initial == [3.0]);
    assert_eq!(trial.replay(&chosen, &all, &mut |_| ()).unwrap(), chosen);
}

#[test]
fn stepping_by_hand_gives_the_runners_bits() {
    let (env, all) = (walker(), anomalies());
    let anomaly_spec = anomaly_spec(Onset::At(3), Extent::Intermittent { on: 2, off: 1 });
    let played = Trial::new(&env, &forward).disturbed(Seed(9), &anomaly_spec, 3, &all).unwrap();
    let (mut own, mut obs) = (env.clone(), [0.0]);
    let anomaly = anomaly_spec.build(&all, &env).unwrap();
    let disturbance = Disturbance { anomaly_spec: &anomaly_spec, onset: 3, anomaly };
    let initial = Rollout::initial(&own, Seed(9));
    let mut rollout = Rollout::start(&mut own, &initial, Seed(9), Some(disturbance), &mut obs);
    assert_eq!(obs, played.observations[..1]);
    for t in 0..played.len() {
        let (_, label) = rollout.step(&mut own, &[played.actions[t]], &mut obs);
        assert_eq!((obs[0], label), (played.observations[t + 1], played.labels[t]));
    }
    assert_eq!(rollout.steps() as usize, played.len());
}

#[test]
fn an_outcome_is_that_of_the_episode() {
    let env = walker();
    let trial = Trial::new(&env, &forward);
    for i in 0..20_u64 {
        let episode = trial.nominal(Seed(i));
        assert_eq!(trial.outcome(Seed(i)), Outcome::of(&episode));
        assert_eq!(Outcome::of(&episode).steps, episode.len());
    }
}

#[test]
fn the_horizon_ends_an_episode() {
    let (mut env, still) = (walker(), |_: &[f32], action: &mut [f32]| action[0] = 0.0);
    env.0.horizon = 7;
    let episode = Trial::new(&env, &still).nominal(Seed(0));
    assert_eq!((episode.len(), episode.end, episode.success()), (7, End::TimedOut, None));
}

/// A walker of which one number goes wrong in a step, counted from 1; 0 is the first observation.
struct Sick<'e> {
    inner: Box<dyn Env + 'e>,
    at: u32,
    obs: f32,
    reward: f64,
    t: u32,
}

impl crate::env_layer::EnvLayer for Sick<'_> {
    fn inner(&self) -> &dyn Env {
        self.inner.as_ref()
    }
    fn inner_mut(&mut self) -> &mut dyn Env {
        self.inner.as_mut()
    }
    fn around<'e>(&self, inner: Box<dyn Env + 'e>) -> Option<Box<dyn Env + 'e>> {
        Some(Box::new(Sick { inner, ..*self }))
    }
    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        self.t = 0;
        self.inner.start(x, rng);
    }
    fn observe(&self, obs: &mut [f32]) {
        self.inner.observe(obs);
        if self.t == self.at {
            obs[0] = self.obs;
        }
    }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.t += 1;
        let step = self.inner.step(action, rng);
        // Even where the environment calls it a success.
        let status = if self.t == self.at { Status::Succeeded } else { step.status };
        Step { reward: if self.t == self.at { self.reward } else { step.reward }, status }
    }
    fn goal_met(&self) -> Option<bool> {
        Some(true)
    }
}

fn sick(at: u32, obs: f32, reward: f64) -> Episode {
    let env = Sick { inner: Box::new(walker()), at, obs, reward, t: 0 };
    let trial = Trial::new(&env, &forward);
    let episode = trial.nominal(Seed(3));
    assert_eq!(trial.outcome(Seed(3)).divergence, episode.divergence);
    let is_finite = episode.observations.iter().skip(usize::from(at == 0)).all(|x| x.is_finite());
    assert!(is_finite && episode.rewards.iter().all(|r| r.is_finite()), "{episode:?}");
    assert_eq!((episode.end, episode.success()), (End::Diverged, Some(false)));
    episode
}

#[test]
fn a_number_that_is_not_finite_ends_the_episode_before_its_step_as_diverged() {
    use NotFinite::{Infinity, MinusInfinity, Nan};
    let observed = |found| Some(Divergence::Observation { at: 0, found });
    let rewarded = |found| Some(Divergence::Reward { found });
    for (obs, reward, why) in [
        (f32::NAN, 1.0, observed(Nan)),
        (f32::INFINITY, 1.0, observed(Infinity)),
        (f32::NEG_INFINITY, 1.0, observed(MinusInfinity)),
        (0.5, f64::NAN, rewarded(Nan)),
        (0.5, f64::INFINITY, rewarded(Infinity)),
    ] {
        let episode = sick(4, obs, reward);
        assert_eq!((episode.len(), episode.divergence), (3, why));
    }
}

#[test]
fn a_first_observation_that_is_none_ends_the_episode_before_its_first_step() {
    let episode = sick(0, f32::NAN, 1.0);
    let why = Divergence::FirstObservation { at: 0, found: NotFinite::Nan };
    assert_eq!((episode.len(), episode.divergence), (0, Some(why)));
}

#[test]
fn a_return_beyond_all_numbers_is_diverged() {
    let env = Sick { inner: Box::new(walker()), at: u32::MAX, obs: 0.0, reward: 0.0, t: 0 };
    let huge = Huge(Box::new(env));
    let episode = Trial::new(&huge, &forward).nominal(Seed(0));
    let why = Divergence::Return { found: NotFinite::Infinity };
    assert_eq!((episode.len(), episode.divergence, episode.total_reward()), (1, Some(why), 1e308));
}

/// Rewards that are finite one by one.
struct Huge<'e>(Box<dyn Env + 'e>);

impl crate::env_layer::EnvLayer for Huge<'_> {
    fn inner(&self) -> &dyn Env {
        self.0.as_ref()
    }
    fn inner_mut(&mut self) -> &mut dyn Env {
        self.0.as_mut()
    }
    fn around<'e>(&self, inner: Box<dyn Env + 'e>) -> Option<Box<dyn Env + 'e>> {
        Some(Box::new(Huge(inner)))
    }
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        Step { reward: 1e308, ..self.0.step(action, rng) }
    }
}

#[test]
fn an_action_that_is_none_does_not_reach_the_environment() {
    let (env, mut late) = (walker(), 0);
    let wild = |_: &[f32], action: &mut [f32]| action[0] = f32::NAN;
    let trial = Trial::new(&env, &wild);
    let episode = trial.starting_at(vec![0.0], Seed(0), &mut |_| late += 1);
    let why = Divergence::Action { at: 0, found: NotFinite::Nan };
    assert_eq!((episode.len(), episode.end, episode.divergence), (0, End::Diverged, Some(why)));
    assert_eq!(late, 1, "no step was taken");
}

#[test]
fn an_unknown_anomaly_is_an_error() {
    let (env, all) = (walker(), anomalies());
    let mut wrong = anomaly_spec(Onset::Random, Extent::ToEnd);
    wrong.anomaly = "pusch".into();
    let error = Trial::new(&env, &forward).with_twin(Seed(0), &wrong, &all).unwrap_err();
    assert!(error.to_string().contains("did you mean \"push\"?"), "{error}");
}

#[test]
fn an_episode_that_is_asked_to_stop_is_no_value() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let (env, still) = (walker(), |_: &[f32], action: &mut [f32]| action[0] = 0.0);
    let trial = Trial { stop: || ASKED.fetch_add(1, Ordering::Relaxed) == 3, ..Trial::new(&env, &still) };
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| trial.nominal(Seed(1)).len()));
    assert!(played.unwrap_err().is::<Stopped>());
    assert_eq!(trial.nominal(Seed(1)).len(), 20, "a later one is whole");
}
