//! A policy in a process of Python as a policy.

use crate::foreign::actor::Actor;
use crate::foreign::ahead::Ahead;
use crate::foreign::core::Stay;
use crate::foreign::host::Host;
use crate::foreign::wanted::{Wanted, WantedPolicy};
use crate::foreign::{named, pool};
use anyhow::{Context, Result, anyhow};
use offnominal_core::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// A policy of Python. Without an episode it is a name with a host; one is taken when an episode begins, and given back
/// when this value goes.
pub(super) struct HostedPolicy {
    wanted: Arc<WantedPolicy>,
    host: Arc<Host>,
    /// What went wrong first, in whichever copy.
    failure: Arc<Mutex<Option<String>>>,
    actor: Option<Actor>,
    /// Whether this value lives for one episode, which is played in one thread.
    is_forked: bool,
    stay: Option<Stay>,
    /// What its process has played ahead, where its answers are cheap.
    ahead: Option<Arc<Ahead>>,
}

/// The policy of that name for an environment, and its digest.
///
/// # Errors
/// If there is no such module, or nothing in it that acts.
pub(super) fn open(name: &str, spec: &EnvSpec) -> Result<(Box<dyn Policy>, String)> {
    let wanted = match named(&spec.id) {
        Some(id) => Wanted::read(id)?,
        None => Wanted::policies_only(),
    };
    let host = pool::host(wanted);
    let policy = WantedPolicy { name: name.into(), commands: spec.act_width() };
    let (actor, about) = host.seat(&policy).with_context(|| format!("policy {name}"))?;
    host.keep_waiting(&policy, actor);
    let (wanted, failure) = (Arc::new(policy), Arc::default());
    Ok((Box::new(HostedPolicy::of(wanted, host, failure, false)), about.digest))
}

impl HostedPolicy {
    fn of(
        wanted: Arc<WantedPolicy>,
        host: Arc<Host>,
        failure: Arc<Mutex<Option<String>>>,
        is_forked: bool,
    ) -> HostedPolicy {
        HostedPolicy { wanted, host, failure, actor: None, is_forked, stay: None, ahead: None }
    }

    /// Asks the policy, which is let go where that fails.
    fn ask(&mut self, ask: impl FnOnce(&mut Actor) -> Result<()>) -> bool {
        let answer = match &mut self.actor {
            Some(actor) => ask(actor),
            None => return false,
        };
        answer.map_err(|why| self.fail(&why)).is_ok()
    }

    fn fail(&mut self, why: &anyhow::Error) {
        if let Some(actor) = self.actor.take() {
            self.host.close_if_late(actor.line().worker(), why);
        }
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // What came first says why.
        failure.get_or_insert_with(|| format!("policy {}: {why:#}", self.wanted.name));
    }

    fn take(&mut self) {
        self.actor = self.actor.take().filter(Actor::is_welcome);
        if self.actor.is_none() {
            self.actor = self.host.actor(&self.wanted).map_err(|why| self.fail(&why)).ok();
        }
    }
}

impl Policy for HostedPolicy {
    fn reset(&mut self) {
        self.take();
        self.ask(Actor::forget);
        let cheap = self.actor.as_ref().filter(|actor| self.is_forked && actor.line().is_cheap());
        self.ahead = cheap.map(|actor| Arc::new(Ahead::new(actor.line().worker(), actor.number())));
        self.stay = cheap.and_then(|_| Stay::here());
    }

    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        match self.ahead.as_ref().and_then(|ahead| ahead.command(obs, action)) {
            Some(Ok(())) => return,
            Some(Err(why)) => self.fail(&anyhow!(why)),
            None => {}
        }
        // Without an answer the action is none, with which an episode ends as diverged.
        if self.actor.is_none() && self.health().is_ok() {
            self.take();
        }
        if !self.ask(|actor| actor.act(obs, action)) {
            action.fill(f32::NAN);
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        let (wanted, host, failure) = (self.wanted.clone(), self.host.clone(), self.failure.clone());
        Box::new(HostedPolicy::of(wanted, host, failure, true))
    }

    fn seat(&self) -> Option<Seat> {
        self.ahead.clone().map(|ahead| -> Seat { ahead })
    }

    fn health(&self) -> Result<(), String> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }
}

impl Drop for HostedPolicy {
    fn drop(&mut self) {
        if let Some(actor) = self.actor.take().filter(Actor::is_welcome) {
            self.host.keep_waiting(&self.wanted, actor);
        }
    }
}
