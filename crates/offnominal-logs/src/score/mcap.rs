//! Everything that a monitor says of recordings as an MCAP file, to be opened beside the log: that of `monitor --mcap`, with the
//! times of the log.

use crate::episodes::Recorded;
use crate::recordings::Recordings;
use anyhow::{Result, ensure};
use offnominal_live::{Live, Settings, TickInput};
use offnominal_monitor::{About, VerdictLine};
use offnominal_topics::clock::nanos;
use offnominal_work::context::Context;
use std::path::Path;

/// When an observation was, in nanoseconds of the clock of the log.
fn time(recorded: &Recorded, at: usize) -> i64 {
    recorded.start_nanos + nanos(recorded.secs[at])
}

/// The file, and how many recordings are in it.
pub(super) struct File {
    live: Live,
    widths: [usize; 2],
    n: u64,
}

impl File {
    /// Begins a file for recordings that follow one another.
    ///
    /// # Errors
    /// If there is one already, it cannot be written, or two recordings are at the same time.
    pub fn begin(path: &Path, about: &About, recordings: &Recordings, context: &Context) -> Result<File> {
        for pair in recordings.all.windows(2) {
            ensure!(
                time(&pair[0], pair[0].secs.len() - 1) <= pair[1].start_nanos,
                "mcap: expected recordings one after another, as the file has one clock, found {} and {} at the same time: score one \
                 log at a time",
                pair[0].name(),
                pair[1].name()
            );
        }
        let settings = Settings { mcap: Some(path.into()), ..Settings::default() };
        let live = Live::open(settings, path, about, &context.progress)?;
        Ok(File { live, widths: [about.observation.len(), about.action.len()], n: 0 })
    }

    /// Writes a step, and before the first one of a recording where it begins.
    pub fn step(&mut self, recorded: &Recorded, line: &VerdictLine<'_>) {
        let step = line.verdict.step as usize;
        if step == 0 {
            self.live.first(&self.tick(recorded, 0));
        }
        let said = VerdictLine { episode: self.n, ..line.clone() };
        self.live.step(&self.tick(recorded, step + 1), &said);
        self.n += u64::from(step + 2 == recorded.secs.len());
    }

    fn tick<'r>(&self, recorded: &'r Recorded, at: usize) -> TickInput<'r> {
        let [observed, commanded] = self.widths;
        TickInput {
            time_nanos: time(recorded, at),
            episode: self.n,
            observation: &recorded.observations[at * observed..][..observed],
            action: recorded.commands.get(at * commanded..(at + 1) * commanded),
        }
    }

    /// Writes the index.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(self) -> Result<()> {
        self.live.finish()
    }
}
