//! Recordings that are good or bad as a whole, as people keep them in two folders.

use crate::mapping::{Episodes, Mapping};
use crate::recordings::Recordings;
use crate::source::{in_folders, shared};
use anyhow::{Result, bail, ensure};
use std::path::PathBuf;

/// Logs, and those that are bad.
///
/// # Errors
/// If a log is on both sides, or a folder holds none.
pub(super) fn logs(good: &[PathBuf], bad: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (good, bad) = (in_folders(good)?, in_folders(bad)?);
    if let Some(both) = shared(&good, &bad) {
        bail!("log {}: expected it among the good or the bad logs, found it among both", both.display());
    }
    Ok((good, bad))
}

/// Says of recordings whether they are bad. A bad log that is cut into windows is one bad stretch.
///
/// # Errors
/// If their labels or outcomes say something, or a bad log has no recording.
pub(super) fn mark(recordings: &mut Recordings, bad: &[PathBuf], mapping: &Mapping) -> Result<()> {
    let is_cut = matches!(mapping.episodes, Episodes::Window { .. });
    for log in bad {
        let has_any = recordings.all.iter().any(|one| one.log == *log);
        ensure!(has_any, "bad: expected a recording with at least one step, found none in {}", log.display());
    }
    for recorded in &mut recordings.all {
        ensure!(
            recorded.labels.is_none() && recorded.success.is_none(),
            "bad: expected logs without labels and outcomes, found some in {}; take them out of the mapping (--map)",
            recorded.name()
        );
        let is_bad = bad.contains(&recorded.log);
        recorded.success = Some(!is_bad);
        recorded.labels = (is_bad && is_cut).then(|| vec![true; recorded.secs.len() - 1]);
    }
    recordings.are_whole = true;
    let said =
        "good and bad recordings are so as a whole: nothing says when a fault began, so no delay is stated";
    recordings.remarks.push(said.into());
    Ok(())
}
