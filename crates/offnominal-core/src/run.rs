//! The runner: plays a policy in an environment, and owns the clock, the horizon, the onset and the labels.
//!
//! The pristine environment is forked for every episode, so nothing ever has to be undone; where there is only one,
//! such as a robot, it plays one episode after another and is put back into its pristine state. The random streams of
//! initial condition, environment, policy, onset and anomaly are separate branches of the episode's seed: an
//! anomalous episode and its nominal twin share all of them but the last two, and are the same bits until the onset.

mod gate;
mod rollout;

pub use gate::{Disturbance, Gate};
pub use rollout::Rollout;

use crate::Seed;
use crate::anomaly::Anomaly;
use crate::anomaly_spec::AnomalySpec;
use crate::catalogue::{BuildError, Catalogue};
use crate::divergence::{Divergence, NotFinite};
use crate::env::{Env, Status};
use crate::episode::{End, Episode, Outcome};
use crate::policy::Policy;

/// A policy in an environment: everything needed to play episodes, except seeds and anomalies.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The pristine environment.
    pub env: &'a dyn Env,
    /// The policy.
    pub policy: &'a dyn Policy,
    /// Steps after which an episode is ended.
    pub horizon: u32,
    /// Asked before each step; where it says so the episode is given up by unwinding with [`Stopped`].
    pub stop: fn() -> bool,
}

/// With this an episode unwinds that was asked to stop. There is no value of a stopped episode, so nobody can judge or
/// keep one; whoever may ask for a stop catches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Called with the environment before the first step and after each step; for images and progress.
pub type Watcher<'w> = &'w mut dyn FnMut(&mut dyn Env);

/// Called like a [`Watcher`], also with the rollout, whose anomaly may disturb what a camera sees.
pub type RolloutWatcher<'w> = &'w mut dyn FnMut(&mut dyn Env, &mut Rollout);

impl<'a> Trial<'a> {
    /// A trial with the environment's own horizon.
    pub fn new(env: &'a dyn Env, policy: &'a dyn Policy) -> Trial<'a> {
        Trial { env, policy, horizon: env.spec().horizon, stop: || false }
    }

    /// Plays an undisturbed episode.
    pub fn nominal(&self, seed: Seed) -> Episode {
        self.play_from(None, seed, None, &mut |_, _| ())
    }

    /// Plays an undisturbed episode of which only the outcome is kept; one of images would fill hundreds of megabytes.
    pub fn outcome(&self, seed: Seed) -> Outcome {
        let mut env = self.checkout();
        let initial = Rollout::initial(env.as_ref(), seed);
        let log = Log { keeps_observations: false, ..Log::new(env.as_ref(), seed, initial, 0) };
        let mut policy = self.policy.fork();
        let clock = Clock { horizon: self.horizon, stop: self.stop };
        let played = play_into(log, env.as_mut(), policy.as_mut(), clock, None, &mut |_, _| ());
        Outcome::of(&played)
    }

    /// Plays an undisturbed episode from a chosen initial condition, and shows the environment to `watch`.
    pub fn starting_at(&self, initial: Vec<f64>, seed: Seed, watch: Watcher<'_>) -> Episode {
        self.play_from(Some(initial), seed, None, &mut |env, _| watch(env))
    }

    /// Plays a disturbed episode from a chosen initial condition, and shows the environment to `watch`.
    pub fn disturbed_from(
        &self,
        initial: Vec<f64>,
        seed: Seed,
        disturbance: Disturbance<'_>,
        watch: Watcher<'_>,
    ) -> Episode {
        self.play_from(Some(initial), seed, Some(disturbance), &mut |env, _| watch(env))
    }

    /// Plays a disturbed episode and its nominal twin, which has the same seed and initial condition.
    ///
    /// # Errors
    /// If the anomaly cannot be built for this environment.
    pub fn with_twin(
        &self,
        seed: Seed,
        anomaly_spec: &AnomalySpec,
        from: &Catalogue<dyn Anomaly>,
    ) -> Result<(Episode, Episode), BuildError> {
        let twin = self.nominal(seed);
        let onset = anomaly_spec.schedule.draw_onset(twin.len(), &mut seed.child("onset").rng());
        Ok((self.disturbed(seed, anomaly_spec, onset, from)?, twin))
    }

    /// Plays a disturbed episode whose onset is known.
    ///
    /// # Errors
    /// If the anomaly cannot be built for this environment.
    pub fn disturbed(
        &self,
        seed: Seed,
        anomaly_spec: &AnomalySpec,
        onset: u32,
        from: &Catalogue<dyn Anomaly>,
    ) -> Result<Episode, BuildError> {
        let anomaly = anomaly_spec.build(from, self.env)?;
        Ok(self.play_from(None, seed, Some(Disturbance { anomaly_spec, onset, anomaly }), &mut |_, _| ()))
    }

    /// Plays an episode again and shows the environment to `watch` before the first step and after each one.
    ///
    /// # Errors
    /// If the episode's anomaly cannot be built for this environment.
    pub fn replay(
        &self,
        episode: &Episode,
        from: &Catalogue<dyn Anomaly>,
        watch: Watcher<'_>,
    ) -> Result<Episode, BuildError> {
        self.replay_before(episode, from, &mut |env, _| watch(env))
    }

    /// Plays an episode again before a camera: as [`Trial::replay`], with the rollout.
    ///
    /// # Errors
    /// If the episode's anomaly cannot be built for this environment.
    pub fn replay_before(
        &self,
        episode: &Episode,
        from: &Catalogue<dyn Anomaly>,
        watch: RolloutWatcher<'_>,
    ) -> Result<Episode, BuildError> {
        let disturbance = match (&episode.anomaly_spec, episode.onset) {
            (Some(anomaly_spec), Some(onset)) => {
                Some(Disturbance { anomaly_spec, onset, anomaly: anomaly_spec.build(from, self.env)? })
            }
            _ => None,
        };
        Ok(self.play_from(Some(episode.initial.clone()), episode.seed, disturbance, watch))
    }

    /// Plays an episode from an initial condition, or from the one that the seed draws.
    fn play_from(
        &self,
        initial: Option<Vec<f64>>,
        seed: Seed,
        disturbance: Option<Disturbance<'_>>,
        watch: RolloutWatcher<'_>,
    ) -> Episode {
        let mut env = self.checkout();
        let initial = initial.unwrap_or_else(|| Rollout::initial(env.as_ref(), seed));
        let log = Log::new(env.as_ref(), seed, initial, self.horizon);
        let clock = Clock { horizon: self.horizon, stop: self.stop };
        play_into(log, env.as_mut(), self.policy.fork().as_mut(), clock, disturbance, watch)
    }

    fn checkout(&self) -> Box<dyn Env + 'a> {
        self.env.checkout().expect("there is one such environment only, and it plays another episode")
    }
}

/// Plays one episode on the given environment itself; the only way for an environment that cannot be forked.
pub fn play_on(
    env: &mut dyn Env,
    policy: &mut dyn Policy,
    horizon: u32,
    seed: Seed,
    disturbance: Option<Disturbance<'_>>,
    watch: Watcher<'_>,
) -> Episode {
    let log = Log::new(env, seed, Rollout::initial(env, seed), horizon);
    let clock = Clock { horizon, stop: || false };
    play_into(log, env, policy, clock, disturbance, &mut |env, _| watch(env))
}

/// What ends an episode from outside.
struct Clock {
    horizon: u32,
    stop: fn() -> bool,
}

impl Clock {
    /// Gives the episode up if that is asked for; no hook of panics is called.
    fn check(&self) {
        if (self.stop)() {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    }
}

/// Plays the episode that a log begins.
fn play_into(
    mut log: Log,
    env: &mut dyn Env,
    policy: &mut dyn Policy,
    clock: Clock,
    disturbance: Option<Disturbance<'_>>,
    watch: RolloutWatcher<'_>,
) -> Episode {
    let (described, seed) =
        (disturbance.as_ref().map(|d| (d.anomaly_spec.clone(), d.onset)), log.episode.seed);
    let mut policy_rng = seed.child("policy").rng();
    let mut rollout = Rollout::start(env, &log.episode.initial, seed, disturbance, &mut log.obs);
    log.record_observation();
    policy.reset();
    watch(env, &mut rollout);
    if let Some(seat) = policy.seat() {
        env.play_ahead(&seat, rollout.undisturbed_steps().min(clock.horizon));
    }
    while rollout.steps() < clock.horizon && rollout.divergence().is_none() {
        clock.check();
        policy.act(&log.obs, &mut log.action, &mut policy_rng);
        let (step, active) = rollout.step(env, &log.action, &mut log.obs);
        // What is not finite is why the episode ends, and no part of the record.
        if rollout.divergence().is_some_and(|why| log.is_spoilt_by(why)) {
            break;
        }
        log.record(step.reward, active);
        watch(env, &mut rollout);
        if step.status != Status::Running {
            log.episode.end = ending(step.status);
            break;
        }
    }
    if let Some(divergence) = rollout.divergence() {
        // A hosted environment gives no answer when the stop is asked for while it is waited for.
        clock.check();
        (log.episode.end, log.episode.divergence) = (End::Diverged, Some(divergence));
    }
    log.episode.goal_met = env.goal_met();
    (log.episode.anomaly_spec, log.episode.onset) = described.unzip();
    log.episode
}

fn ending(status: Status) -> End {
    match status {
        Status::Running | Status::TimedOut => End::TimedOut,
        Status::Ended => End::Ended,
        Status::Succeeded => End::Succeeded,
        Status::Failed => End::Failed,
        Status::Diverged => End::Diverged,
    }
}

/// The episode being written, with the current observation and action.
struct Log {
    episode: Episode,
    obs: Vec<f32>,
    action: Vec<f32>,
    keeps_observations: bool,
}

impl Log {
    fn new(env: &dyn Env, seed: Seed, initial: Vec<f64>, horizon: u32) -> Log {
        let spec = env.spec();
        let (obs_width, act_width, steps) = (spec.obs_width(), spec.act_width(), horizon as usize);
        let episode = Episode {
            env: spec.id.clone(),
            seed,
            initial,
            anomaly_spec: None,
            onset: None,
            observations: Vec::with_capacity(room(steps + 1, obs_width)),
            actions: Vec::with_capacity(room(steps, act_width)),
            rewards: Vec::with_capacity(room(steps, 1)),
            labels: Vec::with_capacity(room(steps, 1)),
            end: End::TimedOut,
            divergence: None,
            goal_met: None,
            obs_width,
            act_width,
        };
        let (obs, action) = (vec![0.0; obs_width], vec![0.0; act_width]);
        Log { episode, obs, action, keeps_observations: true }
    }

    /// Whether the present step has a number that is not finite.
    fn is_spoilt_by(&self, why: Divergence) -> bool {
        why != Divergence::Environment || NotFinite::first(&self.obs).is_some()
    }

    fn record_observation(&mut self) {
        if self.keeps_observations {
            self.episode.observations.extend_from_slice(&self.obs);
        }
    }

    fn record(&mut self, reward: f64, label: bool) {
        self.record_observation();
        self.episode.actions.extend_from_slice(&self.action);
        self.episode.rewards.push(reward);
        self.episode.labels.push(label);
    }
}

/// Numbers for which room is made before an episode; a horizon that nobody reaches must not take the whole memory.
fn room(steps: usize, width: usize) -> usize {
    const MOST: usize = 1 << 28;
    steps.saturating_mul(width).min(MOST)
}

#[cfg(test)]
mod tests;
