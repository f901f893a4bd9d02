//! Which episodes failed, as far as they were played, so that a history that was cut off goes on where it was.

use crate::estimate::block::one_after_another;
use crate::record::Record;
use anyhow::{Context as _, Result, ensure};
use offnominal_engine::scenario::Scenario;
use offnominal_files::dataset::PolicyName;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// Who is played, and how; a journal belongs to one of these. More episodes may be asked for later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistorySpec {
    /// The environment.
    pub env: String,
    /// The policies.
    pub policies: Vec<PolicyName>,
    /// The levels of noise.
    pub noises: Vec<f64>,
    /// The seed.
    pub seed: u64,
    /// What is drawn for each episode, and by what one fails, where something is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
}

/// Some episodes of one policy at one level of noise; where they began follows from the seed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    policy: usize,
    noise: usize,
    episodes: Range<usize>,
    failed: Vec<usize>,
    /// Where each failed, in environments whose episodes lead past places; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<u32>,
}

/// An episode that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// Its number.
    pub episode: usize,
    /// The place where it failed, of those that its initial condition leads past.
    pub place: Option<u32>,
}

impl Block {
    fn of((policy, noise): (usize, usize), episodes: Range<usize>, failed: &[Failed]) -> Block {
        let places: Option<Vec<u32>> = failed.iter().map(|f| f.place).collect();
        let failed = failed.iter().map(|f| f.episode).collect();
        Block { policy, noise, episodes, failed, places: places.unwrap_or_default() }
    }

    fn failures(&self) -> impl Iterator<Item = Failed> + '_ {
        self.failed
            .iter()
            .enumerate()
            .map(|(i, &episode)| Failed { episode, place: self.places.get(i).copied() })
    }
}

/// All episodes so far.
pub struct Book {
    record: Record,
    blocks: Vec<Block>,
}

/// Episodes per block.
const BLOCK: usize = 512;

impl Book {
    /// What the journal in a folder holds.
    ///
    /// # Errors
    /// If it is the journal of other episodes, or damaged, or cannot be read or written.
    pub fn open(folder: Option<&Path>, spec: &HistorySpec) -> Result<Book> {
        let (record, blocks) = Record::open::<_, Block>(folder, JOURNAL, spec)?;
        for (i, Block { episodes, failed, places, .. }) in blocks.iter().enumerate() {
            ensure!(
                places.is_empty() || places.len() == failed.len(),
                "{JOURNAL}, block {i}: expected a place for each of {} failures, found {}",
                failed.len(),
                places.len()
            );
            let (failed, all) =
                (failed.iter().map(|&f| f as u64), episodes.start as u64..episodes.end as u64);
            one_after_another(failed, all, "failures").with_context(|| format!("{JOURNAL}, block {i}"))?;
        }
        Ok(Book { record, blocks })
    }

    /// Which of the first `n` episodes of a policy at a level of noise failed, and where; `play` says it of those that are new.
    ///
    /// # Errors
    /// If blocks do not follow one another, or new ones cannot be played or written.
    pub fn failed(
        &mut self,
        (policy, noise): (usize, usize),
        n: usize,
        play: impl Fn(Range<usize>) -> Result<Vec<Failed>>,
    ) -> Result<Vec<Failed>> {
        let (mut done, mut all) = (0, Vec::new());
        for block in self.blocks.iter().filter(|b| (b.policy, b.noise) == (policy, noise)) {
            let first = block.episodes.start;
            ensure!(first == done, "{JOURNAL}: expected episode {done} next, found {first}");
            done = block.episodes.end;
            all.extend(block.failures());
        }
        while done < n {
            let episodes = done..(done + BLOCK).min(n);
            let block = Block::of((policy, noise), episodes.clone(), &play(episodes)?);
            self.record.push(&block)?;
            done = block.episodes.end;
            all.extend(block.failures());
        }
        all.retain(|failed| failed.episode < n);
        Ok(all)
    }
}

/// Name of the journal in a folder.
pub const JOURNAL: &str = "episodes.jsonl";
