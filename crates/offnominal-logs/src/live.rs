//! Ticks of the clock out of a stream that is watched while it is recorded.

use crate::chosen::{Chosen, Truth};
use crate::formats;
use crate::mapping::Mapping;
use crate::record::Sink;
use anyhow::{Context, Result};
use offnominal_topics::budget::Whole;
pub use offnominal_topics::live::{Live, Tick, Ticks};
use offnominal_work::remarks;
use std::io::BufRead;

/// Reads a stream and tells its ticks as they come; how many rows were dropped.
///
/// # Errors
/// If the stream is damaged, lacks a column of the mapping, or a tick cannot be taken.
pub fn read(from: impl BufRead + 'static, mapping: &Mapping, strict: bool, to: impl Ticks) -> Result<u64> {
    let mut chosen = Chosen::new(mapping, Live::new(mapping, to));
    let read = || -> Result<u64> {
        let whole: &mut dyn Sink = &mut chosen;
        if strict {
            formats::read_stream(from, &mut Whole(whole))
        } else {
            formats::read_stream(from, whole)
        }?;
        chosen.check(Truth::IfThere)?;
        chosen.remarks().into_iter().for_each(remarks::say);
        chosen.rows.finish()?;
        Ok(chosen.rows.dropped())
    };
    read().context("standard input")
}

#[cfg(test)]
mod tests;
