//! Pointers of C become references here, and nowhere else.
//!
//! What can be seen in an address is looked at: null, and alignment. What cannot is the caller's promise, which is the
//! header's: as many values as are said are at the address, and nobody else changes them until the call returns.

use crate::fault::Fault;
use crate::handle::Handle;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// A monitor that was opened and not closed.
///
/// # Safety
/// As [`opened`].
pub(crate) unsafe fn handle<'a>(at: *mut Handle) -> Result<&'a mut Handle, Fault> {
    // SAFETY: the caller promises the same.
    unsafe { opened(at, "monitor") }
}

/// What was opened and not closed.
///
/// # Safety
/// The address is null, or came from `open` and was not closed; no other thread uses it before the reference ends.
pub(crate) unsafe fn opened<'a, T>(at: *mut T, what: &'static str) -> Result<&'a mut T, Fault> {
    usable(at, what)?;
    // SAFETY: it is not null; the caller promises the rest.
    Ok(unsafe { &mut *at })
}

/// The same to read.
///
/// # Safety
/// As [`opened`].
pub(crate) unsafe fn shared<'a, T>(at: *const T) -> Result<&'a T, Fault> {
    usable(at, "what was opened")?;
    // SAFETY: it is not null; the caller promises the rest.
    Ok(unsafe { &*at })
}

/// `rows` times `width` values to read. The address may be null if there are none.
///
/// # Safety
/// That many values are at the address, unless it is null, until the reference ends.
pub(crate) unsafe fn values<'a, T>(
    at: *const T,
    rows: usize,
    width: usize,
    what: &'static str,
) -> Result<&'a [T], Fault> {
    let len = count::<T>(rows, width, what)?;
    if len == 0 {
        return Ok(&[]);
    }
    usable(at, what)?;
    // SAFETY: it is not null, aligned, and not too long; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(at, len) })
}

/// A place for a result, which may hold anything before.
///
/// # Safety
/// A value fits at the address, unless it is null, and nobody else uses it until the reference ends.
pub(crate) unsafe fn place<'a, T>(at: *mut T, what: &'static str) -> Result<&'a mut MaybeUninit<T>, Fault> {
    usable(at, what)?;
    // SAFETY: it is not null, and aligned; any bytes are a `MaybeUninit`; the caller promises the rest.
    Ok(unsafe { &mut *at.cast::<MaybeUninit<T>>() })
}

/// Places for results. The address may be null if there are none.
///
/// # Safety
/// As [`place`], for that many values.
pub(crate) unsafe fn places<'a, T>(
    at: *mut T,
    n: usize,
    what: &'static str,
) -> Result<&'a mut [MaybeUninit<T>], Fault> {
    let len = count::<T>(n, 1, what)?;
    if len == 0 {
        return Ok(&mut []);
    }
    usable(at, what)?;
    // SAFETY: it is not null, aligned, and not too long; any bytes are a `MaybeUninit`; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(at.cast::<MaybeUninit<T>>(), len) })
}

/// A text that a zero ends.
///
/// # Safety
/// There is a zero at or after the address, unless it is null, and the text stays until the reference ends.
pub(crate) unsafe fn text<'a>(at: *const c_char, what: &'static str) -> Result<&'a str, Fault> {
    usable(at, what)?;
    // SAFETY: it is not null; the caller promises the rest.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| Fault::Utf8(what))
}

/// Gives something away; `reclaim` takes it back.
pub(crate) fn give<T>(what: T) -> *mut T {
    Box::into_raw(Box::new(what))
}

/// Takes back what `give` gave; nothing if it is null.
///
/// # Safety
/// The address is null, or came from `give` and was not taken back.
pub(crate) unsafe fn reclaim<T>(at: *mut T) -> Option<Box<T>> {
    // SAFETY: the caller promises where it came from.
    (!at.is_null()).then(|| unsafe { Box::from_raw(at) })
}

fn usable<T>(at: *const T, what: &'static str) -> Result<(), Fault> {
    if at.is_null() || !at.is_aligned() { Err(Fault::Pointer(what)) } else { Ok(()) }
}

/// How many values there are, if memory can hold so many.
fn count<T>(rows: usize, width: usize, what: &'static str) -> Result<usize, Fault> {
    let len = rows.checked_mul(width);
    let fits =
        |len: &usize| len.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    len.filter(fits).ok_or(Fault::TooMany(what))
}
