//! The roots of a run, in blocks of draws that were tried together.

use super::root::Total;
use anyhow::Result;
use offnominal_core::estimate::Estimate;
use offnominal_stats::Level;
use offnominal_stats::risk::Bounded;
use serde::{Deserialize, Serialize};

/// Draws of a block.
pub const BLOCK: u64 = 100;

/// The roots of some draws.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Roots {
    /// Draws that were tried.
    pub roots: u64,
    /// Copies that came to an end, the roots' own among them.
    pub ends: u64,
    /// Steps of everything.
    pub steps: u64,
    /// Steps of the roots themselves, as if nothing had been copied.
    pub plain_steps: u64,
    /// Copies without an outcome.
    pub diverged: u64,
    /// Chance and total of each root of which a copy failed.
    pub totals: Vec<(f64, f64)>,
}

impl Roots {
    /// One root more, that had this chance to be tried.
    pub fn add(&mut self, chance: f64, total: &Total) {
        self.roots += 1;
        self.ends += total.ends;
        self.steps += total.steps;
        self.plain_steps += total.plain_steps;
        self.diverged += total.diverged;
        if total.failed > 0.0 {
            self.totals.push((chance, total.failed));
        }
    }
}

/// The terms of an estimate that are not zero: a total over its chance to be tried.
pub fn terms(blocks: &[Roots]) -> impl Iterator<Item = f64> + '_ {
    blocks.iter().flat_map(|block| &block.totals).map(|(chance, total)| total / chance)
}

/// The failure probability of some blocks, no term of which is above a bound.
///
/// # Errors
/// If there is no block.
pub fn risk(blocks: &[Roots], bound: f64, level: Level) -> Result<Estimate> {
    let mut found = Bounded::new(bound);
    terms(blocks).for_each(|term| found.push(term));
    found.push_zeros(BLOCK as usize * blocks.len() - found.len());
    Ok(found.estimate(level)?)
}
