//! JSON lines: one object per line.

use super::json;
use super::nested::Nested;
use crate::record::{Sink, Topic};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, Read};

/// Longest line that is read.
const MAX_LINE: usize = 16 << 20;

/// Reads all lines.
///
/// # Errors
/// If a line is too long or is not an object, or the sink refuses a row.
pub fn read(mut from: impl BufRead, sink: &mut dyn Sink) -> Result<()> {
    if !sink.topic(0, &Topic { name: String::new(), kind: "JSON lines".into(), is_timed: false })? {
        return Ok(());
    }
    let (mut into, mut line) = (Nested::new(0), Vec::new());
    for number in 1.. {
        line.clear();
        let read = from.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        ensure!(read <= MAX_LINE, "line {number}: expected at most {MAX_LINE} bytes, found more");
        if read == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        json::read(&line, None, &mut into, sink).with_context(|| format!("line {number}"))?;
    }
    Ok(())
}
