//! What a monitor is: its widths, the names of its channels, and its header.

use crate::handle::{Channel, Handle};
use crate::pointer;
use std::ffi::{CString, c_char};

/// Numbers per observation; 0 if `monitor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_n_obs(monitor: *const Handle) -> usize {
    // SAFETY: the caller gives a monitor that is open, or null.
    unsafe { pointer::shared(monitor) }.map_or(0, |handle| handle.texts.observation.len())
}

/// Numbers per action; 0 if `monitor` is NULL, or if there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_n_action(monitor: *const Handle) -> usize {
    // SAFETY: the caller gives a monitor that is open, or null.
    unsafe { pointer::shared(monitor) }.map_or(0, |handle| handle.texts.action.len())
}

/// The name of a number of the observation, as UTF-8; NULL if there is no such number or `monitor` is NULL.
///
/// The text stays until the monitor is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_obs_name(monitor: *const Handle, channel: usize) -> *const c_char {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    address(handle.ok().and_then(|h| h.texts.observation.get(channel)).map(name))
}

/// The unit of a number of the observation; as `offnominal_obs_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_obs_unit(monitor: *const Handle, channel: usize) -> *const c_char {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    address(handle.ok().and_then(|h| h.texts.observation.get(channel)).map(unit))
}

/// 1 if the sensor of a number of the observation is lost: it was not read for longer than the file allows. 0 if it is not,
/// if there is no such number or `monitor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_is_lost(monitor: *const Handle, channel: usize) -> i32 {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    i32::from(handle.is_ok_and(|handle| handle.is_lost(channel)))
}

/// How many faults a diagnosis can name, as it was taught so many; 0 if none, or if `monitor` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_n_hypotheses(monitor: *const Handle) -> usize {
    // SAFETY: the caller gives a monitor that is open, or null.
    unsafe { pointer::shared(monitor) }.map_or(0, |handle| handle.texts.anomalies.len())
}

/// The name of a number of the action; as `offnominal_obs_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_action_name(monitor: *const Handle, channel: usize) -> *const c_char {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    address(handle.ok().and_then(|h| h.texts.action.get(channel)).map(name))
}

/// The unit of a number of the action; as `offnominal_obs_name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_action_unit(monitor: *const Handle, channel: usize) -> *const c_char {
    // SAFETY: the caller gives a monitor that is open, or null.
    let handle = unsafe { pointer::shared(monitor) };
    address(handle.ok().and_then(|h| h.texts.action.get(channel)).map(unit))
}

/// The header of the monitor's file as JSON: detector, environment and policy, channels, seconds per step, the threshold
/// with its rule and alpha, and the settings of the alarm. NULL if `monitor` is NULL.
///
/// The text stays until the monitor is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_about(monitor: *const Handle) -> *const c_char {
    // SAFETY: the caller gives a monitor that is open, or null.
    address(unsafe { pointer::shared(monitor) }.ok().map(|handle| &handle.texts.about))
}

fn name(channel: &Channel) -> &CString {
    &channel.name
}

fn unit(channel: &Channel) -> &CString {
    &channel.unit
}

fn address(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}
