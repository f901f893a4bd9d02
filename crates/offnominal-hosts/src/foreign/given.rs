//! Environments that the program that calls has as objects, each known by a name: how a process of Python makes them.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How the names of such environments begin, after the prefix of hosted ones.
pub(super) const PREFIX: &str = "given:";

static GIVEN: Mutex<Option<HashMap<String, Arc<Value>>>> = Mutex::new(None);

/// Makes an environment known by a name, in place of the one that had it, and returns its id.
///
/// `how` is what `worker/given.py` reads.
pub fn give(name: &str, how: Value) -> String {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.get_or_insert_default().insert(name.into(), Arc::new(how));
    format!("{}{PREFIX}{name}", crate::foreign::PREFIX)
}

/// How the environment of that name is made, if there is one.
pub(super) fn find(name: &str) -> Option<Arc<Value>> {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(name).cloned()
}
