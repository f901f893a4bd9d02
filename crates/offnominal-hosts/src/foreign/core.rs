//! The core that a thread of the engine shares with the threads of Python that it asks.
//!
//! The two take turns, so that one core is enough for both; and handing over within a core is a switch of threads, where
//! between cores an idle one must be woken, which takes longer than a cheap step (see docs/reference/performance.md). Linux only:
//! elsewhere nothing is shared.

use std::cell::Cell;
use std::thread::ThreadId;

/// A core of the machine.
pub(super) type Core = usize;

/// How a thread stays on its core: which one, and how many values ask for it.
#[derive(Clone, Copy)]
struct Held {
    core: Core,
    times: u32,
}

thread_local! {
    static HELD: Cell<Option<Held>> = const { Cell::new(None) };
}

/// While this value lives, the thread that made it stays on one core.
pub(super) struct Stay {
    thread: ThreadId,
}

impl Stay {
    /// Keeps this thread on the core on which it runs now, or on one that fewer threads have taken; none where the system does not allow that.
    pub(super) fn here() -> Option<Stay> {
        let held = match HELD.get() {
            Some(held) => Held { times: held.times + 1, ..held },
            None => Held { core: system::stay()?, times: 1 },
        };
        HELD.set(Some(held));
        Some(Stay { thread: std::thread::current().id() })
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // Another thread is not ours to free; episodes end where they began.
        if let Some(held) = HELD.get().filter(|_| std::thread::current().id() == self.thread) {
            let left = Held { times: held.times - 1, ..held };
            HELD.set((left.times > 0).then_some(left));
            if left.times == 0 {
                system::leave(held.core);
            }
        }
    }
}

/// The core on which this thread stays.
pub(super) fn of_this_thread() -> Option<Core> {
    HELD.get().map(|held| held.core)
}

/// Moves a thread of another process to a core, or lets it run on all.
pub(super) fn bring(thread: i32, core: Option<Core>) {
    system::bring(thread, core);
}

#[cfg(target_os = "linux")]
mod system {
    use super::Core;
    use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

    /// The cores on which threads of this process stay, once for each thread.
    static TAKEN: Mutex<Vec<Core>> = Mutex::new(Vec::new());

    fn taken() -> MutexGuard<'static, Vec<Core>> {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cores on which this process may run.
    fn allowed() -> Option<CpuSet> {
        static ALLOWED: OnceLock<Option<CpuSet>> = OnceLock::new();
        *ALLOWED.get_or_init(|| sched_getaffinity(None).ok())
    }

    /// Keeps this thread on the core on which it is, or on one that fewer threads have taken.
    pub(super) fn stay() -> Option<Core> {
        let (here, allowed) = (sched_getcpu(), allowed().filter(|cores| cores.count() > 1)?);
        let mut taken = taken();
        let load = |core: &Core| (taken.iter().filter(|other| *other == core).count(), *core != here);
        let core = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).min_by_key(load)?;
        set(None, Some(core)).then(|| taken.push(core))?;
        Some(core)
    }

    /// Lets this thread run on all cores.
    pub(super) fn leave(core: Core) {
        set(None, None);
        let mut taken = taken();
        if let Some(at) = taken.iter().position(|&other| other == core) {
            taken.swap_remove(at);
        }
    }

    /// Lets a thread of another process run on one core only, or on all. One that has ended is none to be moved.
    pub(super) fn bring(thread: i32, core: Option<Core>) {
        if let Some(thread) = Pid::from_raw(thread) {
            set(Some(thread), core);
        }
    }

    fn set(thread: Option<Pid>, core: Option<Core>) -> bool {
        let one = |core| {
            let mut set = CpuSet::new();
            set.set(core);
            set
        };
        core.map(one).or_else(allowed).is_some_and(|set| sched_setaffinity(thread, &set).is_ok())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Core;

    pub(super) fn stay() -> Option<Core> {
        None
    }

    pub(super) fn leave(_: Core) {}

    pub(super) fn bring(_: i32, _: Option<Core>) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::thread::sched_getaffinity;

    /// One test, for threads of other tests would take cores too.
    #[test]
    fn a_thread_stays_on_a_core_of_its_own_as_long_as_anything_asks_for_it() {
        let cores = || sched_getaffinity(None).unwrap().count();
        let before = cores();
        let Some(first) = Stay::here() else { return };
        let second = Stay::here().unwrap();
        assert_eq!((cores(), of_this_thread().is_some()), (1, true));
        let other = std::thread::spawn(|| Stay::here().and_then(|_stay| of_this_thread())).join().unwrap();
        assert_ne!(other, of_this_thread());
        drop(first);
        assert_eq!(cores(), 1);
        drop(second);
        assert_eq!((cores(), of_this_thread()), (before, None));
        // No thread is freed by another one.
        let third = Stay::here();
        std::thread::spawn(move || drop(third)).join().unwrap();
        assert_eq!((cores(), of_this_thread().is_some()), (1, true));
        system::leave(HELD.take().unwrap().core);
    }
}
