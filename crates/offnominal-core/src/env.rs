//! A simulator with named physical parameters. One value is one episode in progress.

use crate::Rng;
use crate::failure_search::{FailureSearch, Uninformed};
use crate::frame::{Camera, Frame};
use crate::noisy::NoiseNumbers;
use crate::policy::Seat;
use crate::spec::{EnvSpec, ParameterError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An environment: it is started at an initial condition and then advanced step by step.
///
/// An environment knows nothing of anomalies or labels, and does not time out by itself, unless it is somebody else's
/// that does: the runner ([`crate::run`]) owns the clock, the horizon, the onset and the labels. After warm-up `observe` and `step` neither fail nor
/// allocate.
pub trait Env: Send + Sync {
    /// The description; the same value for the whole life of the environment, whatever its parameters are set to.
    fn spec(&self) -> &EnvSpec;

    /// Draws an initial condition x ~ P; `x.len() == spec().initial.len()`.
    fn draw(&self, rng: &mut Rng) -> Vec<f64>;

    /// Begins an episode at `x`.
    ///
    /// # Panics
    /// If `x` is not as long as `spec().initial`.
    fn start(&mut self, x: &[f64], rng: &mut Rng);

    /// Writes the current observation, channel by channel.
    ///
    /// # Panics
    /// If `obs` does not have `spec().obs_width()` numbers.
    fn observe(&self, obs: &mut [f32]);

    /// The same without nominal noise: what a requirement on the episode is judged by.
    ///
    /// # Panics
    /// As [`observe`](Env::observe).
    fn observe_exactly(&self, obs: &mut [f32]) {
        self.observe(obs);
    }

    /// Advances by `spec().dt_secs` under the given action. An action that is a choice is read by [`Channel::chosen`]:
    /// rounded to the nearest integer and clipped, never refused.
    ///
    /// # Panics
    /// If `action` is not as long as `spec().action`.
    ///
    /// [`Channel::chosen`]: crate::spec::Channel::chosen
    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step;

    /// Told before the first step of an episode: each of the next `steps` commands will be what the policy of that seat
    /// gives for what [`observe`](Env::observe) writes, and nothing changes the environment in between. One that is where the policy is
    /// may play them at once, and answer from what it has played.
    fn play_ahead(&mut self, _seat: &Seat, _steps: u32) {}

    /// Whether the goal is met at this moment; `None` where the environment defines no success.
    fn goal_met(&self) -> Option<bool> {
        None
    }

    /// Changes a physical quantity at once, before an episode or in it, until it is changed again; derived constants are
    /// recomputed.
    ///
    /// # Errors
    /// If the parameter does not exist or the value lies outside its physical range. The environment is then unchanged.
    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError>;

    /// The value that a physical quantity has now, as the simulator holds it; `None` where there is no such quantity.
    fn parameter(&self, _name: &str) -> Option<f64> {
        None
    }

    /// Changes several physical quantities together, as one change where the environment can do that.
    ///
    /// # Errors
    /// As [`set_parameter`](Env::set_parameter); some of them may then have changed.
    fn set_parameters(&mut self, values: &[(&str, f64)]) -> Result<(), ParameterError> {
        values.iter().try_for_each(|(name, value)| self.set_parameter(name, *value))
    }

    /// A full copy, episode in progress included; `None` for hardware, of which there is only one.
    fn fork(&self) -> Option<Box<dyn Env>>;

    /// What the standard normal numbers that nominal noise takes in an episode stand for; nothing where there is no noise.
    fn noise_numbers(&self) -> Option<&NoiseNumbers> {
        None
    }

    /// Chooses the numbers of the nominal noise for episodes that begin from now on, in place of draws: those of the start,
    /// then those of each step. Where they end, zeros follow.
    fn choose_noise(&mut self, _numbers: &Arc<[f64]>) {}

    /// The environment for the next episode: a copy or, where there is only one, that one itself until it is dropped;
    /// `None` while
    /// it is in use.
    fn checkout(&self) -> Option<Box<dyn Env + '_>> {
        self.fork().map(|copy| -> Box<dyn Env + '_> { copy })
    }

    /// Whether the environment can still be used.
    ///
    /// # Errors
    /// Why it cannot, such as a robot that stopped.
    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    /// What the environment knows of its failures.
    fn failure_search(&self) -> &dyn FailureSearch {
        &Uninformed
    }

    /// Draws the current state: colours, and class ids where the environment knows them. An environment without
    /// cameras draws nothing.
    fn render(&mut self, _camera: Camera, _frame: &mut Frame) {}
}

/// The methods of [`Env`] that are the same where an environment is data with its card in the field `spec`.
#[macro_export]
macro_rules! spec_and_fork {
    () => {
        fn spec(&self) -> &$crate::spec::EnvSpec {
            &self.spec
        }

        fn fork(&self) -> Option<Box<dyn $crate::env::Env>> {
            Some(Box::new(self.clone()))
        }
    };
}

/// What one step brought.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The reward of this step.
    pub reward: f64,
    /// Whether the episode goes on.
    pub status: Status,
}

impl Step {
    /// A step after which the episode goes on.
    pub fn running(reward: f64) -> Step {
        Step { reward, status: Status::Running }
    }
}

/// Whether an episode goes on and, if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The episode goes on.
    Running,
    /// The policy reached what ends the episode well.
    Succeeded,
    /// The policy brought about what the environment counts as a failure.
    Failed,
    /// The environment ended the episode, and nobody has said what that means: neither success nor failure.
    Ended,
    /// The environment ended the episode at a time limit of its own, before the horizon.
    TimedOut,
    /// The simulator (or the robot link) broke; the policy is not to blame.
    Diverged,
}
