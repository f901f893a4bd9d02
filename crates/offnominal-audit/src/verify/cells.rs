//! Cells of an audit or a campaign, once more: some are taken away, and the command that made the results does what is
//! missing, in a process of its own.

use super::Request;
use super::command::{give, without_origin};
use crate::evidence::bundle::Bundle;
use crate::evidence::kind::Kind;
use anyhow::{Context as _, Result, ensure};
use offnominal_core::Rng;
use offnominal_files::read;
use offnominal_risk::recompute::Recomputed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name of the file that has the digests of a cell.
const DONE: &str = "done.json";

/// Cells that are done once more, at most: each costs up to minutes.
const MOST: usize = 20;

/// Does some cells once more.
///
/// # Errors
/// If the command cannot be given again, or fails.
pub fn again(
    bundle: &Bundle,
    request: &Request,
    (inputs, results): (&Path, &Path),
    rng: &mut Rng,
) -> Result<Recomputed> {
    let cells: Vec<PathBuf> = cells(bundle, results);
    ensure!(!cells.is_empty(), "expected cells among the results, found none");
    let n = request.sample.min(MOST).min(cells.len());
    let mut order: Vec<usize> = (0..cells.len()).collect();
    rng.shuffle(&mut order);
    let mut before = BTreeMap::new();
    for &i in &order[..n] {
        before.insert(&cells[i], read::text(&cells[i].join(DONE))?);
        std::fs::remove_dir_all(&cells[i]).with_context(|| cells[i].display().to_string())?;
    }
    give(&bundle.manifest.made.command, request, (inputs, results))?;
    let mut differences = Vec::new();
    for (cell, done) in before {
        let name = cell.strip_prefix(results).unwrap_or(cell).display();
        match read::text(&cell.join(DONE)) {
            Ok(again) if again == done => {}
            Ok(_) => differences.push(format!("cell {name}: expected the same files, found others")),
            Err(_) => differences.push(format!("cell {name}: the command does not make it")),
        }
    }
    differences.extend(result(bundle, results)?);
    let (of, n) = (cells.len() as u64, n as u64);
    Ok(Recomputed { what: "cells".into(), of, n, failures: 0, differences })
}

/// How the result differs from the one that follows from the cells.
fn result(bundle: &Bundle, results: &Path) -> Result<Option<String>> {
    // The results of a campaign as JSON have the time that it took.
    let name =
        if bundle.manifest.kind == Kind::Bench { "results.csv" } else { bundle.manifest.kind.result() };
    let stated = bundle
        .files
        .get(&format!("results/{name}"))
        .with_context(|| format!("expected {name}, found none"))?;
    let found = read::bytes(&results.join(name))?;
    let is_same = match bundle.manifest.kind {
        Kind::Audit => without_origin(stated)? == without_origin(&found)?,
        _ => *stated == found,
    };
    Ok((!is_same).then(|| format!("{name}: expected what follows from the cells, found something else")))
}

/// The folders of all cells.
fn cells(bundle: &Bundle, results: &Path) -> Vec<PathBuf> {
    let within = |name: &String| name.strip_prefix("results/").map(PathBuf::from);
    let is_cell = |path: &PathBuf| {
        let above = path.parent().and_then(Path::parent).and_then(Path::file_name);
        path.ends_with(DONE) && above.is_some_and(|name| name == "cells")
    };
    let found = bundle.files.keys().filter_map(within).filter(is_cell);
    found.filter_map(|path| path.parent().map(|cell| results.join(cell))).collect()
}
