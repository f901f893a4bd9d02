//! Policies that the program around this library hands over while it runs, each under a name of its own.

use anyhow::Result;
use offnominal_core::env::Env;
use offnominal_core::policy::Policy;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What makes such a policy for an environment.
pub type Make = dyn Fn(&dyn Env) -> Result<Box<dyn Policy>> + Send + Sync;

/// A policy that was handed over.
#[derive(Clone)]
pub(super) struct Brought {
    pub(super) digest: String,
    pub(super) make: Arc<Make>,
}

static BROUGHT: Mutex<Option<HashMap<String, Brought>>> = Mutex::new(None);

/// Makes a policy known by a name, in place of the one that had it. Finished work is found again by the digest.
pub fn bring(name: String, digest: String, make: Arc<Make>) {
    brought().get_or_insert_default().insert(name, Brought { digest, make });
}

/// The policy of that name, if there is one.
pub(super) fn find(name: &str) -> Option<Brought> {
    brought().as_ref().and_then(|all| all.get(name)).cloned()
}

fn brought() -> MutexGuard<'static, Option<HashMap<String, Brought>>> {
    BROUGHT.lock().unwrap_or_else(PoisonError::into_inner)
}
