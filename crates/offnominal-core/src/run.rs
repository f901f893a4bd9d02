//! The runner: plays a policy in a world, and owns the clock, the horizon, the onset and the labels.
//!
//! The pristine world is forked for every episode, so nothing ever has to be undone. The random streams of initial
//! condition, world, policy, onset and anomaly are separate branches of the episode's seed: an anomalous episode and
//! its nominal twin share all of them but the last two, and are the same bits until the onset.

use crate::anomaly::{Anomaly, AnomalyError};
use crate::catalogue::{BuildError, Catalogue};
use crate::env::{Env, Status};
use crate::episode::{End, Episode};
use crate::policy::Policy;
use crate::schedule::Schedule;
use crate::{Rng, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The recipe of a disturbance: which anomaly, how strong, and when. Plain data, stored with every episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Name in the catalogue of anomalies.
    pub anomaly: String,
    /// Its parameters, `magnitude` among them.
    pub params: Value,
    /// Onset and extent.
    pub schedule: Schedule,
}

impl Fault {
    /// The anomaly, ready for one episode in the given world.
    ///
    /// # Errors
    /// If the name or a parameter is wrong, or the anomaly does not fit the world.
    pub fn build(
        &self,
        from: &Catalogue<dyn Anomaly>,
        env: &dyn Env,
    ) -> Result<Box<dyn Anomaly>, BuildError> {
        let mut anomaly = from.build(&self.anomaly, &self.params)?;
        anomaly.fit(env.spec()).map_err(|e: AnomalyError| BuildError::Parameters(e.to_string()))?;
        Ok(anomaly)
    }
}

/// A policy in a world: everything needed to play episodes, except seeds and faults.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The pristine world.
    pub env: &'a dyn Env,
    /// The policy.
    pub policy: &'a dyn Policy,
    /// Steps after which an episode is ended.
    pub horizon: u32,
}

/// Called with the world before the first step and after each step; for pictures and progress.
pub type Watcher<'w> = &'w mut dyn FnMut(&mut dyn Env);

impl<'a> Trial<'a> {
    /// A trial with the world's own horizon.
    pub fn new(env: &'a dyn Env, policy: &'a dyn Policy) -> Trial<'a> {
        Trial { env, policy, horizon: env.spec().horizon }
    }

    /// Plays an undisturbed episode.
    pub fn nominal(&self, seed: Seed) -> Episode {
        self.play(seed, None, &mut |_| ())
    }

    /// Plays a disturbed episode and its nominal twin, which has the same seed and initial condition.
    ///
    /// # Errors
    /// If the fault cannot be built for this world.
    pub fn with_twin(
        &self,
        seed: Seed,
        fault: &Fault,
        from: &Catalogue<dyn Anomaly>,
    ) -> Result<(Episode, Episode), BuildError> {
        let twin = self.nominal(seed);
        let onset = fault.schedule.draw_onset(twin.len(), &mut seed.child("onset").rng());
        Ok((self.disturbed(seed, fault, onset, from)?, twin))
    }

    /// Plays a disturbed episode whose onset is known.
    ///
    /// # Errors
    /// If the fault cannot be built for this world.
    pub fn disturbed(
        &self,
        seed: Seed,
        fault: &Fault,
        onset: u32,
        from: &Catalogue<dyn Anomaly>,
    ) -> Result<Episode, BuildError> {
        let anomaly = fault.build(from, self.env)?;
        Ok(self.play(seed, Some(Disturbance { fault, onset, anomaly }), &mut |_| ()))
    }

    /// Plays an episode again and shows the world to `watch` before the first step and after each one.
    ///
    /// # Errors
    /// If the episode's fault cannot be built for this world.
    pub fn replay(
        &self,
        episode: &Episode,
        from: &Catalogue<dyn Anomaly>,
        watch: Watcher<'_>,
    ) -> Result<Episode, BuildError> {
        let disturbance = match (&episode.fault, episode.onset) {
            (Some(fault), Some(onset)) => {
                Some(Disturbance { fault, onset, anomaly: fault.build(from, self.env)? })
            }
            _ => None,
        };
        Ok(self.play(episode.seed, disturbance, watch))
    }

    fn play(&self, seed: Seed, disturbance: Option<Disturbance<'_>>, watch: Watcher<'_>) -> Episode {
        let mut env = self.env.fork().expect("this world cannot be forked: play it with `play_on`");
        play_on(env.as_mut(), self.policy.fork().as_mut(), self.horizon, seed, disturbance, watch)
    }
}

/// A fault with its drawn onset, ready to be applied.
pub struct Disturbance<'f> {
    /// The recipe, stored with the episode.
    pub fault: &'f Fault,
    /// First anomalous step.
    pub onset: u32,
    /// The anomaly, fitted to the world.
    pub anomaly: Box<dyn Anomaly>,
}

/// Plays one episode on the given world itself; the only way for a world that cannot be forked.
pub fn play_on(
    env: &mut dyn Env,
    policy: &mut dyn Policy,
    horizon: u32,
    seed: Seed,
    disturbance: Option<Disturbance<'_>>,
    watch: Watcher<'_>,
) -> Episode {
    let initial = env.draw(&mut seed.child("initial").rng());
    let mut world_rng = seed.child("world").rng();
    let mut policy_rng = seed.child("policy").rng();
    let mut log = Log::new(env, seed, initial, horizon);
    let mut gate = Gate::new(disturbance, seed.child("anomaly").rng());
    let mut command = vec![0.0; log.action.len()];

    env.start(&log.episode.initial, &mut world_rng);
    env.observe(&mut log.obs);
    log.record_observation();
    policy.reset();
    watch(env);
    for t in 0..horizon {
        policy.act(&log.obs, &mut log.action, &mut policy_rng);
        command.copy_from_slice(&log.action);
        let active = gate.before_step(t, env, &mut command);
        let step = env.step(&command, &mut world_rng);
        env.observe(&mut log.obs);
        gate.after_step(active, &mut log.obs);
        log.record(step.reward, active);
        watch(env);
        if step.status != Status::Running {
            log.episode.end = ending(step.status);
            break;
        }
    }
    log.episode.goal_met = env.goal_met();
    gate.describe(&mut log.episode);
    log.episode
}

fn ending(status: Status) -> End {
    match status {
        Status::Running => End::TimedOut,
        Status::Succeeded => End::Succeeded,
        Status::Failed => End::Failed,
        Status::Diverged => End::Diverged,
    }
}

/// Opens and closes the anomaly's hooks as its schedule says.
struct Gate<'f> {
    disturbance: Option<Disturbance<'f>>,
    was_active: bool,
    rng: Rng,
}

impl<'f> Gate<'f> {
    fn new(disturbance: Option<Disturbance<'f>>, rng: Rng) -> Self {
        Gate { disturbance, was_active: false, rng }
    }

    fn before_step(&mut self, t: u32, env: &mut dyn Env, command: &mut [f32]) -> bool {
        let Some(d) = &mut self.disturbance else { return false };
        let active = d.fault.schedule.extent.is_active(t, d.onset);
        match (self.was_active, active) {
            (false, true) => d.anomaly.begin(env, &mut self.rng),
            (true, false) => d.anomaly.end(env),
            _ => {}
        }
        self.was_active = active;
        if active {
            d.anomaly.on_action(command, &mut self.rng);
        } else {
            d.anomaly.watch(command);
        }
        active
    }

    fn after_step(&mut self, active: bool, obs: &mut [f32]) {
        if let (true, Some(d)) = (active, &mut self.disturbance) {
            d.anomaly.on_observation(obs, &mut self.rng);
        }
    }

    fn describe(self, episode: &mut Episode) {
        if let Some(d) = self.disturbance {
            episode.fault = Some(d.fault.clone());
            episode.onset = Some(d.onset);
        }
    }
}

/// The episode being written, with the current observation and command.
struct Log {
    episode: Episode,
    obs: Vec<f32>,
    action: Vec<f32>,
}

impl Log {
    fn new(env: &dyn Env, seed: Seed, initial: Vec<f64>, horizon: u32) -> Log {
        let spec = env.spec();
        let (obs_width, act_width, steps) = (spec.observation.len(), spec.action.len(), horizon as usize);
        let episode = Episode {
            env: spec.id.clone(),
            seed,
            initial,
            fault: None,
            onset: None,
            observations: Vec::with_capacity((steps + 1) * obs_width),
            actions: Vec::with_capacity(steps * act_width),
            rewards: Vec::with_capacity(steps),
            labels: Vec::with_capacity(steps),
            end: End::TimedOut,
            goal_met: None,
            obs_width,
            act_width,
        };
        Log { episode, obs: vec![0.0; obs_width], action: vec![0.0; act_width] }
    }

    fn record_observation(&mut self) {
        self.episode.observations.extend_from_slice(&self.obs);
    }

    fn record(&mut self, reward: f64, label: bool) {
        self.record_observation();
        self.episode.actions.extend_from_slice(&self.action);
        self.episode.rewards.push(reward);
        self.episode.labels.push(label);
    }
}
