//! `score`: alarms in logs, with the page, the table of alarms and the table of steps that the command line writes.

use crate::answer::{Parts, said};
use anyhow::{Context as _, Result};
use offnominal_logs::chosen::Truth;
use offnominal_logs::source::Log;
use offnominal_logs::{recordings, score};
use offnominal_monitor::{About, FileError, Monitor, decode};
use offnominal_work::context::Context;
use std::path::Path;

pub(crate) fn run(
    (name, file): (&Path, &[u8]),
    mapping: Option<&str>,
    logs: &[Log],
    context: &Context,
) -> Result<Parts> {
    let place = || format!("monitor {}", name.display());
    let mut monitor = open(file).with_context(place)?;
    let mapping = recordings::mapping_in(monitor.about(), mapping).with_context(place)?;
    let recordings = recordings::read(logs, &mapping, Truth::IfThere, context)?;
    let found = score::of(&mut monitor, recordings, &mapping, context)?;
    Ok(vec![said(&found)?, found.page()?.into_bytes(), found.table()?, found.steps()?])
}

/// Brings a monitor back. A detector that looks inside the policy finds none here.
fn open(file: &[u8]) -> Result<Monitor, FileError> {
    let (about, archive): (About, _) = decode(file)?;
    Monitor::new(about, &archive, &offnominal_detectors::catalogue(), None)
}
