//! What a monitor is told of an episode, and what it answers.

use crate::fault::Status;
use crate::handle::Handle;
use crate::types::{Event, Verdict};
use crate::{guard, pointer};
use offnominal_core::transition::Transition;
use std::ffi::c_char;

/// An episode begins: nothing is remembered of the one before, not even an alarm.
///
/// Errors: POINTER, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_reset(monitor: *mut Handle) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, Handle::reset)
}

/// An episode of a group begins, such as one of a task: as `offnominal_reset`, with the threshold of that group.
///
/// `group` is UTF-8 that a zero ends, and one of the groups that the file was fitted with; `offnominal_about` lists them.
///
/// Errors: POINTER, UNREADABLE if the text is not UTF-8, GROUP if there is no such group, PANICKED, POISONED. After all but the
/// last two the monitor is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_reset_group(monitor: *mut Handle, group: *const c_char) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives the address of a text that a zero ends, or null.
        handle.reset_group(unsafe { pointer::text(group, "group")? })
    })
}

/// One tick of the clock: the observation that was just read, and the action that the policy gives for it.
///
/// The verdict is on the step that ends with this observation, so the first call of an episode returns NO_VERDICT.
/// `obs` has `n_obs` numbers and `action` has `n_action`, as many as `offnominal_n_obs` and `offnominal_n_action` say, in
/// the order of their names and in the units of their channels. A number that is infinite or not a number was not read; the
/// verdict counts them. `verdict` is written where OK is returned, and only there.
///
/// Errors: POINTER, WIDTH, REFUSED if single precision cannot hold a number, PANICKED, POISONED. After all but the last two the monitor is as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_step(
    monitor: *mut Handle,
    obs: *const f64,
    n_obs: usize,
    action: *const f64,
    n_action: usize,
    verdict: *mut Verdict,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives addresses of so many numbers and of a verdict, or null.
        let (obs, action, to) = unsafe {
            (
                pointer::values(obs, n_obs, 1, "obs")?,
                pointer::values(action, n_action, 1, "action")?,
                pointer::place(verdict, "verdict")?,
            )
        };
        handle.step(obs, action, to)
    })
}

/// The observation after which there is no action, as the episode has ended. `offnominal_reset` begins the next one.
///
/// Arguments, results and errors are those of `offnominal_step`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_last(
    monitor: *mut Handle,
    obs: *const f64,
    n_obs: usize,
    verdict: *mut Verdict,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives addresses of so many numbers and of a verdict, or null.
        let (obs, to) =
            unsafe { (pointer::values(obs, n_obs, 1, "obs")?, pointer::place(verdict, "verdict")?) };
        handle.last(obs, to)
    })
}

/// A whole transition, which must begin where the one before it ended: `obs` and `next_obs` have `n_obs` numbers each,
/// `action` has `n_action`. There is always a verdict.
///
/// Errors: those of `offnominal_step`, and GAP if a step is missing, or a reset.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_transition(
    monitor: *mut Handle,
    obs: *const f64,
    n_obs: usize,
    action: *const f64,
    n_action: usize,
    next_obs: *const f64,
    verdict: *mut Verdict,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives addresses of so many numbers and of a verdict, or null.
        let (obs, action, next_obs, to) = unsafe {
            (
                pointer::values(obs, n_obs, 1, "obs")?,
                pointer::values(action, n_action, 1, "action")?,
                pointer::values(next_obs, n_obs, 1, "next_obs")?,
                pointer::place(verdict, "verdict")?,
            )
        };
        handle.transition(&Transition { obs, action, next_obs }, to)
    })
}

/// Somebody has seen the alarm: it goes off, and can be raised again. `event` gets CLEARED, or NONE if there was no alarm.
///
/// Errors: POINTER, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_acknowledge(monitor: *mut Handle, event: *mut Event) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives the address of an event, or null.
        handle.acknowledge(unsafe { pointer::place(event, "event")? })
    })
}
