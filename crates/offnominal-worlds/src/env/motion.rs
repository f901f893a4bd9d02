//! Environments that are a small state and a law of motion: one at a time as an [`Env`], or many at once as a [`Batch`].
//!
//! Both call the same function, so a batch moves through the same bits as single environments do. What a batch saves
//! is the call through a pointer and the description carried along; sine and cosine remain, and they are those of the
//! platform, because another sine would not give the reference's bits.

use offnominal_core::frame::{Camera, Frame};
use offnominal_core::prelude::*;
use std::sync::Arc;

/// A law of motion with its physical constants.
pub trait Motion: Copy + Send + Sync + 'static {
    /// What moves.
    type State: Copy + Send + Sync;

    /// Bounds of the numbers of an initial state, each of which is uniform between minus its bound and its bound.
    const RESET: &'static [f64];

    /// Draws an initial state.
    fn draw(rng: &mut Rng) -> Self::State {
        Self::state(&Self::RESET.iter().map(|bound| rng.range(-bound, *bound)).collect::<Vec<_>>())
    }

    /// The state whose numbers are those of an initial condition.
    fn state(x: &[f64]) -> Self::State;

    /// The numbers of a state.
    fn numbers(state: &Self::State) -> Vec<f64>;

    /// Moves the state by one step.
    fn advance(&self, state: &mut Self::State, action: f32) -> Step;

    /// Writes what the policy reads.
    fn observe(&self, state: &Self::State, obs: &mut [f32]);

    /// Whether the goal is met.
    fn is_met(&self, state: &Self::State) -> bool;

    /// Draws the state.
    fn render(&self, state: &Self::State, frame: &mut Frame);

    /// The value of a constant that the description lists.
    fn get(&self, parameter: &str) -> Option<f64>;

    /// Changes a constant that the description lists, and recomputes what follows from it.
    fn set(&mut self, parameter: &str, value: f64);
}

/// One environment.
#[derive(Clone)]
pub(super) struct Environment<M: Motion> {
    spec: Arc<EnvSpec>,
    motion: M,
    state: M::State,
}

impl<M: Motion> Environment<M> {
    /// An environment whose state is that of `x` until it is started.
    pub(super) fn new(spec: EnvSpec, motion: M, x: &[f64]) -> Environment<M> {
        Environment { spec: Arc::new(spec), motion, state: M::state(x) }
    }
}

impl<M: Motion> Env for Environment<M> {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        M::numbers(&M::draw(rng))
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "{}: length of the initial condition", self.spec.id);
        self.state = M::state(x);
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), self.spec.observation.len(), "{}: length of the observation", self.spec.id);
        self.motion.observe(&self.state, obs);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let &[only] = action else { panic!("{}: expected 1 action, found {}", self.spec.id, action.len()) };
        self.motion.advance(&mut self.state, only)
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.motion.is_met(&self.state))
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        self.motion.get(name)
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        self.motion.set(name, value);
        Ok(())
    }

    fn render(&mut self, _: Camera, frame: &mut Frame) {
        self.motion.render(&self.state, frame);
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl<M: Motion> FailureSearch for Environment<M> {
    fn normals(&self) -> usize {
        M::RESET.len()
    }

    /// 2 Φ(z) − 1 is uniform.
    fn of_normals(&self, z: &[f64], _: &mut Rng) -> Option<Vec<f64>> {
        let number = |(bound, z): (&f64, &f64)| bound * libm::erf(z / std::f64::consts::SQRT_2);
        Some(M::RESET.iter().zip(z).map(number).collect())
    }
}

/// Many environments with the same constants, stepped together without being described each.
///
/// ```
/// use offnominal_core::Rng;
/// use offnominal_worlds::env::{Batch, Cartpole};
///
/// let mut carts = Batch::new(Cartpole::default(), 64, &mut Rng::new(1));
/// let (mut steps, mut seen) = (Vec::new(), vec![0.0; 64 * 4]);
/// carts.step(&[1.0; 64], &mut steps);
/// carts.observe(4, &mut seen);
/// assert!(steps.iter().all(|s| s.reward == 1.0) && seen.iter().all(|o| o.is_finite()));
/// ```
#[derive(Clone)]
pub struct Batch<M: Motion> {
    motion: M,
    states: Vec<M::State>,
}

impl<M: Motion> Batch<M> {
    /// So many environments, each at an initial state of its own.
    pub fn new(motion: M, n: usize, rng: &mut Rng) -> Batch<M> {
        let states = (0..n).map(|_| M::draw(rng)).collect();
        Batch { motion, states }
    }

    /// Begins an episode of environment `i` at a new initial state.
    pub fn restart(&mut self, i: usize, rng: &mut Rng) {
        self.states[i] = M::draw(rng);
    }

    /// Moves every environment by one step under an action of its own; `steps` is filled anew.
    ///
    /// # Panics
    /// If there is not one action per environment.
    pub fn step(&mut self, actions: &[f32], steps: &mut Vec<Step>) {
        assert_eq!(actions.len(), self.states.len(), "one action per environment");
        steps.clear();
        let motion = self.motion;
        steps.extend(self.states.iter_mut().zip(actions).map(|(state, &c)| motion.advance(state, c)));
    }

    /// Writes the observations, `[environments, width]`.
    ///
    /// # Panics
    /// If `obs` does not have `width` numbers per environment, or the environment has another width.
    pub fn observe(&self, width: usize, obs: &mut [f32]) {
        assert_eq!(obs.len(), width * self.states.len(), "one observation per environment");
        for (state, row) in self.states.iter().zip(obs.chunks_exact_mut(width)) {
            self.motion.observe(state, row);
        }
    }
}
