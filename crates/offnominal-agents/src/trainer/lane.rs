//! One environment in which training episodes are played, and the memory from which its state can be rebuilt.
//!
//! An environment cannot be written to a file, but the episode in progress can be played again: from its initial
//! condition, the generator as it was, and the actions since.

use crate::actor::Bounds;
use offnominal_core::divergence::Divergence;
use offnominal_core::env::{Env, Status, Step};
use offnominal_core::policy::Policy;
use offnominal_core::{Rng, Seed};
use serde::{Deserialize, Serialize};

/// An environment with an episode in progress.
pub(super) struct Lane {
    env: Box<dyn Env>,
    rng: Rng,
    past: Past,
    total: f64,
    steps: usize,
    /// The smallest margin of the episode so far, where the environment has one.
    margin: Option<f64>,
    pub(super) obs: Vec<f32>,
    pub(super) next_obs: Vec<f32>,
    /// The action in [−1, 1].
    pub(super) action: Vec<f32>,
    /// What a demonstrator would do, in [−1, 1], where it was asked.
    pub(super) advice: Vec<f32>,
    pub(super) is_advised: bool,
    /// The same within the bounds of the environment.
    bounded: Vec<f32>,
}

/// A step that brought numbers from which nothing can be learned.
const BROKEN: Step = Step { reward: 0.0, status: Status::Diverged };

/// How the episode in progress came to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Past {
    initial: Vec<f64>,
    /// The generator when the environment was started.
    rng: Rng,
    /// Actions since, in [−1, 1], `[steps, act_width]`.
    actions: Vec<f32>,
}

impl Lane {
    /// An environment at the beginning of an episode.
    pub(super) fn new(env: Box<dyn Env>, seed: Seed) -> Lane {
        let (obs, act) = (env.spec().obs_width(), env.spec().action.len());
        let room = env.spec().horizon as usize * act;
        let past = Past { initial: vec![], rng: seed.rng(), actions: Vec::with_capacity(room) };
        let [action, advice, bounded] = std::array::from_fn(|_| vec![0.0; act]);
        let (obs, next_obs) = (vec![0.0; obs], vec![0.0; obs]);
        let mut lane = Lane {
            env,
            rng: seed.rng(),
            past,
            total: 0.0,
            steps: 0,
            margin: None,
            obs,
            next_obs,
            action,
            advice,
            is_advised: false,
            bounded,
        };
        lane.begin();
        lane
    }

    /// Begins the next episode.
    pub(super) fn begin(&mut self) {
        self.past.initial = self.env.draw(&mut self.rng);
        self.past.rng = self.rng.clone();
        self.past.actions.clear();
        self.start();
    }

    fn start(&mut self) {
        (self.total, self.steps, self.margin) = (0.0, 0, None);
        self.env.start(&self.past.initial, &mut self.rng);
        self.env.observe(&mut self.obs);
    }

    /// Asks a demonstrator what it would do; it remembers nothing.
    pub(super) fn ask(&mut self, demonstrator: &mut dyn Policy, bounds: &Bounds, rng: &mut Rng) {
        demonstrator.act(&self.obs, &mut self.advice, rng);
        bounds.invert(&mut self.advice);
        self.is_advised = true;
    }

    /// Applies the current action.
    pub(super) fn step(&mut self, bounds: &Bounds) -> Step {
        self.past.actions.extend_from_slice(&self.action);
        self.apply(bounds)
    }

    fn apply(&mut self, bounds: &Bounds) -> Step {
        self.bounded.copy_from_slice(&self.action);
        bounds.apply(&mut self.bounded);
        self.steps += 1;
        if Divergence::of_first(&self.obs).is_some() {
            return BROKEN;
        }
        let step = self.env.step(&self.bounded, &mut self.rng);
        self.env.observe(&mut self.next_obs);
        let total = self.total + step.reward;
        if Divergence::of(&step, &self.next_obs, total).is_some() {
            return BROKEN;
        }
        self.total = total;
        if let Some(now) = self.env.failure_search().margin().filter(|now| now.is_finite()) {
            self.margin = Some(self.margin.map_or(now, |least| least.min(now)));
        }
        step
    }

    /// The smallest margin of the episode so far, where the environment has one.
    pub(super) fn margin(&self) -> Option<f64> {
        self.margin
    }

    /// Steps of the episode so far.
    pub(super) fn len(&self) -> usize {
        self.steps
    }

    /// At which of the places that its initial condition leads past the present state is.
    pub(super) fn place(&self) -> Option<u32> {
        self.env.failure_search().current_place().map(|place| place as u32)
    }

    /// Where it began.
    pub(super) fn initial(&self) -> &[f64] {
        &self.past.initial
    }

    /// Its return so far.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Whether the episode that just ended was a success.
    pub(super) fn success(&self, status: Status) -> Option<bool> {
        match status {
            Status::Succeeded => Some(true),
            Status::Failed => Some(false),
            Status::Running | Status::Ended | Status::TimedOut => self.env.goal_met(),
            Status::Diverged => self.env.goal_met().map(|_| false),
        }
    }

    /// From what the state can be rebuilt.
    pub(super) fn past(&self) -> &Past {
        &self.past
    }

    /// Plays a stored episode again up to where it was; `None` if it does not fit the environment.
    pub(super) fn rebuild(&mut self, past: Past, bounds: &Bounds) -> Option<()> {
        let (spec, act) = (self.env.spec(), self.action.len());
        let whole =
            past.actions.len().is_multiple_of(act) && past.actions.len() / act < spec.horizon as usize;
        let finite = past.initial.iter().all(|v| v.is_finite()) && past.actions.iter().all(|v| v.is_finite());
        if !(whole && finite && past.initial.len() == spec.initial.len()) {
            return None;
        }
        (self.rng, self.past) = (past.rng.clone(), past);
        self.start();
        for i in 0..self.past.actions.len() / act {
            self.action.copy_from_slice(&self.past.actions[i * act..][..act]);
            self.apply(bounds);
            std::mem::swap(&mut self.obs, &mut self.next_obs);
        }
        Some(())
    }
}
