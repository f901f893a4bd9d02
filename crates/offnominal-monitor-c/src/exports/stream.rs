//! Messages of ROS 2 as they come, and verdicts on the steps that are made of them.

use crate::fault::Status;
use crate::handle::Handle;
use crate::stream::Stream;
use crate::types::{Tick, Verdict};
use crate::{guard, pointer};
use std::ffi::{CString, c_char};

/// The stream of a monitor: messages of ROS 2 go in, and steps at the rate of the monitor's clock come out, as
/// `offnominal monitor` makes them of a recording of the same messages.
///
/// `mapping` is the text of a mapping in TOML that names the monitor's channels, or NULL for that of the monitor's file,
/// which has one if it was fitted on logs. Columns are `topic:field`, such as "/imu:angular_velocity.x". `stream` gets the
/// stream, or NULL if the call fails; the caller closes it. The monitor may be closed before.
///
/// Errors: POINTER, UNREADABLE if the mapping is not UTF-8, and MAPPING.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_open(
    monitor: *const Handle,
    mapping: *const c_char,
    stream: *mut *mut Stream,
) -> Status {
    guard::call(|| {
        // SAFETY: the caller gives a monitor that is open and addresses of a text and of a pointer, or null.
        let (monitor, to) = unsafe { (pointer::shared(monitor), pointer::place(stream, "stream")?) };
        let to = to.write(std::ptr::null_mut());
        // SAFETY: the caller gives the address of a text; null stands for the mapping of the file.
        let given = (!mapping.is_null()).then(|| unsafe { pointer::text(mapping, "mapping") }).transpose()?;
        *to = pointer::give(Stream::open(monitor?.about(), given)?);
        Ok(Status::Ok)
    })
}

/// Ends a stream; the pointer and all texts of the stream are invalid afterwards. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_close(stream: *mut Stream) {
    guard::call(|| {
        // SAFETY: the caller gives what `open` gave, once, or null.
        drop(unsafe { pointer::reclaim(stream) });
        Ok(Status::Ok)
    });
}

/// How many topics the mapping names; 0 if `stream` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_n_topics(stream: *const Stream) -> usize {
    // SAFETY: the caller gives a stream that is open, or null.
    unsafe { pointer::shared(stream) }.map_or(0, Stream::n_topics)
}

/// The name of a topic, as UTF-8; NULL if there is no such topic or `stream` is NULL.
///
/// The text stays until the stream is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_topic(stream: *const Stream, topic: usize) -> *const c_char {
    // SAFETY: the caller gives a stream that is open, or null.
    address(unsafe { pointer::shared(stream) }.ok().and_then(|stream| stream.topic(topic)))
}

/// How many columns the mapping names: those of the observation, those of the action, and perhaps one that tells episodes
/// apart. 0 if `stream` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_n_columns(stream: *const Stream) -> usize {
    // SAFETY: the caller gives a stream that is open, or null.
    unsafe { pointer::shared(stream) }.map_or(0, Stream::n_columns)
}

/// The name of a column; as `offnominal_stream_topic`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_column(stream: *const Stream, column: usize) -> *const c_char {
    // SAFETY: the caller gives a stream that is open, or null.
    address(unsafe { pointer::shared(stream) }.ok().and_then(|stream| stream.column(column)))
}

/// Seconds from the last number of a column to a time; infinite if none has come, there is no such column, or `stream` is
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_age_secs(
    stream: *const Stream,
    column: usize,
    time_nanos: i64,
) -> f64 {
    // SAFETY: the caller gives a stream that is open, or null.
    let stream = unsafe { pointer::shared(stream) };
    stream.map_or(f64::INFINITY, |stream| stream.age_secs(column, time_nanos))
}

/// Steps per second; 0 if each message of the only topic is a step, or if `stream` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_rate_hz(stream: *const Stream) -> f64 {
    // SAFETY: the caller gives a stream that is open, or null.
    unsafe { pointer::shared(stream) }.map_or(0.0, Stream::rate_hz)
}

/// Says of which type the messages of a topic are, before the first of them.
///
/// `kind` is the name of the type, such as "sensor_msgs/msg/Imu". `definition` is the text of its `.msg` file, and after it,
/// for each type that it uses, a line of `=`, a line `MSG: package/Type`, and the text of that type's file.
///
/// Errors: POINTER, UNREADABLE if a text is not UTF-8, MESSAGE, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_define(
    stream: *mut Stream,
    topic: usize,
    kind: *const c_char,
    definition: *const c_char,
) -> Status {
    // SAFETY: the caller gives a stream that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::opened(stream, "stream") }, |stream| {
        // SAFETY: the caller gives addresses of texts, or null.
        let (kind, definition) =
            unsafe { (pointer::text(kind, "kind")?, pointer::text(definition, "definition")?) };
        stream.define(topic, kind, definition)
    })
}

/// A message of a topic, as ROS 2 serializes it (CDR), and when it came, in nanoseconds.
///
/// Steps whose time is before that of the message are over: `offnominal_stream_next` judges them.
///
/// Errors: POINTER, WIDTH, MESSAGE, PANICKED, POISONED. After MESSAGE the message is left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_message(
    stream: *mut Stream,
    topic: usize,
    time_nanos: i64,
    bytes: *const u8,
    n_bytes: usize,
) -> Status {
    // SAFETY: the caller gives a stream that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::opened(stream, "stream") }, |stream| {
        // SAFETY: the caller gives the address of so many bytes, or null.
        let bytes = unsafe { pointer::values(bytes, n_bytes, 1, "bytes")? };
        stream.message(topic, time_nanos, bytes)
    })
}

/// Time has come so far, and no message has: steps before it are over, with the last numbers that came. So a silence of
/// all topics is noticed. Where the mapping says that silence ends an episode, nothing happens.
///
/// Errors: POINTER, MESSAGE if too many steps would be over at once, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_advance(stream: *mut Stream, time_nanos: i64) -> Status {
    // SAFETY: the caller gives a stream that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::opened(stream, "stream") }, |stream| stream.advance(time_nanos))
}

/// The episode is over, and the next message begins one; steps that were not judged yet are forgotten. The clock of the
/// messages may begin anew, even at an earlier time.
///
/// Errors: POINTER, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_end_episode(stream: *mut Stream) -> Status {
    // SAFETY: the caller gives a stream that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::opened(stream, "stream") }, Stream::end_episode)
}

/// Judges the next step that is over: `tick` gets when that was, `verdict` what is said of it. Call it until it returns
/// NO_VERDICT; then both are as they were. Where an episode begins the monitor is reset; it stays with the group that
/// `offnominal_reset_group` told last.
///
/// `monitor` is the one that the stream was opened for.
///
/// Errors: POINTER, WIDTH if the monitor is another one, PANICKED, POISONED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn offnominal_stream_next(
    stream: *mut Stream,
    monitor: *mut Handle,
    tick: *mut Tick,
    verdict: *mut Verdict,
) -> Status {
    // SAFETY: the caller gives a stream that is open and that no other thread uses, or null.
    guard::call_with(unsafe { pointer::opened(stream, "stream") }, |stream| {
        // SAFETY: the caller gives a monitor that is open and that no other thread uses, or null, and addresses of results.
        let (monitor, tick, verdict) = unsafe {
            (pointer::handle(monitor)?, pointer::place(tick, "tick")?, pointer::place(verdict, "verdict")?)
        };
        guard::run_with(monitor, |monitor| stream.next(monitor, tick, verdict))
    })
}

fn address(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}
