//! A hosted environment as an environment.

use crate::foreign::guest::Guest;
use crate::foreign::host::Host;
use crate::foreign::wire::Reply;
use crate::foreign::worker::interpreter;
use crate::foreign::{PREFIX, TIMEOUT_SECS};
use anyhow::{Context, Result, ensure};
use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How many seeds there are: all that an environment's generator takes.
const SEEDS: usize = 1 << 31;

/// An environment of Gymnasium. Without an episode it is a name with a host; an environment is taken when one begins,
/// and given back when this value goes.
pub(super) struct Foreign {
    spec: Arc<EnvSpec>,
    host: Arc<Host>,
    /// What went wrong last in an episode that this environment was checked out for.
    failure: Arc<Mutex<Option<String>>>,
    guest: Option<Guest>,
    obs: Vec<f32>,
    success: Option<bool>,
}

impl Foreign {
    /// The environment of that name in Gymnasium; the option `timeout` is ours.
    pub(super) fn open(id: &str) -> Result<Foreign> {
        let environment = format!("{PREFIX}{id}");
        let (own, limit) = without_timeout(id).with_context(|| format!("environment {environment}"))?;
        let host = Host::new(own, interpreter(), limit);
        let (guest, described) = host.invite().with_context(|| format!("environment {environment}"))?;
        let spec = described.spec(&environment)?;
        host.welcome_back(guest);
        let obs = vec![0.0; spec.obs_width()];
        let (spec, host, failure) = (Arc::new(spec), Arc::new(host), Arc::default());
        Ok(Foreign { spec, host, failure, guest: None, obs, success: None })
    }

    /// The same environment before its first episode, whose failure is told to that one or not.
    fn pristine(&self, failure: Arc<Mutex<Option<String>>>) -> Foreign {
        let (spec, host, obs) = (self.spec.clone(), self.host.clone(), vec![0.0; self.obs.len()]);
        Foreign { spec, host, failure, guest: None, obs, success: None }
    }

    /// Asks the environment, which is let go where that fails.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Guest, &mut [f32]) -> Result<T>) -> Option<T> {
        let answer = ask(self.guest.as_mut()?, &mut self.obs);
        answer.map_err(|why| self.fail(&why)).ok()
    }

    fn fail(&mut self, why: &anyhow::Error) {
        if let Some(guest) = self.guest.take() {
            self.host.close_if_late(guest.worker(), why);
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // What came first says why.
        failure.get_or_insert_with(|| format!("environment {}: {why:#}", self.spec.id));
    }

    fn status(&mut self, reply: Reply) -> Status {
        match reply {
            Reply { terminated: true, success: Some(true), .. } => Status::Succeeded,
            Reply { terminated: true, .. } => Status::Failed,
            Reply { truncated: true, .. } => {
                self.fail(&anyhow::anyhow!(
                    "it cut its episode by itself; expected that only the horizon does, which `?horizon=STEPS` sets"
                ));
                Status::Diverged
            }
            Reply { .. } => Status::Running,
        }
    }
}

impl Env for Foreign {
    fn spec(&self) -> &EnvSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        vec![rng.below(SEEDS) as f64]
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        assert_eq!(x.len(), 1, "the initial condition is a seed");
        (self.success, self.guest) = (None, self.guest.take().filter(Guest::is_welcome));
        self.obs.fill(0.0);
        if self.guest.is_none() {
            self.guest = self.host.guest().map_err(|why| self.fail(&why)).ok();
        }
        let seed = x[0] as u64;
        self.success = self.ask(|guest, obs| guest.reset(seed, obs)).and_then(|reply| reply.success);
    }

    fn observe(&self, obs: &mut [f32]) {
        obs.copy_from_slice(&self.obs);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        let Some(reply) = self.ask(|guest, obs| guest.step(action, obs)) else {
            return Step { reward: 0.0, status: Status::Diverged };
        };
        self.success = reply.success.or(self.success);
        Step { reward: reply.reward, status: self.status(reply) }
    }

    fn goal_met(&self) -> Option<bool> {
        self.success
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        let index = self.spec.parameters.iter().position(|p| p.name == name);
        self.ask(|guest, _| guest.set(index.context("a parameter that was checked is there")?, value));
        Ok(())
    }

    /// An environment cannot be copied while it plays; before its first episode there is nothing to copy.
    fn fork(&self) -> Option<Box<dyn Env>> {
        self.guest.is_none().then(|| -> Box<dyn Env> { Box::new(self.pristine(Arc::default())) })
    }

    fn checkout(&self) -> Option<Box<dyn Env + '_>> {
        Some(Box::new(self.pristine(self.failure.clone())))
    }

    fn health(&self) -> Result<(), String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }

    fn failure_search(&self) -> &dyn FailureSearch {
        self
    }
}

impl FailureSearch for Foreign {
    fn admits(&self, x: &[f64]) -> bool {
        matches!(x, [seed] if seed.fract() == 0.0 && (0.0..SEEDS as f64).contains(seed))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(guest) = self.guest.take().filter(Guest::is_welcome) {
            self.host.welcome_back(guest);
        }
    }
}

/// A name without the option `timeout`, and how long an answer may take.
fn without_timeout(id: &str) -> Result<(String, Duration)> {
    let (name, query) = id.split_once('?').unwrap_or((id, ""));
    ensure!(!name.is_empty(), "expected an id of Gymnasium, such as CartPole-v1, found none");
    let (ours, theirs): (Vec<&str>, Vec<&str>) = query
        .split('&')
        .filter(|option| !option.is_empty())
        .partition(|option| option.starts_with("timeout="));
    let secs = match ours.last().and_then(|option| option.split_once('=')) {
        None => TIMEOUT_SECS,
        Some((_, text)) => text
            .parse()
            .ok()
            .filter(|secs| (0.001..=86_400.0).contains(secs))
            .with_context(|| format!("timeout: expected seconds from 0.001 to 86400, found {text:?}"))?,
    };
    let own = if theirs.is_empty() { name.to_string() } else { format!("{name}?{}", theirs.join("&")) };
    Ok((own, Duration::from_secs_f64(secs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_is_an_option_of_ours() {
        let (id, limit) = without_timeout("ALE/Pong-v5?frameskip=2&timeout=1.5&horizon=9").unwrap();
        assert_eq!((id.as_str(), limit), ("ALE/Pong-v5?frameskip=2&horizon=9", Duration::from_millis(1500)));
        assert_eq!(without_timeout("CartPole-v1?timeout=2").unwrap().0, "CartPole-v1");
        assert_eq!(without_timeout("CartPole-v1").unwrap().1, Duration::from_secs(60));
    }

    #[test]
    fn a_wrong_limit_and_an_empty_name_are_refused() {
        let refused = |id: &str| without_timeout(id).unwrap_err().to_string();
        assert!(refused("X-v0?timeout=0").contains("expected seconds from 0.001 to 86400, found \"0\""));
        assert!(refused("").contains("expected an id of Gymnasium"));
    }
}
