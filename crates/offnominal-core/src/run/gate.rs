//! A fault in progress: its hooks, opened and closed in time.

use crate::anomaly::Anomaly;
use crate::anomaly_spec::AnomalySpec;
use crate::env::Env;
use crate::frame::Frame;
use crate::schedule::Extent;
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

/// Opens and closes the anomaly's hooks as its schedule says. A [`Rollout`](super::Rollout) has one; whoever steps an
/// environment himself, such as many simulators at once, calls it around each of his steps.
pub struct Gate {
    disturbance: Option<Applied>,
    was_active: bool,
    rng: Rng,
    camera_rng: Rng,
}

/// What is left of a disturbance while it is applied.
struct Applied {
    extent: Extent,
    onset: u32,
    anomaly: Box<dyn Anomaly>,
}

impl Gate {
    /// For one episode; randomness comes from branches of its seed.
    pub fn new(disturbance: Option<Disturbance<'_>>, seed: Seed) -> Self {
        let applied = |d: Disturbance<'_>| Applied {
            extent: d.anomaly_spec.schedule.extent,
            onset: d.onset,
            anomaly: d.anomaly,
        };
        let (rng, camera_rng) = (seed.child("anomaly").rng(), seed.child("camera").rng());
        Gate { disturbance: disturbance.map(applied), was_active: false, rng, camera_rng }
    }

    /// Changes the action of step `t` on its way to the environment, and says whether the anomaly is active in it.
    pub fn before_step(&mut self, t: u32, env: &mut dyn Env, action: &mut [f32]) -> bool {
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

    pub(super) fn on_frame(&mut self, frame: &mut Frame) {
        match &mut self.disturbance {
            Some(d) if self.was_active => d.anomaly.on_frame(frame, &mut self.camera_rng),
            Some(d) => d.anomaly.watch_frame(frame),
            None => {}
        }
    }

    /// Told the first observation.
    pub fn after_start(&mut self, obs: &[f32]) {
        if let Some(d) = &mut self.disturbance {
            d.anomaly.watch_observation(obs);
        }
    }

    /// Changes the observation after a step on its way to the policy; `active` is what [`Gate::before_step`] said.
    pub fn after_step(&mut self, active: bool, obs: &mut [f32]) {
        match &mut self.disturbance {
            Some(d) if active => d.anomaly.on_observation(obs, &mut self.rng),
            Some(d) => d.anomaly.watch_observation(obs),
            None => {}
        }
    }

    /// How many of the steps from `t` on nothing disturbs; the largest number without a disturbance.
    pub(super) fn undisturbed_steps(&self, t: u32) -> u32 {
        self.disturbance.as_ref().map_or(u32::MAX, |d| d.onset.saturating_sub(t))
    }
}
