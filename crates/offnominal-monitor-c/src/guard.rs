//! Every call goes through here: a panic becomes a status, and its monitor or stream is not used again.

use crate::fault::{Done, Fault, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call without a monitor.
pub(crate) fn call(work: impl FnOnce() -> Done) -> Status {
    run(work).unwrap_or_else(|fault| fault.tell())
}

/// What is not used again after a panic.
pub(crate) trait Poison {
    fn is_poisoned(&mut self) -> &mut bool;
}

/// A call with a monitor or a stream.
pub(crate) fn call_with<T: Poison>(
    handle: Result<&mut T, Fault>,
    work: impl FnOnce(&mut T) -> Done,
) -> Status {
    handle.and_then(|handle| run_with(handle, work)).unwrap_or_else(|fault| fault.tell())
}

/// Nothing that the work has left half-done is looked at again: it is marked.
pub(crate) fn run_with<T: Poison>(handle: &mut T, work: impl FnOnce(&mut T) -> Done) -> Done {
    if *handle.is_poisoned() {
        return Err(Fault::Poisoned);
    }
    let done = run(|| work(handle));
    *handle.is_poisoned() = matches!(done, Err(Fault::Panicked(_)));
    done
}

fn run(work: impl FnOnce() -> Done) -> Done {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(Fault::panicked(payload.as_ref())))
}
