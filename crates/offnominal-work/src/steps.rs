//! What a monitor says of every step of episodes, as a table.

use anyhow::Result;
use offnominal_core::alarm::State;
use offnominal_monitor::Verdict;
use std::io::Write;

/// Writes the verdicts with the labels of their steps as CSV, which `offnominal metrics` reads.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    out: impl Write,
    episodes: impl Iterator<Item = impl Iterator<Item = (Verdict, bool)>>,
) -> Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(["episode", "step", "score", "label", "statistic", "alarm"])?;
    for (i, steps) in episodes.enumerate() {
        for (verdict, label) in steps {
            let flags = [label, verdict.state == State::Raised].map(u8::from);
            out.serialize((i, verdict.step, verdict.score, flags[0], verdict.statistic, flags[1]))?;
        }
    }
    Ok(out.flush()?)
}
