//! What MuJoCo says: warnings are dropped (it counts them itself), errors become values.
//!
//! By default MuJoCo prints, writes a log file, and ends the process at an error. Here an error unwinds the C frames
//! (the bindings use the `C-unwind` convention for that) and is caught by [`guard`], which surrounds every call that
//! can raise one. The unwinding does not run the panic hook, so nothing is printed.

use crate::MujocoError;
use crate::bindings::{Api, mjLOG_ERROR, mjLogMessage};
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// An error on its way out of MuJoCo.
struct Raised(String);

/// Makes this module the receiver of everything that MuJoCo says.
pub(crate) fn install(api: &Api) {
    // SAFETY: the handler has the required signature and lives as long as the process.
    unsafe { (api.mju_setLogHandler)(Some(receive)) };
}

/// Receives one message; does not return if it is an error.
unsafe extern "C-unwind" fn receive(message: *const mjLogMessage) {
    // SAFETY: MuJoCo passes a message that is valid during the call.
    let message = unsafe { &*message };
    if message.level == mjLOG_ERROR as i32 {
        // SAFETY: the subject is a C string in an array of the message.
        let subject = unsafe { CStr::from_ptr(message.subject.as_ptr()) };
        resume_unwind(Box::new(Raised(subject.to_string_lossy().into_owned())));
    }
}

/// Runs calls into MuJoCo; an error raised inside becomes a value.
///
/// What the calls were changing is then in an unknown state: it must be reset or dropped.
pub(crate) fn guard<T>(calls: impl FnOnce() -> T) -> Result<T, MujocoError> {
    catch_unwind(AssertUnwindSafe(calls)).map_err(|panic| match panic.downcast::<Raised>() {
        Ok(raised) => MujocoError::Engine(raised.0),
        Err(other) => resume_unwind(other),
    })
}
