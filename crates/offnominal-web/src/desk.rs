//! What the page hands over, and what it gets: byte strings, the first of which is JSON.

pub use crate::answer::Parts;
use crate::request::Request;
use crate::{fit, inspect, score};
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use offnominal_logs::source::Log;
use offnominal_work::context::Context;
use offnominal_work::progress::Progress;
use std::path::PathBuf;
use std::sync::Arc;

/// Does what the first byte string asks for with the others.
///
/// # Errors
/// Those of the command; or if the request is none, or has other names than there are byte strings.
pub fn run(given: Parts, progress: Arc<dyn Progress>) -> Result<Parts> {
    let mut given = given.into_iter();
    let request = given.next().context("expected a request, found nothing")?;
    let request: Request = serde_json::from_slice(&request).context("request")?;
    let (names, mut files) = (request.names(), given.map(Bytes::from).collect::<Vec<_>>());
    ensure!(names.len() == files.len(), "expected {} files, found {}", names.len(), files.len());
    let context = |seed| Context { progress, ..Context::silent(seed, 1) };
    match request {
        Request::Inspect { .. } => inspect::run(&logs(names, files), &context(0)),
        Request::Fit { request, mapping, seed } => {
            fit::run(&request, mapping.as_deref(), &logs(names, files), &context(seed))
        }
        Request::Score { monitor, logs: names, mapping, seed } => {
            let file = files.remove(0);
            score::run((&monitor, &file), mapping.as_deref(), &logs(names, files), &context(seed))
        }
    }
}

fn logs(names: Vec<PathBuf>, files: Vec<Bytes>) -> Vec<Log> {
    names.into_iter().zip(files).map(|(name, bytes)| Log::Bytes(name, bytes)).collect()
}
