//! An environment of which there is only one, such as a robot: checked out by one episode at a time.
//!
//! When an episode returns it, its parameters are set to their nominal values: what an anomaly changed does not reach
//! the next episode.

use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const IN_USE: &str = "the only environment of its kind is in use";

/// The one environment, at its home or checked out by an episode.
pub(super) struct OnlyOne<E: Env> {
    spec: Arc<EnvSpec>,
    /// Where the environment is unless it is checked out.
    home: Arc<Mutex<Option<E>>>,
    /// The environment, in the value that checked it out.
    held: Option<E>,
}

impl<E: Env> OnlyOne<E> {
    pub(super) fn new(env: E) -> OnlyOne<E> {
        let spec = Arc::new(env.spec().clone());
        OnlyOne { spec, home: Arc::new(Mutex::new(Some(env))), held: None }
    }

    /// The environment at home, unless it is checked out; a panic elsewhere leaves no half-changed value behind.
    fn idle(&self) -> MutexGuard<'_, Option<E>> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the environment, unless another value has it.
    fn try_ask<T>(&self, ask: impl FnOnce(&E) -> T) -> Option<T> {
        match &self.held {
            Some(env) => Some(ask(env)),
            None => self.idle().as_ref().map(ask),
        }
    }

    fn ask<T>(&self, ask: impl FnOnce(&E) -> T) -> T {
        self.try_ask(ask).expect(IN_USE)
    }

    fn tell<T>(&mut self, tell: impl FnOnce(&mut E) -> T) -> T {
        match &mut self.held {
            Some(env) => tell(env),
            None => tell(self.idle().as_mut().expect(IN_USE)),
        }
    }
}

impl<E: Env> Drop for OnlyOne<E> {
    fn drop(&mut self) {
        let Some(mut env) = self.held.take() else { return };
        for p in &self.spec.parameters {
            env.set_parameter(&p.name, p.nominal).expect("a nominal value is in its range");
        }
        *self.idle() = Some(env);
    }
}

impl<E: Env> Env for OnlyOne<E> {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.ask(|env| env.draw(rng))
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        self.tell(|env| env.start(x, rng));
    }

    fn observe(&self, obs: &mut [f32]) {
        self.ask(|env| env.observe(obs));
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.tell(|env| env.step(action, rng))
    }

    fn goal_met(&self) -> Option<bool> {
        self.try_ask(Env::goal_met)?
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        self.try_ask(|env| env.parameter(name))?
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.tell(|env| env.set_parameter(name, value))
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }

    fn checkout(&self) -> Option<Box<dyn Env + '_>> {
        let held = Some(self.idle().take()?);
        Some(Box::new(OnlyOne { spec: Arc::clone(&self.spec), home: Arc::clone(&self.home), held }))
    }

    fn health(&self) -> Result<(), String> {
        self.try_ask(Env::health).unwrap_or(Ok(()))
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.tell(|env| env.render(camera, frame));
    }
}
