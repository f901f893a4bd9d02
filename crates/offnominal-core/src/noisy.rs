//! An environment with nominal noise: sensors and actuators that are not exact, and commands that arrive late.
//!
//! The noise is a part of the nominal condition. It has a random stream of its own, named by where the environment's
//! stream stands at the start of the episode; nothing is taken from that stream, and how much is drawn in a step
//! depends on nothing that happens. So an anomalous episode and its twin get equal draws at every step, and the
//! environment's own draws are those that it has without noise.
//!
//! What the policy reads is noisy; rewards, goals, margins and the end of an episode are those of the true state.

mod numbers;
mod process;
mod term;

pub use numbers::NoiseNumbers;
pub use term::{NoiseError, NominalNoise, Term};

use crate::channel::Channel;
use crate::env::{Env, Status, Step};
use crate::spec::EnvSpec;
use crate::{Rng, Seed};
use numbers::Source;
use process::Process;
use std::sync::Arc;

/// An environment with nominal noise.
pub struct Noisy<'e> {
    env: Box<dyn Env + 'e>,
    spec: Arc<EnvSpec>,
    noise: Arc<NominalNoise>,
    numbers: Arc<NoiseNumbers>,
    state: State,
}

/// What the noise of an episode is at this step.
#[derive(Clone)]
struct State {
    source: Source,
    sensors: Process,
    actuators: Process,
    /// The part of a step in which the command before still acts.
    late: f64,
    /// The command as it was given in the step before.
    previous: Vec<f32>,
    /// The command on its way to the environment.
    command: Vec<f32>,
    started: bool,
}

impl<'e> Noisy<'e> {
    /// The environment with this noise, under an id that says so; `about` says in words what the noise is.
    ///
    /// # Errors
    /// If the noise does not fit the environment's channels, or a number of it is none.
    pub fn new(
        env: Box<dyn Env + 'e>,
        noise: NominalNoise,
        id: &str,
        about: &str,
    ) -> Result<Noisy<'e>, NoiseError> {
        noise.check(env.spec())?;
        let spec = env.spec();
        let spec = EnvSpec { id: id.into(), source: format!("{} {about}", spec.source), ..spec.clone() };
        let numbers = NoiseNumbers::of(&noise, &spec);
        Ok(Noisy::of(env, Arc::new(spec), Arc::new(noise), Arc::new(numbers)))
    }

    fn of(
        env: Box<dyn Env + 'e>,
        spec: Arc<EnvSpec>,
        noise: Arc<NominalNoise>,
        numbers: Arc<NoiseNumbers>,
    ) -> Noisy<'e> {
        let state = State {
            source: Source::new(),
            sensors: Process::new(noise.observation.len()),
            actuators: Process::new(noise.action.len()),
            late: 0.0,
            previous: vec![0.0; noise.action.len()],
            command: vec![0.0; noise.action.len()],
            started: false,
        };
        Noisy { env, spec, noise, numbers, state }
    }
}

impl State {
    /// Draws what a step needs: always the same number of draws.
    fn advance(&mut self, noise: &NominalNoise, dt_secs: f64) {
        self.sensors.advance(&noise.observation, dt_secs, &mut self.source);
        self.actuators.advance(&noise.action, dt_secs, &mut self.source);
        if noise.jitter_secs > 0.0 {
            self.late = (noise.jitter_secs * self.source.normal().abs() / dt_secs).min(1.0);
        }
    }

    /// What arrives at the environment of the command of this step.
    fn deliver(&mut self, action: &[f32], noise: &NominalNoise, channels: &[Channel]) {
        let late = if self.started { self.late } else { 0.0 };
        for ((arrives, (&now, &before)), channel) in
            self.command.iter_mut().zip(action.iter().zip(&self.previous)).zip(channels)
        {
            *arrives = delayed(now, before, late, channel.is_choice());
        }
        self.actuators.apply(&noise.action, &mut self.command);
        self.previous.copy_from_slice(action);
        self.started = true;
    }
}

/// The mean command of a step in which the one before acts for a part of it; of a choice, the one that acts longer.
fn delayed(now: f32, before: f32, late: f64, is_choice: bool) -> f32 {
    match (late > 0.0, is_choice) {
        (false, _) => now,
        (true, true) => {
            if late > 0.5 {
                before
            } else {
                now
            }
        }
        (true, false) => (f64::from(now) + late * (f64::from(before) - f64::from(now))) as f32,
    }
}

/// The stream of the noise of the episode that begins with this stream.
fn stream(world: &Rng) -> Rng {
    let (seed, word) = world.position();
    Seed(seed).child("noise").child(word).rng()
}

impl crate::env_layer::EnvLayer for Noisy<'_> {
    fn inner(&self) -> &dyn Env {
        self.env.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Env {
        self.env.as_mut()
    }

    /// The same noise at the same place of its episode.
    fn around<'f>(&self, env: Box<dyn Env + 'f>) -> Option<Box<dyn Env + 'f>> {
        let (spec, noise, numbers) = (&self.spec, &self.noise, &self.numbers);
        let copy = Noisy::of(env, Arc::clone(spec), Arc::clone(noise), Arc::clone(numbers));
        Some(Box::new(Noisy { state: self.state.clone(), ..copy }))
    }

    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        let State { source: own, sensors, actuators, started, .. } = &mut self.state;
        own.start(stream(rng));
        *started = false;
        sensors.start(&self.noise.observation, own);
        actuators.start(&self.noise.action, own);
        self.state.advance(&self.noise, self.spec.dt_secs);
        self.env.start(x, rng);
    }

    fn observe(&self, obs: &mut [f32]) {
        self.env.observe(obs);
        self.state.sensors.read(&self.noise.observation, &self.spec.observation, obs);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        self.state.deliver(action, &self.noise, &self.spec.action);
        let step = self.env.step(&self.state.command, rng);
        if step.status != Status::Diverged {
            self.state.advance(&self.noise, self.spec.dt_secs);
        }
        step
    }

    fn noise_numbers(&self) -> Option<&NoiseNumbers> {
        Some(&self.numbers)
    }

    fn choose_noise(&mut self, numbers: &Arc<[f64]>) {
        self.state.source.choose(numbers);
    }
}

#[cfg(test)]
mod tests;
