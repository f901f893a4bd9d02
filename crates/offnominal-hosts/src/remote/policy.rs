//! A command as a policy.

use super::name::Command;
use super::process::Process;
use anyhow::{Context, Error, Result};
use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What all copies have in common.
struct Shared {
    name: String,
    command: Command,
    channels: Vec<Channel>,
    /// Those that wait for an episode.
    idle: Mutex<Vec<Process>>,
    /// What went wrong first, in whichever copy.
    failure: Mutex<Option<String>>,
}

/// A policy that is a command; a process is taken when an episode begins, and given back when this value goes.
pub(super) struct RemotePolicy {
    shared: Arc<Shared>,
    process: Mutex<Option<Process>>,
    is_first: bool,
}

impl RemotePolicy {
    /// The policy of that name, whose command is started once, so that its name is known to be one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn open(name: &str, command: Command, spec: &EnvSpec) -> Result<RemotePolicy> {
        let (idle, failure) = (Mutex::default(), Mutex::default());
        let shared = Shared { name: name.into(), command, channels: spec.action.clone(), idle, failure };
        let first = shared.start().with_context(|| format!("policy {name}"))?;
        shared.idle().push(first);
        Ok(RemotePolicy::of(Arc::new(shared)))
    }

    fn of(shared: Arc<Shared>) -> RemotePolicy {
        RemotePolicy { shared, process: Mutex::default(), is_first: true }
    }

    /// Asks for an action, of one that waits or of a new one.
    fn ask(&mut self, obs: &[f32], action: &mut [f32]) -> Result<()> {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let known = match process.take() {
            Some(known) => Some(known),
            None => self.shared.idle().pop(),
        };
        let known = match known {
            Some(known) => known,
            None => self.shared.start()?,
        };
        process.insert(known).act(obs, self.is_first, action)
    }

    /// Lets go of one that failed, and keeps why.
    fn fail(&mut self, why: &Error) {
        *self.process.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let mut failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // What came first says why.
        failure.get_or_insert_with(|| format!("policy {}: {why:#}", self.shared.name));
    }
}

impl Shared {
    fn start(&self) -> Result<Process> {
        Process::start(&self.command, self.channels.clone())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for RemotePolicy {
    fn reset(&mut self) {
        self.is_first = true;
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        // Without an answer the action is none, with which an episode ends as diverged.
        action.fill(f32::NAN);
        if self.health().is_ok()
            && let Err(why) = self.ask(obs, action)
        {
            action.fill(f32::NAN);
            self.fail(&why);
        }
        self.is_first = false;
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(RemotePolicy::of(self.shared.clone()))
    }

    fn health(&self) -> Result<(), String> {
        let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }
}

impl Drop for RemotePolicy {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.shared.idle().extend(process.take());
    }
}
