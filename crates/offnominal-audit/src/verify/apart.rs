//! Parts of a bundle once more in a confined process: a bundle may be anybody's.

use super::Request;
use super::command::{last_line, process};
use crate::evidence::bundle::Bundle;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use offnominal_engine::context::Context;
use offnominal_files::confined;
use offnominal_risk::recompute::Recomputed;
use serde_json::Value;

/// Gives the bundle to this program again, in a process that is confined to a folder of its own.
///
/// # Errors
/// If the process cannot be started, or could not do the parts once more; the message is its own.
pub fn again(bundle: &Bundle, request: &Request, seed: u64, context: &Context) -> Result<Recomputed> {
    let folder = tempfile::tempdir().context("a folder for the process that checks")?;
    let copy = folder.path().join("bundle.zip");
    // The bytes that were read and compared, whatever becomes of the file.
    bundle.write(&copy)?;
    let _shown = context.task(1, "parts once more");
    let mut verify = process(&request.program)?;
    verify.arg("verify").arg(&copy).args(["--json", "--quiet"]);
    verify.args(["--sample", &request.sample.to_string(), "--sample-seed", &seed.to_string()]);
    verify.args(["--jobs", &context.jobs.to_string()]);
    verify.env(confined::FOLDER, folder.path()).env("TMPDIR", folder.path());
    let ended = verify.output().context("cannot run this program")?;
    let report: Value =
        serde_json::from_slice(&ended.stdout).map_err(|_| anyhow!(last_line(&ended.stderr)))?;
    found(&report)
}

/// What the report of the process says of the parts.
fn found(report: &Value) -> Result<Recomputed> {
    let check = report["checks"].as_array().into_iter().flatten().find(|check| check["what"] == "once more");
    let check = check.context("expected a report of what was done once more, found none")?;
    if report["recomputed"].is_null() {
        let why = check["found"].as_str().unwrap_or_default();
        bail!("{}", why.strip_prefix("not possible: ").unwrap_or(why));
    }
    let recomputed: Recomputed = serde_json::from_value(report["recomputed"].clone())?;
    let is_right = check["holds"] == true;
    ensure!(is_right == recomputed.differences.is_empty(), "the process contradicts itself: {check}");
    Ok(recomputed)
}
