//! An episode in progress, taken step by step: for loops that are not the runner's own, such as a learner's in Python.

use crate::anomaly::Anomaly;
use crate::anomaly_spec::AnomalySpec;
use crate::divergence::Divergence;
use crate::env::{Env, Status, Step};
use crate::frame::Frame;
use crate::{Rng, Seed};

/// A fault with its drawn onset, ready to be applied.
pub struct Disturbance<'f> {
    /// The recipe, stored with the episode.
    pub anomaly_spec: &'f AnomalySpec,
    /// First anomalous step.
    pub onset: u32,
    /// The anomaly, fitted to the environment.
    pub anomaly: Box<dyn Anomaly>,
}

/// An episode in progress. The runner plays its episodes through it, so whoever steps by hand, with the same seed and
/// the same actions, gets the runner's bits.
pub struct Rollout {
    gate: Gate,
    world_rng: Rng,
    /// The action on its way to the environment.
    disturbed: Vec<f32>,
    /// The step that comes next.
    t: u32,
    /// The sum of the rewards.
    total: f64,
    divergence: Option<Divergence>,
}

impl Rollout {
    /// Begins an episode at an initial condition and writes the first observation.
    ///
    /// # Panics
    /// If the initial condition or the observation does not have the environment's width.
    pub fn start(
        env: &mut dyn Env,
        initial: &[f64],
        seed: Seed,
        disturbance: Option<Disturbance<'_>>,
        obs: &mut [f32],
    ) -> Rollout {
        let mut world_rng = seed.child("world").rng();
        let mut gate = Gate::new(disturbance, seed);
        env.start(initial, &mut world_rng);
        env.observe(obs);
        gate.after_start(obs);
        let (disturbed, divergence) = (vec![0.0; env.spec().act_width()], Divergence::of_first(obs));
        Rollout { gate, world_rng, disturbed, t: 0, total: 0.0, divergence }
    }

    /// The initial condition that a seed draws.
    pub fn initial(env: &dyn Env, seed: Seed) -> Vec<f64> {
        env.draw(&mut seed.child("initial").rng())
    }

    /// Takes one step and writes the observation after it; also says whether the anomaly was active.
    ///
    /// A number that is not finite, in the observation, the reward, the return or the action, ends the episode as
    /// diverged, whatever the environment says; such an action does not reach the environment.
    ///
    /// # Panics
    /// If the action or the observation does not have the environment's width.
    pub fn step(&mut self, env: &mut dyn Env, action: &[f32], obs: &mut [f32]) -> (Step, bool) {
        self.disturbed.copy_from_slice(action);
        self.divergence = self.divergence.or_else(|| Divergence::of_action(action));
        if self.divergence.is_some() {
            return (BROKEN, false);
        }
        let active = self.gate.before_step(self.t, env, &mut self.disturbed);
        let step = env.step(&self.disturbed, &mut self.world_rng);
        env.observe(obs);
        self.total += step.reward;
        // What an anomaly hides from the policy counts as well.
        let before = Divergence::of(&step, obs, self.total);
        self.gate.after_step(active, obs);
        self.t += 1;
        self.divergence = before.or_else(|| Divergence::of(&step, obs, self.total));
        match self.divergence {
            // The step in which a simulator broke has its reward, if that is a number.
            None | Some(Divergence::Environment) if step.reward.is_finite() => (step, active),
            _ => (BROKEN, active),
        }
    }

    /// What broke the episode off, if anything did.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    /// Disturbs what a camera saw of the present state, if the anomaly is one of cameras and was active in the last step.
    /// It draws from a branch of the seed of its own: whether somebody looks changes nothing else.
    pub fn disturb(&mut self, frame: &mut Frame) {
        self.gate.on_frame(frame);
    }

    /// How many of the next steps nothing disturbs; the largest number without a disturbance.
    pub(super) fn undisturbed_steps(&self) -> u32 {
        self.gate.disturbance.as_ref().map_or(u32::MAX, |d| d.onset.saturating_sub(self.t))
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u32 {
        self.t
    }
}

/// The step of an episode that has no outcome.
const BROKEN: Step = Step { reward: 0.0, status: Status::Diverged };

/// Opens and closes the anomaly's hooks as its schedule says.
struct Gate {
    disturbance: Option<Applied>,
    was_active: bool,
    rng: Rng,
    camera_rng: Rng,
}

/// What is left of a disturbance while it is applied.
struct Applied {
    extent: crate::schedule::Extent,
    onset: u32,
    anomaly: Box<dyn Anomaly>,
}

impl Gate {
    fn new(disturbance: Option<Disturbance<'_>>, seed: Seed) -> Self {
        let applied = |d: Disturbance<'_>| Applied {
            extent: d.anomaly_spec.schedule.extent,
            onset: d.onset,
            anomaly: d.anomaly,
        };
        let (rng, camera_rng) = (seed.child("anomaly").rng(), seed.child("camera").rng());
        Gate { disturbance: disturbance.map(applied), was_active: false, rng, camera_rng }
    }

    fn before_step(&mut self, t: u32, env: &mut dyn Env, action: &mut [f32]) -> bool {
        let Some(d) = &mut self.disturbance else { return false };
        let active = d.extent.is_active(t, d.onset);
        match (self.was_active, active) {
            (false, true) => d.anomaly.begin(env, &mut self.rng),
            (true, false) => d.anomaly.end(env),
            _ => {}
        }
        self.was_active = active;
        if active {
            d.anomaly.on_action(action, &mut self.rng);
        } else {
            d.anomaly.watch(action);
        }
        active
    }

    fn on_frame(&mut self, frame: &mut Frame) {
        match &mut self.disturbance {
            Some(d) if self.was_active => d.anomaly.on_frame(frame, &mut self.camera_rng),
            Some(d) => d.anomaly.watch_frame(frame),
            None => {}
        }
    }

    fn after_start(&mut self, obs: &[f32]) {
        if let Some(d) = &mut self.disturbance {
            d.anomaly.watch_observation(obs);
        }
    }

    fn after_step(&mut self, active: bool, obs: &mut [f32]) {
        match &mut self.disturbance {
            Some(d) if active => d.anomaly.on_observation(obs, &mut self.rng),
            Some(d) => d.anomaly.watch_observation(obs),
            None => {}
        }
    }
}
