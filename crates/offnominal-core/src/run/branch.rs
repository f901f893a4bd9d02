//! An episode in progress that can be copied: each copy goes on with random numbers of its own.
//!
//! What an episode does up to a moment is the same in all its copies; from there on they are independent given that
//! moment, if everything random is drawn from the streams of the runner or of the environment's nominal noise. In a
//! deterministic environment with a deterministic policy copies stay equal.

use super::{Rollout, Trial, ending};
use crate::env::{Env, Status};
use crate::episode::End;
use crate::policy::Policy;
use crate::{Rng, Seed};

/// An episode in progress, without an anomaly.
pub struct Branch {
    env: Box<dyn Env>,
    policy: Box<dyn Policy>,
    rollout: Rollout,
    policy_rng: Rng,
    obs: Vec<f32>,
    action: Vec<f32>,
    horizon: u32,
    end: Option<End>,
}

impl Trial<'_> {
    /// Begins an episode from an initial condition, which is that of [`Trial::starting_at`] step by step; nothing where
    /// the environment cannot be copied.
    pub fn branch(&self, initial: &[f64], seed: Seed) -> Option<Branch> {
        let (mut env, mut policy) = (self.env.fork()?, self.policy.fork());
        let spec = env.spec();
        let (mut obs, action) = (vec![0.0; spec.obs_width()], vec![0.0; spec.act_width()]);
        let rollout = Rollout::start(env.as_mut(), initial, seed, None, &mut obs);
        policy.reset();
        let end = rollout.divergence().map(|_| End::Diverged);
        let policy_rng = seed.child("policy").rng();
        Some(Branch { env, policy, rollout, policy_rng, obs, action, horizon: self.horizon, end })
    }
}

impl Branch {
    /// Takes a step, if the episode goes on; says how it has ended, if it has.
    pub fn step(&mut self) -> Option<End> {
        if self.end.is_none() && self.rollout.steps() < self.horizon {
            self.policy.act(&self.obs, &mut self.action, &mut self.policy_rng);
            let (step, _) = self.rollout.step(self.env.as_mut(), &self.action, &mut self.obs);
            self.end = (step.status != Status::Running).then(|| ending(step.status));
        }
        if self.rollout.divergence().is_some() {
            self.end = Some(End::Diverged);
        }
        if self.end.is_none() && self.rollout.steps() >= self.horizon {
            self.end = Some(End::TimedOut);
        }
        self.end
    }

    /// What the policy reads now.
    pub fn observation(&self) -> &[f32] {
        &self.obs
    }

    /// The environment in its present state.
    pub fn env(&self) -> &dyn Env {
        self.env.as_ref()
    }

    /// The share of the horizon that is over.
    pub fn time(&self) -> f64 {
        f64::from(self.rollout.steps()) / f64::from(self.horizon)
    }

    /// How many steps were taken since the episode began.
    pub fn steps(&self) -> u32 {
        self.rollout.steps()
    }

    /// A copy that goes on with other random numbers, which the seed names; nothing where the environment cannot be copied
    /// while it plays, such as one in a process of its own.
    pub fn fork(&self, seed: Seed) -> Option<Branch> {
        let mut env = self.env.fork()?;
        let rollout = self.rollout.undisturbed_copy(seed);
        env.reseed(rollout.world_rng());
        Some(Branch {
            env,
            policy: self.policy.fork(),
            rollout,
            policy_rng: seed.child("policy").rng(),
            obs: self.obs.clone(),
            action: self.action.clone(),
            horizon: self.horizon,
            end: self.end,
        })
    }
}
