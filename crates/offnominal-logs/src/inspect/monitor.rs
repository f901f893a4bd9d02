//! What a monitor's file says of itself, for whoever connects it to a machine.

use super::Request;
use anyhow::{Context as _, Result, ensure};
use offnominal_files::read;
use offnominal_files::write::atomically;
use offnominal_monitor::{About, ChannelName, decode, is_monitor};
use offnominal_work::fitted::Alarm;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::io::Read;
use std::path::{Path, PathBuf};

/// So many bytes tell a monitor from a log.
const FIRST: u64 = 64;

/// What a monitor needs, and what it promises.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InspectedMonitor {
    /// The file.
    pub file: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// Steps per second.
    pub rate_hz: f64,
    /// Whether it must be told the commands too.
    pub needs_commands: bool,
    /// What it says of itself.
    pub monitor: About,
}

/// Describes the one file of a request, if it is a monitor, whatever its detector needs to be opened; its mapping is written
/// where that was asked for.
///
/// # Errors
/// If it is damaged, there are others beside it, it cannot be written what was asked for, or it has none.
pub fn of(request: &Request) -> Result<Option<InspectedMonitor>> {
    let Some(path) = monitor_among(&request.logs)? else { return Ok(None) };
    let place = || format!("monitor {}", path.display());
    ensure!(request.logs.len() == 1, "{}: expected it alone, found {} files", place(), request.logs.len());
    ensure!(request.report.is_none(), "{}: expected no --report, which is for logs", place());
    ensure!(request.against.is_empty(), "{}: expected no --against, which is for logs", place());
    let bytes = read::bytes(path)?;
    let (about, _) = decode(&bytes).with_context(place)?;
    if let Some(map) = &request.map {
        let mapping = about.mapping.as_ref();
        let mapping = mapping.with_context(|| format!("{}: expected a mapping, found none", place()))?;
        atomically(map, mapping.as_bytes())?;
    }
    Ok(Some(InspectedMonitor {
        file: path.into(),
        bytes: bytes.len(),
        rate_hz: 1.0 / about.dt_secs,
        needs_commands: about.act_width() > 0,
        monitor: about,
    }))
}

/// The first file that begins as a monitor does.
fn monitor_among(files: &[PathBuf]) -> Result<Option<&Path>> {
    for path in files.iter().filter(|path| path.is_file()) {
        let mut first = Vec::new();
        read::open(path)?.take(FIRST).read_to_end(&mut first)?;
        if is_monitor(&first) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

impl Display for InspectedMonitor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let InspectedMonitor { file, bytes, rate_hz, monitor: about, .. } = self;
        let (detector, n) = (&about.detector, about.train_episodes);
        let (env, policy) = (&about.environment.id, &about.policy.id);
        writeln!(out, "{}: monitor of format {}, {bytes} bytes", file.display(), about.format)?;
        writeln!(out, "detector: {}, learned from {n} episodes of {env}, policy {policy}", detector.id)?;
        writeln!(out, "parameters: {}", detector.params)?;
        writeln!(out, "steps: one each {} s ({rate_hz:.4} Hz){}", about.dt_secs, longest(about))?;
        channels(out, "observation", &about.observation)?;
        channels(out, "command", &about.action)?;
        write!(out, "{}", Alarm(about))?;
        let told = if about.diagnoses { "with each alarm" } else { "none" };
        write!(out, "\ndiagnosis: {told}")?;
        about.mapping.iter().try_for_each(|mapping| write!(out, "\n\n{}", mapping.trim_end()))
    }
}

/// For how many steps of an episode the promise holds.
fn longest(about: &About) -> String {
    let steps = about.threshold.longest;
    steps.map_or(String::new(), |n| format!("; nothing is promised beyond {n} steps of an episode"))
}

/// What it reads at each step.
fn channels(out: &mut Formatter<'_>, what: &str, channels: &[ChannelName]) -> fmt::Result {
    match channels.len() {
        0 => writeln!(out, "{what}: none is needed")?,
        1 => writeln!(out, "{what}: 1 number at each step")?,
        n => writeln!(out, "{what}: {n} numbers at each step, in this order")?,
    }
    for ChannelName { name, unit, reference } in channels {
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        let less = if *reference == 0.0 { String::new() } else { format!(", reference {reference}") };
        writeln!(out, "  {name}{unit}{less}")?;
    }
    Ok(())
}
