//! The calls of C with sound arguments, as functions of Rust.

use offnominal_monitor_c as c;
use offnominal_monitor_c::{Candidate, Deviation, Diagnosis, Event, Handle, Status, Verdict};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// A monitor that is closed at the end.
pub struct Opened(pub *mut Handle);

// SAFETY: the header allows to move a monitor between threads.
unsafe impl Send for Opened {}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: it was opened, and is closed once.
        unsafe { c::offnominal_close(self.0) };
    }
}

/// What a place holds after a call, which has written it if it returns `Ok`.
fn written<T>(status: Status, place: MaybeUninit<T>) -> Result<T, Status> {
    // SAFETY: calls that return `Ok` have written their result.
    if status == Status::Ok { Ok(unsafe { place.assume_init() }) } else { Err(status) }
}

impl Opened {
    pub fn from_bytes(bytes: &[u8]) -> Result<Opened, Status> {
        let mut at = null_mut();
        // SAFETY: both addresses are those of what is said.
        match unsafe { c::offnominal_open_bytes(bytes.as_ptr(), bytes.len(), &mut at) } {
            Status::Ok => Ok(Opened(at)),
            status => {
                assert!(at.is_null());
                Err(status)
            }
        }
    }

    pub fn step(&mut self, obs: &[f64], action: &[f64]) -> Result<Verdict, Status> {
        let mut to = MaybeUninit::uninit();
        // SAFETY: the monitor is open, and the numbers are as many as is said.
        let status = unsafe {
            let (n_obs, n_action) = (obs.len(), action.len());
            c::offnominal_step(self.0, obs.as_ptr(), n_obs, action.as_ptr(), n_action, to.as_mut_ptr())
        };
        written(status, to)
    }

    pub fn last(&mut self, obs: &[f64]) -> Result<Verdict, Status> {
        let mut to = MaybeUninit::uninit();
        // SAFETY: the monitor is open, and the numbers are as many as is said.
        let status = unsafe { c::offnominal_last(self.0, obs.as_ptr(), obs.len(), to.as_mut_ptr()) };
        written(status, to)
    }

    pub fn transition(&mut self, obs: &[f64], action: &[f64], next: &[f64]) -> Result<Verdict, Status> {
        assert_eq!(obs.len(), next.len());
        let mut to = MaybeUninit::uninit();
        let (o, a, n) = (obs.as_ptr(), action.as_ptr(), next.as_ptr());
        // SAFETY: the monitor is open, and the numbers are as many as is said.
        let status =
            unsafe { c::offnominal_transition(self.0, o, obs.len(), a, action.len(), n, to.as_mut_ptr()) };
        written(status, to)
    }

    pub fn reset(&mut self) -> Status {
        // SAFETY: the monitor is open.
        unsafe { c::offnominal_reset(self.0) }
    }

    pub fn reset_group(&mut self, group: &CStr) -> Status {
        // SAFETY: the monitor is open, and a zero ends the text.
        unsafe { c::offnominal_reset_group(self.0, group.as_ptr()) }
    }

    pub fn acknowledge(&mut self) -> Result<Event, Status> {
        let mut to = MaybeUninit::uninit();
        // SAFETY: the monitor is open.
        let status = unsafe { c::offnominal_acknowledge(self.0, to.as_mut_ptr()) };
        written(status, to)
    }

    /// A diagnosis, with the channels in the places that are given.
    pub fn diagnose(&mut self, channels: &mut [Deviation]) -> Result<Diagnosis, Status> {
        let mut to = MaybeUninit::uninit();
        // SAFETY: the monitor is open, and there are as many places as is said.
        let status =
            unsafe { c::offnominal_diagnose(self.0, to.as_mut_ptr(), channels.as_mut_ptr(), channels.len()) };
        written(status, to)
    }
}

impl Opened {
    /// The parts of the score, in the places that are given.
    pub fn shares(&mut self, shares: &mut [f64]) -> Status {
        // SAFETY: the monitor is open, and there are as many places as is said.
        unsafe { c::offnominal_shares(self.0, shares.as_mut_ptr(), shares.len()) }
    }

    /// The named faults, in the places that are given, and how many there are.
    pub fn candidates(&mut self, candidates: &mut [MaybeUninit<Candidate>]) -> Result<usize, Status> {
        let mut n = MaybeUninit::uninit();
        let at = candidates.as_mut_ptr().cast();
        // SAFETY: the monitor is open, and there are as many places as is said.
        let status = unsafe { c::offnominal_candidates(self.0, at, candidates.len(), n.as_mut_ptr()) };
        written(status, n)
    }

    pub fn is_diagnosis_due(&self) -> bool {
        // SAFETY: the monitor is open.
        unsafe { c::offnominal_is_diagnosis_due(self.0) == 1 }
    }
}

/// One tick of all; what each says.
pub fn step_many(
    all: &[*mut Handle],
    obs: &[f64],
    action: &[f64],
    to: &mut [MaybeUninit<Verdict>],
    statuses: &mut [Status],
) -> Status {
    let n = all.len();
    assert!(to.len() == n && statuses.len() == n);
    let (n_obs, n_action) = (obs.len() / n, action.len() / n);
    let (o, a, to, statuses) = (obs.as_ptr(), action.as_ptr(), to.as_mut_ptr().cast(), statuses.as_mut_ptr());
    // SAFETY: the monitors are open or null, and there are as many numbers and places as is said.
    unsafe { c::offnominal_step_many(all.as_ptr(), n, o, n_obs, a, n_action, to, statuses) }
}

/// A text of the library.
pub fn text(at: *const c_char) -> String {
    assert!(!at.is_null());
    // SAFETY: the library ends its texts with a zero, and keeps them.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap().to_string()
}

/// Why the last call failed in this thread.
pub fn last_error() -> String {
    text(c::offnominal_last_error())
}
