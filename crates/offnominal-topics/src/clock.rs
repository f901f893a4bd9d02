//! When the ticks of a clock are, in nanoseconds.

use anyhow::{Result, ensure};

/// More steps than this are not made of one log: a clock of a wrong unit asks for billions.
const MOST_STEPS: usize = 200_000_000;

/// Number of ticks from a first to a last time, both in nanoseconds.
///
/// # Errors
/// If there are more than anything records.
pub fn n_ticks(start: i64, end: i64, rate_hz: f64) -> Result<usize> {
    // A last tick that is late by rounding counts.
    let n = ((end - start) as f64 * 1e-9 * rate_hz + 1e-6).floor() as usize + 1;
    ensure!(n <= MOST_STEPS, "clock.rate_hz: expected at most {MOST_STEPS} steps in a log, found {n}");
    Ok(n)
}

/// The time of a tick in nanoseconds.
pub fn tick(start: i64, k: usize, rate_hz: f64) -> i64 {
    start.saturating_add((k as f64 * 1e9 / rate_hz).round() as i64)
}

/// Seconds in nanoseconds.
pub fn nanos(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}
