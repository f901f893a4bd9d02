//! A monitor whose threshold follows benign drift, made of an older one and of later nominal recordings.

use crate::chosen::Truth;
use crate::recordings;
use crate::source::in_folders;
use anyhow::{Context as _, Result, ensure};
use offnominal_engine::context::Context;
use offnominal_engine::fit::FittedMonitor;
use offnominal_engine::monitor_file;
use offnominal_engine::recalibrate::{confirm, write};
use offnominal_monitor::{ConfirmError, Recalibration};
use offnominal_work::fitted::nominal;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// What to make the monitor of.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// File of the older monitor.
    pub monitor: PathBuf,
    /// Logs of later nominal recordings.
    pub logs: Vec<PathBuf>,
    /// A mapping with the channels of the monitor; without one, that of the fit.
    pub map: Option<PathBuf>,
    /// How the threshold follows them.
    pub how: Recalibration,
    /// The file to write.
    pub file: PathBuf,
}

/// A monitor's file, and which recordings its threshold has followed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecalibratedOnLogs {
    /// The file.
    #[serde(flatten)]
    pub fitted: FittedMonitor,
    /// Recordings that were confirmed.
    pub confirmed: usize,
}

/// Reads the logs, confirms their nominal recordings in the order of time, and writes the file.
///
/// # Errors
/// If a file cannot be read or written, the logs have other channels or no nominal recording, or a recording is of a task that
/// the monitor does not know.
pub fn run(request: &Request, context: &Context) -> Result<RecalibratedOnLogs> {
    let mut monitor = monitor_file::open(&request.monitor)?;
    let mapping = recordings::mapping_of(monitor.about(), request.map.as_deref())
        .with_context(|| format!("monitor {}", request.monitor.display()))?;
    let how = request.how;
    let logs = in_folders(&request.logs)?;
    let read = recordings::read(&logs, &mapping, Truth::Needed, context)?.all;
    let why_not = recordings::not_for_fit(&read);
    let (all, mut left_out) = nominal(read.into_iter().map(|one| (one.name(), one)), why_not)?;
    let mut confirmed = 0;
    for recording in &all {
        context.check()?;
        let group = recording.task.as_deref().filter(|_| monitor.about().groups.is_some());
        match confirm(&mut monitor, group, &recording.signals(&mapping), &how) {
            Ok(_) => confirmed += 1,
            Err(why) if matches!(why.downcast_ref(), Some(ConfirmError::Known)) => {
                left_out.push(format!("{}: {why}", recording.name()));
            }
            Err(why) => return Err(why.context(recording.name())),
        }
    }
    ensure!(
        confirmed > 0,
        "expected recordings that are new to the monitor, found none; the first: {}",
        left_out[0]
    );
    let fitted = FittedMonitor { left_out, ..write(&monitor, &request.file)? };
    Ok(RecalibratedOnLogs { fitted, confirmed })
}

impl Display for RecalibratedOnLogs {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "{} recordings confirmed, {} left out", self.confirmed, self.fitted.left_out.len())?;
        write!(out, "{}", self.fitted)
    }
}
