//! A world of which there is only one, such as a robot: lent to one episode at a time.
//!
//! When an episode gives it back, its parameters are set to their nominal values: what an anomaly changed does not reach
//! the next episode.

use offnominal_core::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The owner of the one world.
pub(super) struct OnlyOne<E: Env> {
    spec: EnvSpec,
    /// `None` while it is lent.
    home: Mutex<Option<E>>,
}

impl<E: Env> OnlyOne<E> {
    pub(super) fn new(env: E) -> OnlyOne<E> {
        OnlyOne { spec: env.spec().clone(), home: Mutex::new(Some(env)) }
    }

    /// What is at home; a panic elsewhere leaves no half-changed value behind.
    fn at_home(&self) -> MutexGuard<'_, Option<E>> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&mut self) -> &mut E {
        let home = self.home.get_mut().unwrap_or_else(PoisonError::into_inner);
        home.as_mut().expect("nothing is lent while it is borrowed exclusively")
    }
}

impl<E: Env> Env for OnlyOne<E> {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.at_home().as_ref().expect("the only world of its kind is in use").draw(rng)
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        self.own().start(x, rng);
    }

    fn observe(&self, obs: &mut [f32]) {
        self.at_home().as_ref().expect("the only world of its kind is in use").observe(obs);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.own().step(action, rng)
    }

    fn goal_met(&self) -> Option<bool> {
        self.at_home().as_ref()?.goal_met()
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.own().set_parameter(name, value)
    }

    fn fork(&self) -> Option<Box<dyn Env>> {
        None
    }

    fn lend(&self) -> Option<Box<dyn Env + '_>> {
        let env = self.at_home().take()?;
        Some(Box::new(Loan { owner: self, env: Some(env) }))
    }

    fn trouble(&self) -> Option<String> {
        self.at_home().as_ref()?.trouble()
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.own().render(camera, frame);
    }
}

/// The world while an episode has it.
struct Loan<'a, E: Env> {
    owner: &'a OnlyOne<E>,
    /// `None` only after it was given back.
    env: Option<E>,
}

impl<E: Env> Loan<'_, E> {
    fn env(&self) -> &E {
        self.env.as_ref().expect("given back when dropped")
    }

    fn env_mut(&mut self) -> &mut E {
        self.env.as_mut().expect("given back when dropped")
    }
}

impl<E: Env> Drop for Loan<'_, E> {
    fn drop(&mut self) {
        let Some(mut env) = self.env.take() else { return };
        for p in &self.owner.spec.parameters {
            env.set_parameter(&p.name, p.nominal).expect("a nominal value is in its range");
        }
        *self.owner.at_home() = Some(env);
    }
}

impl<E: Env> Env for Loan<'_, E> {
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

    fn trouble(&self) -> Option<String> {
        self.env().trouble()
    }

    fn render(&mut self, camera: Camera, frame: &mut Frame) {
        self.env_mut().render(camera, frame);
    }
}
