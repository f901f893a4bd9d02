//! What an alarm is due to: the parts of the score, and what looks wrong.

use crate::fault::Status;
use crate::handle::Handle;
use crate::types::{Candidate, Deviation, Diagnosis};
use crate::{guard, pointer};

/// Which part of the score of the last step is due to each number of the observation: the parts sum to the score.
///
/// `shares` gets `n_shares` numbers, as many as `offnominal_n_obs` says, in the order of their names. What the score is made of
/// is not yet what is broken, for which there is `offnominal_diagnose`. Returns NO_SHARES before the first verdict of an episode,
/// and if the detector does not tell the parts.
///
/// Errors: POINTER, WIDTH, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_shares(
    monitor: *mut Handle,
    shares: *mut f64,
    n_shares: usize,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives the address of so many numbers, or null.
        handle.shares(unsafe { pointer::places(shares, n_shares, "shares")? })
    })
}

/// 1 if a diagnosis says something new at the last step: at the one that raised the alarm and, where faults can be named, 5 and 20
/// steps after it. 0 if not, or if `monitor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_is_diagnosis_due(monitor: *const Handle) -> i32 {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    i32::from(handle.is_ok_and(Handle::is_diagnosis_due))
}

/// What looks wrong, judging from the last steps of the episode: worth asking when an alarm is raised, and again later,
/// when more is known.
///
/// `diagnosis` gets the answer. `channels` has room for `n_channels` and gets the channels that are off, most deviant
/// first: those that are off by two nominal standard deviations or more, and the first in any case. It may be NULL if
/// `n_channels` is 0. Returns NO_DIAGNOSIS before the first verdict, and if the file was fitted without diagnosis.
///
/// Errors: POINTER, WIDTH if memory cannot hold so many, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_diagnose(
    monitor: *mut Handle,
    diagnosis: *mut Diagnosis,
    channels: *mut Deviation,
    n_channels: usize,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives addresses of a diagnosis and of so many channels, or null.
        let (to, channels) = unsafe {
            (pointer::place(diagnosis, "diagnosis")?, pointer::places(channels, n_channels, "channels")?)
        };
        handle.diagnose(to, channels)
    })
}

/// The named faults that what was seen is compatible with, judging as `offnominal_diagnose` does and at the same cost.
///
/// `candidates` has room for `n_candidates`, and gets those of the most probable family first, and within each the most
/// probable; there are at most as many as `offnominal_n_hypotheses` says. It may be NULL if `n_candidates` is 0. `n_found` gets how
/// many there are; as many as there is room for are written. If there are none, it is another fault than those that were taught.
/// Returns NO_DIAGNOSIS before the first verdict, and if the monitor was not taught to name faults.
///
/// Errors: POINTER, WIDTH if memory cannot hold so many, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_candidates(
    monitor: *mut Handle,
    candidates: *mut Candidate,
    n_candidates: usize,
    n_found: *mut usize,
) -> Status {
    // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::handle(monitor) }, |handle| {
        // SAFETY: the caller gives addresses of so many candidates and of a number, or null.
        let (candidates, n) = unsafe {
            (pointer::places(candidates, n_candidates, "candidates")?, pointer::place(n_found, "n_found")?)
        };
        handle.candidates(candidates, n)
    })
}
