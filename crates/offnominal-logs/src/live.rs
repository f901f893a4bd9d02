//! Ticks of the clock out of a stream that is watched while it is recorded.

use crate::chosen::{Chosen, Truth};
use crate::formats;
use crate::mapping::Mapping;
use anyhow::{Context, Result};
pub use offnominal_topics::live::{Live, Tick, Ticks};
use offnominal_work::remarks;
use std::io::BufRead;

/// Reads a stream and tells its ticks as they come; how many rows were dropped.
///
/// # Errors
/// If the stream is damaged, lacks a column of the mapping, or a tick cannot be taken.
pub fn read(from: impl BufRead + 'static, mapping: &Mapping, to: impl Ticks) -> Result<u64> {
    let mut chosen = Chosen::new(mapping, Live::new(mapping, to));
    let read = || -> Result<u64> {
        formats::read_stream(from, &mut chosen)?;
        chosen.check(Truth::IfThere)?;
        chosen.remarks().into_iter().for_each(remarks::say);
        chosen.rows.finish()?;
        Ok(chosen.rows.dropped())
    };
    read().context("standard input")
}

#[cfg(test)]
mod tests;
