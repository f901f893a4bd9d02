//! Gives one mutant after the other to a reader, and counts what that takes.

use crate::Target;
use crate::mutate::mutant;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most bytes that a reader may hold at a time.
pub const MOST_BYTES: u64 = 1 << 30;

/// The most time that a reader may take.
pub const MOST_TIME: Duration = Duration::from_secs(20);

/// Where and why the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Gives mutants `from..to` to the reader and writes a line before each, and for each defect.
///
/// The lines are `begin N`, `panic N WHY`, `memory N BYTES`, `slow N MILLISECONDS`, and at the end `done ACCEPTED PEAK
/// SLOWEST`. Whoever reads them knows which mutant it was when none comes any more.
///
/// # Errors
/// If nobody reads the lines.
pub fn child(
    target: &Target,
    seeds: &[Vec<u8>],
    seed: u64,
    (from, to): (u64, u64),
    out: &mut impl Write,
) -> std::io::Result<()> {
    std::panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string().replace('\n', " ");
    }));
    let (mut accepted, mut peak, mut slowest) = (0, 0, Duration::ZERO);
    for index in from..to {
        let bytes = mutant(target, seeds, seed, index);
        writeln!(out, "begin {index}")?;
        out.flush()?;
        let (mut outcome, begun) = (Ok(false), Instant::now());
        let used = allocation_counter::measure(|| {
            outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(&bytes)));
        });
        let took = begun.elapsed();
        match outcome {
            Ok(is_accepted) => accepted += u64::from(is_accepted),
            Err(_) => {
                writeln!(out, "panic {index} {}", PANIC.lock().unwrap_or_else(PoisonError::into_inner))?;
            }
        }
        if used.bytes_max > MOST_BYTES {
            writeln!(out, "memory {index} {}", used.bytes_max)?;
        }
        if took > MOST_TIME {
            writeln!(out, "slow {index} {}", took.as_millis())?;
        }
        (peak, slowest) = (peak.max(used.bytes_max), slowest.max(took));
    }
    writeln!(out, "done {accepted} {peak} {}", slowest.as_millis())
}
