//! Episodes that a monitor knows: it learned from them, they set its threshold, or they were confirmed. One that comes
//! again says nothing new, and would set a threshold that is too low; so they are known by the digest of their numbers,
//! whatever the names and formats of their files.
//!
//! A number that was not read counts as the last one that was, as it does for what detectors learn from.

use offnominal_core::archive::{Archive, ArchiveError, Number};
use offnominal_core::detector::Signals;
use std::collections::HashSet;

/// Where the digests lie in a file.
const KNOWN: &str = "known";

/// Start and factor of the hash FNV-1a of 64 bits, which is the same on each machine.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0100_0000_01b3;

/// The digest of an episode as far as it has come.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    hash: u64,
    held: [Vec<f32>; 2],
}

impl Trace {
    /// Of episodes with so many numbers per observation and per action.
    pub fn new(widths: [usize; 2]) -> Trace {
        Trace { hash: START, held: widths.map(|width| vec![f32::NAN; width]) }
    }

    /// An episode begins with an observation.
    pub fn first(&mut self, obs: &[f32]) {
        self.hash = START;
        self.held.iter_mut().for_each(|held| held.fill(f32::NAN));
        self.add(0, obs);
    }

    /// The action that follows.
    pub fn act(&mut self, action: &[f32]) {
        self.add(1, action);
    }

    /// The observation that follows the action.
    pub fn next(&mut self, obs: &[f32]) {
        self.add(0, obs);
    }

    fn add(&mut self, which: usize, row: &[f32]) {
        for (held, &x) in self.held[which].iter_mut().zip(row) {
            // The sum makes one zero of both.
            *held = if x.is_finite() { x + 0.0 } else { *held };
            self.hash = (self.hash ^ u64::from(held.to_bits())).wrapping_mul(FACTOR);
            self.hash ^= self.hash >> 32;
        }
    }
}

/// The digest of a whole episode.
pub fn digest(episode: &Signals<'_>) -> u64 {
    let mut trace = Trace::new([episode.obs_width(), episode.act_width()]);
    trace.first(&episode.observations()[..episode.obs_width()]);
    for seen in episode.transitions() {
        trace.act(seen.action);
        trace.next(seen.next_obs);
    }
    trace.hash
}

/// Writes the digests of the episodes behind a monitor into what its file holds.
pub fn remember<'s>(archive: &mut Archive, episodes: impl Iterator<Item = &'s Signals<'s>>) {
    Known { digests: episodes.map(digest).collect() }.save(archive);
}

/// The digests of the episodes that a monitor knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    digests: Vec<u64>,
}

impl Known {
    /// Those of a file; none if it does not say.
    pub fn load(archive: &Archive) -> Result<Known, ArchiveError> {
        if !archive.lists.contains_key(KNOWN) {
            return Ok(Known::default());
        }
        Ok(Known { digests: archive.reader(0, 0).list(KNOWN)?.to_vec() })
    }

    pub fn save(&self, archive: &mut Archive) {
        if !self.digests.is_empty() {
            archive.lists.insert(KNOWN.into(), u64::wrap(&self.digests));
        }
    }

    /// Whether the episode is one of them. Where most nominal episodes are equal to one another anyway, as in a game without
    /// chance, none is.
    pub fn has(&self, episode: &Trace) -> bool {
        let differ = || self.digests.iter().collect::<HashSet<_>>().len() * 2 > self.digests.len();
        self.digests.contains(&episode.hash) && differ()
    }

    pub fn add(&mut self, episode: &Trace) {
        self.digests.push(episode.hash);
    }
}
