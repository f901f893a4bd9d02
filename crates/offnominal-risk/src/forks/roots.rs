//! The roots of a run as its journal keeps them: blocks of draws that were tried together.

use super::{FILE, ForkSpec, root};
use crate::record::Piece;
use anyhow::{Result, ensure};
use offnominal_files::journal::Journal;
use offnominal_files::read;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the journal in a run's folder.
pub const JOURNAL: &str = "roots.jsonl";

/// Draws of a block.
pub const BLOCK: u64 = 100;

/// The roots of some draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roots {
    /// Number of the block.
    pub number: u64,
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
    /// A block without roots.
    pub fn none(number: u64) -> Roots {
        Roots { number, roots: 0, ends: 0, steps: 0, plain_steps: 0, diverged: 0, totals: Vec::new() }
    }

    /// One root more, that had this chance to be tried.
    pub fn add(&mut self, chance: f64, total: &root::Total) {
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

impl Piece for Roots {
    fn number(&self) -> u64 {
        self.number
    }

    fn check(&self) -> Result<()> {
        let is_sound = |(chance, total): &(f64, f64)| {
            *chance > 0.0 && *chance <= 1.0 && *total > 0.0 && *total <= 1.0 + 1e-9
        };
        ensure!(self.totals.iter().all(is_sound), "expected chances and totals above 0, at most 1");
        let (n, roots) = (self.totals.len() as u64, self.roots);
        ensure!(
            n <= roots && roots <= BLOCK,
            "expected at most {BLOCK} roots and as many totals, found {roots} and {n}"
        );
        Ok(())
    }
}

/// What a finished run was, and its blocks in order.
///
/// # Errors
/// If the folder holds no finished run, or its journal is damaged.
pub fn read(folder: &Path) -> Result<(ForkSpec, Vec<Roots>)> {
    #[derive(Deserialize)]
    struct Finished {
        run: ForkSpec,
        draws: u64,
    }
    let Finished { run, draws } = read::json(&folder.join(FILE))?;
    let journal = folder.join(JOURNAL);
    ensure!(journal.is_file(), "{}: expected the journal of a `risk fork`, found none", journal.display());
    let (_, mut blocks) = Journal::open::<ForkSpec, Roots>(&journal, &run)?;
    blocks.iter().try_for_each(Piece::check)?;
    blocks.sort_by_key(Piece::number);
    blocks.retain(|block| block.number < draws / BLOCK);
    let found = blocks.len() as u64;
    ensure!(
        blocks.iter().map(Piece::number).eq(0..draws / BLOCK),
        "{}: expected the {} blocks of the finished run, each once, found {found}",
        journal.display(),
        draws / BLOCK
    );
    Ok((run, blocks))
}
