//! A policy that lives elsewhere as a policy.

use anyhow::{Context, Error, Result};
use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What answers: a process, or a connection.
pub(super) trait Peer: Send {
    /// Writes the action for an observation, the first one of an episode or a later one.
    ///
    /// # Errors
    /// If there is no answer, or none that is an action.
    fn act(&mut self, obs: &[f32], is_first: bool, action: &mut [f32]) -> Result<()>;
}

/// What makes another one.
pub(super) type Connect = Box<dyn Fn() -> Result<Box<dyn Peer>> + Send + Sync>;

/// What all copies have in common.
struct Shared {
    name: String,
    connect: Connect,
    /// Those that wait for an episode.
    idle: Mutex<Vec<Box<dyn Peer>>>,
    /// What went wrong first, in whichever copy.
    failure: Mutex<Option<String>>,
}

/// A policy that lives elsewhere; one that answers is taken when an episode begins, and given back when this value goes.
pub(super) struct RemotePolicy {
    shared: Arc<Shared>,
    peer: Mutex<Option<Box<dyn Peer>>>,
    is_first: bool,
}

impl RemotePolicy {
    /// The policy of that name, which is reached once, so that its name is known to be one.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub(super) fn open(name: &str, connect: Connect) -> Result<RemotePolicy> {
        let first = connect().with_context(|| format!("policy {name}"))?;
        let (idle, failure) = (Mutex::new(vec![first]), Mutex::default());
        Ok(RemotePolicy::of(Arc::new(Shared { name: name.into(), connect, idle, failure })))
    }

    fn of(shared: Arc<Shared>) -> RemotePolicy {
        RemotePolicy { shared, peer: Mutex::default(), is_first: true }
    }

    /// Asks for an action, of one that waits or of a new one.
    fn ask(&mut self, obs: &[f32], action: &mut [f32]) -> Result<()> {
        let peer = self.peer.get_mut().unwrap_or_else(PoisonError::into_inner);
        let known = match peer.take() {
            Some(known) => Some(known),
            None => self.shared.idle().pop(),
        };
        let known = match known {
            Some(known) => known,
            None => (self.shared.connect)()?,
        };
        peer.insert(known).act(obs, self.is_first, action)
    }

    /// Lets go of one that failed, and keeps why.
    fn fail(&mut self, why: &Error) {
        *self.peer.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let mut failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // What came first says why.
        failure.get_or_insert_with(|| format!("policy {}: {why:#}", self.shared.name));
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Peer>>> {
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
        let peer = self.peer.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.shared.idle().extend(peer.take());
    }
}
