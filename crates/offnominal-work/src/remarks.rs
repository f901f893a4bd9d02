//! What is worth saying once and is no result, from where no context is at hand: a hosted environment in the middle of an
//! episode, a file that is looked for.
//!
//! [`Context::resumed`](crate::context::Context::resumed) hands it on when the next task begins, and whoever ends the
//! command hands on what is left.

use std::sync::{Mutex, MutexGuard, PoisonError};

static WAITING: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says a line at the next occasion, once however often it is said until then.
pub fn say(line: String) {
    let mut waiting = waiting();
    if !waiting.contains(&line) {
        waiting.push(line);
    }
}

/// What waits to be said.
pub fn take() -> Vec<String> {
    std::mem::take(&mut waiting())
}

fn waiting() -> MutexGuard<'static, Vec<String>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}
