//! An episode in progress, taken step by step: for loops that are not the runner's own, such as a learner's in Python.

use super::{Disturbance, Gate};
use crate::divergence::Divergence;
use crate::env::{Env, Status, Step};
use crate::frame::Frame;
use crate::{Rng, Seed};

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
        self.gate.undisturbed_steps(self.t)
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u32 {
        self.t
    }
}

/// The step of an episode that has no outcome.
const BROKEN: Step = Step { reward: 0.0, status: Status::Diverged };
