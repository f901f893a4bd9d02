//! The pairs of a comparison, once more: all of them, by the command that made them, in a process of its own.

use super::Request;
use super::command::{give, without_origin};
use crate::evidence::bundle::Bundle;
use anyhow::{Context as _, Result};
use offnominal_files::read;
use offnominal_risk::compare::pairs::JOURNAL;
use offnominal_risk::recompute::Recomputed;
use serde_json::Value;
use std::path::Path;

/// Plays all pairs once more.
///
/// # Errors
/// If the command cannot be given again, or fails.
pub fn again(bundle: &Bundle, request: &Request, (inputs, results): (&Path, &Path)) -> Result<Recomputed> {
    let name = bundle.manifest.kind.result();
    let stated = |name: &str| {
        let bytes = bundle.files.get(&format!("results/{name}"));
        bytes.with_context(|| format!("expected {name}, found none"))
    };
    for name in [name, JOURNAL] {
        std::fs::remove_file(results.join(name)).with_context(|| format!("expected {name}, found none"))?;
    }
    give(&bundle.manifest.made.command, request, (inputs, results))?;
    let (expected, found) = (stated(JOURNAL)?, read::bytes(&results.join(JOURNAL))?);
    let blocks = |bytes: &[u8]| bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let at = blocks(expected).iter().zip(&blocks(&found)).position(|(a, b)| a != b);
    let mut differences = Vec::new();
    if *expected != found {
        let at = at.map_or("its end".into(), |line| format!("line {}", line + 1));
        differences.push(format!("{JOURNAL}, {at}: expected what is played again, found something else"));
    }
    let again = read::bytes(&results.join(name))?;
    if without_origin(stated(name)?)? != without_origin(&again)? {
        differences.push(format!("{name}: expected what follows from the pairs, found something else"));
    }
    let result: Value = serde_json::from_slice(&again)?;
    let n = result["pairs"].as_u64().unwrap_or_default();
    Ok(Recomputed { what: "pairs".into(), of: n, n, failures: 0, differences })
}
