//! The file of a probe: safetensors with a JSON header and a digest of everything, as monitors have it.

use super::about::About;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::archive::Archive;
use offnominal_core::limits::{COLUMNS, EPISODES, OBSERVATION, WINDOW};
use offnominal_monitor::{FileError, seal, unseal};
use serde::Deserialize;
use std::fmt::Display;

/// The version of the header that this program writes and reads.
pub const FORMAT: u32 = 1;
/// Bytes of a name.
const LONGEST: usize = 1000;

/// The bytes of a probe.
pub(super) fn encode(about: &About, archive: &Archive) -> Vec<u8> {
    seal(serde_json::to_string(about).expect("a header is valid JSON"), archive)
}

/// Reads a probe; what its detector learned is not looked at yet.
pub(super) fn decode(bytes: &[u8]) -> Result<(About, Archive)> {
    let (header, archive) = unseal(bytes)?;
    version(&header)?;
    let about: About =
        serde_json::from_str(&header).context("expected the header of a failure probe, found another")?;
    check(&about)?;
    Ok((about, archive))
}

/// The digest that a file states and the one that it has, where an error says that they differ; for tests of mutants.
pub fn digest_error(error: &anyhow::Error) -> Option<(&str, &str)> {
    match error.downcast_ref::<FileError>()? {
        FileError::Edited { expected, found } => Some((expected, found)),
        _ => None,
    }
}

/// The version is looked at before anything else, so that a newer file is called newer and not broken.
fn version(header: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Version {
        probe: u32,
    }
    let Version { probe } = serde_json::from_str(header)
        .context("expected a file written by `offnominal rollouts fit`, found a file of something else")?;
    ensure!(probe == FORMAT, "expected version {FORMAT} of a failure probe, found {probe}");
    Ok(())
}

/// Refuses what no fit writes.
fn check(about: &About) -> Result<()> {
    within("signals", about.signals.len(), 0..=COLUMNS)?;
    within("embedding", about.embedding, 0..=OBSERVATION)?;
    within("tasks", about.tasks.len(), 1..=EPISODES)?;
    about.executed.map_or(Ok(()), |n| within("executed", n, 1..=WINDOW))?;
    let alpha = about.alpha;
    ensure!(0.0 < alpha && alpha < 1.0, "alpha: expected a share above 0 and below 1, found {alpha}");
    for (name, task) in about.tasks.iter().map(|task| (&task.name, task)) {
        ensure!(
            name.len() <= LONGEST,
            "task: expected a name of at most {LONGEST} bytes, found {}",
            name.len()
        );
        let is_sound = task.threshold.is_none_or(f64::is_finite);
        ensure!(is_sound, "task {name:?}: expected a finite threshold, found {:?}", task.threshold);
    }
    let is_sorted = about.tasks.is_sorted_by(|a, b| a.name < b.name);
    ensure!(is_sorted, "tasks: expected names in ascending order, found others");
    Ok(())
}

fn within(what: &str, found: usize, range: std::ops::RangeInclusive<usize>) -> Result<()> {
    let (low, high): (&dyn Display, &dyn Display) = (range.start(), range.end());
    ensure!(range.contains(&found), "{what}: expected {low} to {high}, found {found}");
    Ok(())
}
