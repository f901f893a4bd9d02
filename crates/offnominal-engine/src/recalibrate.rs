//! A monitor whose threshold follows benign drift: made of an older one and of later episodes that somebody calls nominal.

use crate::context::Context;
use crate::fit::{FittedMonitor, are_by, nominal};
use crate::monitor_file;
use anyhow::{Context as _, Result};
use offnominal_core::detector::Signals;
use offnominal_files::dataset::{self, PolicyName};
use offnominal_files::write::atomically;
use offnominal_monitor::{Monitor, Recalibrated, Recalibration, encode};
use std::path::{Path, PathBuf};

/// What to make the monitor of.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// File of the older monitor.
    pub monitor: PathBuf,
    /// A dataset of later nominal episodes, in their order.
    pub data: PathBuf,
    /// How the threshold follows them.
    pub how: Recalibration,
    /// The file to write.
    pub file: PathBuf,
}

/// Confirms the episodes one after the other, and writes the file.
///
/// # Errors
/// If a file cannot be read or written, or the episodes are of another environment or policy, or no nominal ones, or the monitor
/// knows one of them.
pub fn run(request: &Request, context: &Context) -> Result<FittedMonitor> {
    let mut monitor = monitor_file::open(&request.monitor)?;
    let dataset = dataset::load(&request.data)?;
    let place = || format!("dataset {}", request.data.display());
    monitor_file::check(&monitor, &dataset).with_context(place)?;
    let acted = &monitor.about().policy;
    let policy = PolicyName { id: acted.id.clone(), digest: acted.digest.clone() };
    are_by(&dataset.recipe, &policy).with_context(place)?;
    let how = request.how;
    let (episodes, left_out) = nominal(dataset.episodes, &request.data)?;
    for (i, episode) in episodes.iter().enumerate() {
        context.check()?;
        confirm(&mut monitor, None, &episode.signals(), &how)
            .with_context(|| format!("{}, nominal episode {i}", place()))?;
    }
    Ok(FittedMonitor { left_out, ..write(&monitor, &request.file)? })
}

/// Lets a monitor watch an episode, perhaps of a group, and confirms it.
///
/// # Errors
/// If the monitor has no such group, a step cannot be scored, the monitor knows the episode, or the threshold promises no share of
/// false alarms.
pub fn confirm<X: Copy + Into<f64>>(
    monitor: &mut Monitor,
    group: Option<&str>,
    episode: &Signals<'_, X>,
    how: &Recalibration,
) -> Result<Recalibrated> {
    monitor.begin(group)?;
    for seen in episode.transitions() {
        monitor.transition(&seen)?;
    }
    Ok(monitor.confirm(how)?)
}

/// Writes a monitor as it is now.
///
/// # Errors
/// If the detector cannot be kept or the file cannot be written.
pub fn write(monitor: &Monitor, file: &Path) -> Result<FittedMonitor> {
    let (about, archive) = monitor.contents()?;
    let bytes = encode(&about, &archive);
    atomically(file, &bytes)?;
    Ok(FittedMonitor {
        file: file.into(),
        bytes: bytes.len(),
        monitor: about,
        left_out: vec![],
        warnings: vec![],
    })
}
