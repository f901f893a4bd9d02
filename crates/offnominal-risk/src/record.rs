//! What a run has found so far, in the journal of its output folder; nothing is kept of a run without a folder.

use anyhow::{Context as _, Result, ensure};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_engine::progress::{Silent, Task};
use offnominal_files::journal::Journal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The journal of a run, if it has a folder.
pub struct Record(Option<Journal>);

impl Record {
    /// Opens the journal with this name in a folder, and reads the blocks that are there.
    ///
    /// # Errors
    /// If it belongs to another run, is damaged, or cannot be read or written.
    pub fn open<S, B>(folder: Option<&Path>, name: &str, run: &S) -> Result<(Record, Vec<B>)>
    where
        S: Serialize + DeserializeOwned + PartialEq,
        B: DeserializeOwned,
    {
        let Some(folder) = folder else { return Ok((Record(None), vec![])) };
        let (journal, blocks) = Journal::open(&folder.join(name), run)?;
        Ok((Record(Some(journal)), blocks))
    }

    /// Adds a block.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, block: &impl Serialize) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |journal| journal.push(block))
    }
}

/// A block of pairs of episodes, as a journal keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block<P> {
    number: u64,
    pairs: Vec<P>,
}

/// Blocks of pairs, one after the other, between which somebody looks: those of the journal first.
pub struct Blocks<P> {
    record: Record,
    known: VecDeque<Block<P>>,
    /// Pairs of a block.
    size: u64,
    next: u64,
}

impl<P: Serialize + DeserializeOwned + Send> Blocks<P> {
    /// Those that the journal with this name in a folder holds; `check` refuses pairs that cannot have come of the run.
    ///
    /// # Errors
    /// If it is the journal of another run, a block cannot have come of it, or it cannot be read or written.
    pub fn open<S>(
        (folder, journal): (Option<&Path>, &str),
        run: &S,
        size: u64,
        check: impl Fn(&[P]) -> Result<()>,
    ) -> Result<Blocks<P>>
    where
        S: Serialize + DeserializeOwned + PartialEq,
    {
        let (record, known) = Record::open::<_, Block<P>>(folder, journal, run)?;
        for (i, Block { number, pairs }) in known.iter().enumerate() {
            let (place, found) = (|| format!("{journal}, block {i}"), pairs.len());
            ensure!(*number == i as u64, "{}: expected block {i}, found {number}", place());
            ensure!(found as u64 == size, "{}: expected {size} pairs, found {found}", place());
            check(pairs).with_context(place)?;
        }
        Ok(Blocks { record, known: known.into(), size, next: 0 })
    }

    /// The pairs of the next block: what the journal holds, or what is played now, which is then recorded.
    ///
    /// # Errors
    /// If a pair cannot be played, the block cannot be written, or the work was asked to stop.
    pub fn next(
        &mut self,
        jobs: usize,
        context: &Context,
        play: impl Fn(u64) -> Result<P> + Sync,
    ) -> Result<Vec<P>> {
        let number = self.next;
        self.next += 1;
        if let Some(block) = self.known.pop_front() {
            return Ok(block.pairs);
        }
        let hidden = Task::begin(&Silent, Arc::clone(&context.stop), 0..0, "");
        let first = number * self.size;
        let pairs = parallel::map(jobs, self.size as usize, &hidden, |i| play(first + i as u64))?;
        let block = Block { number, pairs };
        self.record.push(&block)?;
        Ok(block.pairs)
    }
}

/// Pieces of work that do not depend on one another, each with its number.
pub struct Numbered<'a, S> {
    /// Where the journal is.
    pub folder: Option<&'a Path>,
    /// Name of the journal.
    pub journal: &'static str,
    /// What the work is called.
    pub what: &'static str,
    /// Which run it is.
    pub run: &'a S,
}

impl<S: Serialize + DeserializeOwned + PartialEq> Numbered<'_, S> {
    /// The pieces 0, …, n − 1; those that the journal does not hold yet are made on all threads.
    ///
    /// # Errors
    /// If the journal belongs to another run, a piece cannot be made, or the work is asked to stop.
    pub fn all<B>(&self, n: u64, context: &Context, make: impl Fn(u64) -> Result<B> + Sync) -> Result<Vec<B>>
    where
        B: Piece,
    {
        let (record, mut found) = Record::open::<S, B>(self.folder, self.journal, self.run)?;
        let (record, mut known) = (Mutex::new(record), HashSet::new());
        for (i, piece) in found.iter().enumerate() {
            let (place, number) = (|| format!("{}, block {i}", self.journal), piece.number());
            ensure!(known.insert(number), "{}: expected number {number} once, found it again", place());
            piece.check().with_context(place)?;
        }
        let open: Vec<u64> = (0..n).filter(|i| !known.contains(i)).collect();
        found.extend(context.map(open.len(), self.what, |k| {
            let piece = make(open[k])?;
            record.lock().expect("no piece panics while it is written").push(&piece)?;
            Ok(piece)
        })?);
        found.sort_by_key(B::number);
        found.retain(|piece| piece.number() < n);
        Ok(found)
    }
}

/// What comes of one piece of numbered work.
pub trait Piece: Serialize + DeserializeOwned + Send {
    /// Its number.
    fn number(&self) -> u64;

    /// Refuses what cannot have come of it.
    ///
    /// # Errors
    /// If it holds such a thing.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Computes `work` for ranges that cover 0, …, n − 1 on all threads and joins the results in order.
///
/// # Errors
/// The first error in order, or that the work is asked to stop.
pub fn in_chunks<T: Send + Clone>(
    context: &Context,
    range: Range<u64>,
    chunk: u64,
    work: impl Fn(Range<u64>) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let hidden = Task::begin(&Silent, Arc::clone(&context.stop), 0..0, "");
    let n = (range.end - range.start).div_ceil(chunk) as usize;
    let chunks = parallel::map(context.jobs, n, &hidden, |c| {
        let from = range.start + chunk * c as u64;
        work(from..(from + chunk).min(range.end))
    })?;
    Ok(chunks.concat())
}
