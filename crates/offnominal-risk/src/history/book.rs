//! What became of episodes, as far as they were played, so that a history that was cut off goes on where it was.

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
    /// What simulates an environment that Python hosts: versions, and digests of the user's modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulator: Option<String>,
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
    /// The smallest margin of each episode, in environments that have margins; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    margins: Vec<f64>,
}

/// What became of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Played {
    /// Whether it failed.
    pub failed: bool,
    /// The place where it failed, of those that its initial condition leads past.
    pub place: Option<u32>,
    /// Its smallest margin.
    pub margin: Option<f64>,
}

impl Block {
    fn of((policy, noise): (usize, usize), episodes: Range<usize>, played: &[Played]) -> Block {
        let numbered = || episodes.clone().zip(played).filter(|(_, came)| came.failed);
        let places: Option<Vec<u32>> = numbered().map(|(_, came)| came.place).collect();
        let margins: Option<Vec<f64>> = played.iter().map(|came| came.margin).collect();
        Block {
            policy,
            noise,
            failed: numbered().map(|(episode, _)| episode).collect(),
            places: places.unwrap_or_default(),
            margins: margins.unwrap_or_default(),
            episodes,
        }
    }

    fn played(&self) -> Vec<Played> {
        let first = self.episodes.start;
        let one = |i: usize| Played { margin: self.margins.get(i).copied(), ..Played::default() };
        let mut all: Vec<Played> = (0..self.episodes.len()).map(one).collect();
        for (i, &episode) in self.failed.iter().enumerate() {
            let came = &mut all[episode - first];
            (came.failed, came.place) = (true, self.places.get(i).copied());
        }
        all
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
        for (i, Block { episodes, failed, places, margins, .. }) in blocks.iter().enumerate() {
            let expected = episodes.len();
            ensure!(
                expected <= BLOCK,
                "{JOURNAL}, block {i}: expected at most {BLOCK} episodes, found {expected}"
            );
            ensure!(
                margins.is_empty() || margins.len() == expected,
                "{JOURNAL}, block {i}: expected a margin for each of {expected} episodes, found {}",
                margins.len()
            );
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

    /// What became of the first `n` episodes of a policy at a level of noise; `play` says it of those that are new.
    ///
    /// # Errors
    /// If blocks do not follow one another, or new ones cannot be played or written.
    pub fn played(
        &mut self,
        (policy, noise): (usize, usize),
        n: usize,
        play: impl Fn(Range<usize>) -> Result<Vec<Played>>,
    ) -> Result<Vec<Played>> {
        let mut all: Vec<Played> = Vec::new();
        for block in self.blocks.iter().filter(|b| (b.policy, b.noise) == (policy, noise)) {
            let (done, first) = (all.len(), block.episodes.start);
            ensure!(first == done, "{JOURNAL}: expected episode {done} next, found {first}");
            all.extend(block.played());
        }
        while all.len() < n {
            let episodes = all.len()..(all.len() + BLOCK).min(n);
            let played = play(episodes.clone())?;
            self.record.push(&Block::of((policy, noise), episodes, &played))?;
            all.extend(played);
        }
        all.truncate(n);
        Ok(all)
    }
}

/// Name of the journal in a folder.
pub const JOURNAL: &str = "episodes.jsonl";
