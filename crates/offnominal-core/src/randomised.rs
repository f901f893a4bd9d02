//! An environment whose parameters are drawn for each episode.
//!
//! The parameters become a part of the initial condition: x = (parameters, initial condition of the environment). So
//! whatever draws, varies, keeps or learns from initial conditions does the same with bodies, masses and frictions:
//! training on them, estimating how often they are too much, and searching for the ones that do most harm.

mod draws;
mod joint;

pub use draws::{Around, Draws, DrawsError, Quantity};
pub use joint::{Joint, Marginal, Variable};

use crate::Rng;
use crate::env::{Env, Status, Step};
use crate::failure_search::FailureSearch;
use crate::noisy::NoiseNumbers;
use crate::policy::Seat;
use crate::spec::EnvSpec;
use std::sync::Arc;

/// Tries in a row after which there are taken to be no such environments.
const MOST_TRIES: usize = 1000;

/// An environment whose parameters are drawn for each episode.
pub struct Randomised<'e> {
    pristine: Box<dyn Env>,
    /// What plays; as it was made until the first episode begins.
    environment: Box<dyn Env + 'e>,
    is_used: bool,
    spec: Arc<EnvSpec>,
    draws: Arc<Draws>,
    /// Where the entries of the environment's initial condition are that are drawn here.
    places: Arc<[usize]>,
    /// Whether the parameters of the episode cannot be.
    impossible: bool,
}

impl Randomised<'_> {
    /// The environment with these draws.
    ///
    /// # Errors
    /// If the environment cannot be copied, has no such parameters, or hardly any draw can be.
    pub fn new(pristine: Box<dyn Env>, draws: Draws) -> Result<Randomised<'static>, DrawsError> {
        draws.check(pristine.spec())?;
        let id = || pristine.spec().id.clone();
        let environment = pristine.fork().ok_or_else(|| DrawsError::NoCopies(id()))?;
        let mut spec = pristine.spec().clone();
        let place = |entry| spec.initial.iter().position(|name| name == entry);
        let places = draws.entries().filter_map(place).collect();
        spec.initial = draws.free_names().map(String::from).chain(spec.initial).collect();
        spec.reset = format!("{} {}", draws.describe(), spec.reset);
        let (spec, draws) = (Arc::new(spec), Arc::new(draws));
        let randomised =
            Randomised { pristine, environment, is_used: false, spec, draws, places, impossible: false };
        let id = || randomised.spec.id.clone();
        randomised
            .possible(&mut Rng::new(0))
            .ok_or_else(|| DrawsError::None { env: id(), tries: MOST_TRIES })?;
        Ok(randomised)
    }

    /// Whether the environment can have these parameters.
    fn can_be(&self, values: &[f64]) -> bool {
        self.pristine.fork().is_some_and(|mut copy| set(copy.as_mut(), &self.draws, values))
    }

    /// Parameters that can be.
    fn possible(&self, rng: &mut Rng) -> Option<Vec<f64>> {
        let may_be = |values: &Vec<f64>| self.draws.admit(values) && self.can_be(values);
        (0..MOST_TRIES).map(|_| self.draws.draw(rng)).find(may_be)
    }

    /// What is drawn here of an initial condition: parameters, and then entries.
    fn drawn(&self, x: &[f64]) -> Vec<f64> {
        let (values, rest) = x.split_at(self.draws.n());
        values.iter().copied().chain(self.places.iter().map(|&i| rest[i])).collect()
    }

    /// The numbers that the environment's own initial condition is made of; none where what is drawn here has no density, or
    /// takes the place of some.
    fn own_normals(&self) -> usize {
        let is_apart = self.draws.normals() > 0 && self.places.is_empty();
        if is_apart { self.pristine.failure_search().normals() } else { 0 }
    }

    /// An initial condition of what is drawn here and of the environment's own.
    fn joined(&self, drawn: &[f64], mut rest: Vec<f64>) -> Vec<f64> {
        let (values, entries) = drawn.split_at(self.draws.n());
        self.places.iter().zip(entries).for_each(|(&i, &value)| rest[i] = value);
        values.iter().copied().chain(rest).collect()
    }
}

/// Sets what is drawn, all as one change; whether the environment can be so.
fn set(env: &mut dyn Env, draws: &Draws, values: &[f64]) -> bool {
    let pairs: Vec<(&str, f64)> = draws.names().zip(draws.all(values)).collect();
    let within = pairs.iter().all(|(name, value)| env.spec().check(name, *value).is_ok());
    within && env.set_parameters(&pairs).is_ok()
}

impl crate::env_layer::EnvLayer for Randomised<'_> {
    fn inner(&self) -> &dyn Env {
        self.environment.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Env {
        self.environment.as_mut()
    }

    fn around<'f>(&self, environment: Box<dyn Env + 'f>) -> Option<Box<dyn Env + 'f>> {
        let (spec, draws, places) =
            (Arc::clone(&self.spec), Arc::clone(&self.draws), Arc::clone(&self.places));
        let (pristine, impossible, is_used) = (self.pristine.fork()?, self.impossible, self.is_used);
        Some(Box::new(Randomised { pristine, environment, is_used, spec, draws, places, impossible }))
    }

    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let values = self.possible(rng).unwrap_or_else(|| self.draws.nominal(&self.spec));
        self.joined(&values, self.pristine.draw(rng))
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "length of the initial condition of {}", self.spec.id);
        let (values, rest) = x.split_at(self.draws.n());
        // Nothing of an episode before is left in a copy of the pristine one.
        if let Some(copy) = self.pristine.fork().filter(|_| self.is_used) {
            self.environment = copy;
        }
        self.is_used = true;
        self.impossible = !set(self.environment.as_mut(), &self.draws, values);
        self.environment.start(rest, rng);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        if self.impossible {
            return Step { reward: 0.0, status: Status::Diverged };
        }
        self.environment.step(action, rng)
    }

    fn play_ahead(&mut self, seat: &Seat, steps: u32) {
        self.environment.play_ahead(seat, steps);
    }

    fn noise_numbers(&self) -> Option<&NoiseNumbers> {
        self.pristine.noise_numbers()
    }

    fn choose_noise(&mut self, numbers: &Arc<[f64]>) {
        // Episodes begin in copies of the pristine one.
        self.pristine.choose_noise(numbers);
        self.environment.choose_noise(numbers);
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

/// There are no places: what is drawn belongs to none of them.
impl FailureSearch for Randomised<'_> {
    fn features(&self, x: &[f64]) -> Vec<f64> {
        let (values, rest) = x.split_at(self.draws.n());
        values.iter().copied().chain(self.pristine.failure_search().features(rest)).collect()
    }

    fn admits(&self, x: &[f64]) -> bool {
        let (values, rest) = x.split_at(self.draws.n());
        // An environment knows nothing of entries that it does not draw itself.
        let own = !self.places.is_empty() || self.pristine.failure_search().admits(rest);
        own && self.draws.admit(&self.drawn(x)) && self.can_be(values)
    }

    fn vary(&self, x: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        let (drawn, rest) = (self.drawn(x), &x[self.draws.n()..]);
        let varied = self.draws.vary(&drawn, rng);
        // A step that leads nowhere is not made, so that the way back is as likely.
        let drawn = if self.can_be(&varied) { varied } else { drawn };
        let rest = self.pristine.failure_search().vary(rest, rng).unwrap_or_else(|| rest.to_vec());
        Some(self.joined(&drawn, rest))
    }

    fn normals(&self) -> usize {
        self.draws.normals() + self.own_normals()
    }

    fn of_normals(&self, z: &[f64], rng: &mut Rng) -> Option<Vec<f64>> {
        let (z, own) = z.split_at(self.draws.normals());
        let drawn = self.draws.of_normals(z)?;
        if !self.can_be(&drawn[..self.draws.n()]) {
            return None;
        }
        let rest = match own {
            [] => self.pristine.draw(rng),
            own => self.pristine.failure_search().of_normals(own, rng)?,
        };
        Some(self.joined(&drawn, rest))
    }

    fn margin(&self) -> Option<f64> {
        self.environment.failure_search().margin()
    }

    fn requirements(&self) -> &[String] {
        self.environment.failure_search().requirements()
    }

    fn margin_of(&self, requirement: usize) -> f64 {
        self.environment.failure_search().margin_of(requirement)
    }
}
