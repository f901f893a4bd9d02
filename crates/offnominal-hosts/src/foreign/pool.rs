//! The hosts of this process, which stay alive between commands and their stages.
//!
//! A host is found again by everything on which its processes depend: interpreter, id, folder and variables of the
//! environment. One whose processes ended or whose modules changed is replaced.

use crate::foreign::host::Host;
use crate::foreign::interpreter;
use crate::foreign::wanted::Wanted;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Hosts that are kept while nobody uses them.
const KEPT: usize = 4;

/// What tells hosts apart.
#[derive(Clone, PartialEq)]
struct Key {
    wanted: Wanted,
    python: PathBuf,
    folder: Option<PathBuf>,
    variables: u64,
}

/// The one that was used last comes last.
static HOSTS: Mutex<Vec<(Key, Arc<Host>)>> = Mutex::new(Vec::new());

/// The host of what is wanted: one that is there, or a new one.
pub(super) fn host(wanted: Wanted) -> Arc<Host> {
    let key = Key::of(wanted);
    let known = taken(&key).filter(|host| host.is_fresh());
    let host = known.unwrap_or_else(|| Arc::new(Host::new(key.wanted.clone(), key.python.clone())));
    let surplus = {
        let mut hosts = held();
        hosts.push((key, host.clone()));
        surplus(&mut hosts)
    };
    // Their processes end here, while nobody waits for the list.
    drop(surplus);
    host
}

/// Ends all processes that nobody uses.
pub fn end_all() {
    let all = std::mem::take(&mut *held());
    drop(all);
}

impl Key {
    fn of(wanted: Wanted) -> Key {
        let mut hasher = DefaultHasher::new();
        std::env::vars_os().for_each(|variable| variable.hash(&mut hasher));
        let (folder, variables) = (std::env::current_dir().ok(), hasher.finish());
        Key { wanted, python: interpreter(), folder, variables }
    }
}

fn taken(key: &Key) -> Option<Arc<Host>> {
    let mut hosts = held();
    let at = hosts.iter().position(|(other, _)| other == key)?;
    Some(hosts.remove(at).1)
}

/// Takes out the oldest of those that nobody uses, but for a few.
fn surplus(hosts: &mut Vec<(Key, Arc<Host>)>) -> Vec<(Key, Arc<Host>)> {
    let idle = hosts.iter().filter(|(_, host)| Arc::strong_count(host) == 1).count();
    let mut left = idle.saturating_sub(KEPT);
    let (old, kept) = std::mem::take(hosts).into_iter().partition(|(_, host)| {
        let goes = left > 0 && Arc::strong_count(host) == 1;
        left -= usize::from(goes);
        goes
    });
    *hosts = kept;
    old
}

fn held() -> MutexGuard<'static, Vec<(Key, Arc<Host>)>> {
    HOSTS.lock().unwrap_or_else(PoisonError::into_inner)
}
