//! A monitor begins and ends; why a call failed; which library this is.

use crate::fault::{Status, last_text};
use crate::guard;
use crate::handle::Handle;
use crate::{pointer, types};
use std::ffi::c_char;

/// The version of the library, such as "0.1.0". Which files it opens is decided by the version of their format.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The number of the library's interface. A program whose OFFNOMINAL_ABI is another one must not call anything else.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_abi() -> u32 {
    types::ABI
}

/// Why the last call that failed in this thread has failed: what was expected, and what was found. Empty if none has.
///
/// The text stays until the next call fails in this thread, or the thread ends. A call that succeeds leaves it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn offnominal_last_error() -> *const c_char {
    last_text()
}

/// Opens a file that `offnominal fit` wrote.
///
/// `path` is UTF-8 and ends with a zero. `monitor` gets the monitor, or NULL if the call fails; the caller closes it.
///
/// Errors: POINTER, UNREADABLE, and FILE if it is damaged, was edited, has another version, or needs the policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_open(path: *const c_char, monitor: *mut *mut Handle) -> Status {
    guard::call(|| {
        // SAFETY: the caller gives addresses of a text and of a pointer, or null.
        let (path, to) = unsafe { (pointer::text(path, "path"), pointer::place(monitor, "monitor")?) };
        let to = to.write(std::ptr::null_mut());
        *to = pointer::give(Handle::open(path?)?);
        Ok(Status::Ok)
    })
}

/// Opens the contents of such a file, which are not needed any longer when the call returns.
///
/// `bytes` has `n_bytes`. `monitor` gets the monitor, or NULL if the call fails; the caller closes it.
///
/// Errors: POINTER, WIDTH if memory cannot hold so many, and FILE as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_open_bytes(
    bytes: *const u8,
    n_bytes: usize,
    monitor: *mut *mut Handle,
) -> Status {
    guard::call(|| {
        // SAFETY: the caller gives addresses of so many bytes and of a pointer, or null.
        let (bytes, to) =
            unsafe { (pointer::values(bytes, n_bytes, 1, "bytes"), pointer::place(monitor, "monitor")?) };
        let to = to.write(std::ptr::null_mut());
        *to = pointer::give(Handle::from_bytes(bytes?)?);
        Ok(Status::Ok)
    })
}

/// Ends a monitor; the pointer and all texts of the monitor are invalid afterwards. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_close(monitor: *mut Handle) {
    guard::call(|| {
        // SAFETY: the caller gives what `open` gave, once, or null.
        drop(unsafe { pointer::reclaim(monitor) });
        Ok(Status::Ok)
    });
}
