//! An environment of which there is only one, such as a robot: checked out by one episode at a time.
//!
//! When an episode returns it, its parameters are set to their nominal values: what an anomaly changed does not reach
//! the next episode.

use offnominal_core::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

const IN_USE: &str = "the only environment of its kind is in use";

/// The owner of the one environment.
pub(super) struct OnlyOne<E: Env> {
    spec: EnvSpec,
    /// `None` while it is checked out.
    idle: Mutex<Option<E>>,
}

impl<E: Env> OnlyOne<E> {
    pub(super) fn new(env: E) -> OnlyOne<E> {
        OnlyOne { spec: env.spec().clone(), idle: Mutex::new(Some(env)) }
    }

    /// The environment, unless it is checked out; a panic elsewhere leaves no half-changed value behind.
    fn idle(&self) -> MutexGuard<'_, Option<E>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(&self, ask: impl FnOnce(&dyn FailureSearch) -> T) -> T {
        ask(self.idle().as_ref().expect(IN_USE).failure_search())
    }

    fn own(&mut self) -> &mut E {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        idle.as_mut().expect("nothing is checked out while it is borrowed exclusively")
    }
}

impl<E: Env> Env for OnlyOne<E> {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.idle().as_ref().expect(IN_USE).draw(rng)
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        self.own().start(x, rng);
    }

    fn observe(&self, obs: &mut [f32]) {
        self.idle().as_ref().expect(IN_USE).observe(obs);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.own().step(action, rng)
    }

    fn goal_met(&self) -> Option<bool> {
        self.idle().as_ref()?.goal_met()
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.own().set_parameter(name, value)
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }

    fn checkout(&self) -> Option<Box<dyn Env + '_>> {
        let env = self.idle().take()?;
        Some(Box::new(Checkout { owner: self, env: Some(env) }))
    }

    fn health(&self) -> Result<(), String> {
        self.idle().as_ref().map_or(Ok(()), Env::health)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.own().render(camera, frame);
    }
}

/// Forwarded to the environment, which must not be checked out.
impl<E: Env> FailureSearch for OnlyOne<E> {
    fn features(&self, x: &[f64]) -> Vec<f64> {
        self.ask(|env| env.features(x))
    }

    fn places(&self, x: &[f64]) -> Option<Places> {
        self.ask(|env| env.places(x))
    }

    fn admits(&self, x: &[f64]) -> bool {
        self.ask(|env| env.admits(x))
    }

    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        self.ask(|env| env.vary(x, rng))
    }

    fn margin(&self) -> Option<f64> {
        self.ask(|env| env.margin())
    }
}

/// The environment while an episode has it.
struct Checkout<'a, E: Env> {
    owner: &'a OnlyOne<E>,
    /// `None` only after it was returned.
    env: Option<E>,
}

impl<E: Env> Checkout<'_, E> {
    fn env(&self) -> &E {
        self.env.as_ref().expect("returned when dropped")
    }

    fn env_mut(&mut self) -> &mut E {
        self.env.as_mut().expect("returned when dropped")
    }
}

impl<E: Env> Drop for Checkout<'_, E> {
    fn drop(&mut self) {
        let Some(mut env) = self.env.take() else { return };
        for p in &self.owner.spec.parameters {
            env.set_parameter(&p.name, p.nominal).expect("a nominal value is in its range");
        }
        *self.owner.idle() = Some(env);
    }
}

impl<E: Env> Env for Checkout<'_, E> {
    fn spec(&self) -> &EnvSpec {
        self.env().spec()
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.env().draw(rng)
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        self.env_mut().start(x, rng);
    }

    fn observe(&self, obs: &mut [f32]) {
        self.env().observe(obs);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.env_mut().step(action, rng)
    }

    fn goal_met(&self) -> Option<bool> {
        self.env().goal_met()
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.env_mut().set_parameter(name, value)
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }

    fn health(&self) -> Result<(), String> {
        self.env().health()
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self.env().failure_search()
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.env_mut().render(camera, frame);
    }
}
