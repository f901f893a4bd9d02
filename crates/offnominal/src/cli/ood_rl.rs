//! `bench --suite ood-rl`: runs what is not finished, then writes tables and figures; or makes the page of them.

use crate::cli::{Common, Outcome};
use anyhow::{Context, Result};
use offnominal_bench::ood_rl::{self, Row};
use offnominal_files::store::Store;
use offnominal_files::write::atomically;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// The rows in the output folder.
const TABLE: &str = "results.csv";

/// Runs the suite and prints what it says in short.
///
/// # Errors
/// If a policy cannot be read, a cell fails, or a file cannot be written.
pub(super) fn run(common: &Common) -> Result<Outcome> {
    let (out, began) = (common.out_or(ood_rl::ID), Instant::now());
    let (plan, store) = (ood_rl::plan()?, Store::new(&out));
    let ran = ood_rl::run(&plan, &store, &common.context())?;
    let (rows, figures) = ood_rl::collect(&plan, &store)?;
    atomically(&out.join(TABLE), &ood_rl::to_csv(&rows)?)?;
    for (name, svg) in &figures {
        atomically(&out.join(name), svg.as_bytes())?;
    }
    let secs = began.elapsed().as_secs_f64();
    if common.json {
        let value = json!({ "suite": ood_rl::ID, "cells": plan.len(), "ran": ran, "rows": rows.len(),
            "table": out.join(TABLE), "wall_secs": secs });
        println!("{value:#}");
    } else {
        println!("{}", ood_rl::summary(&rows));
        println!("{} policies, {ran} of them played in {secs:.0} s; {}", plan.len(), out.display());
    }
    Ok(Outcome::Done)
}

/// Writes the page of the results in the output folder.
///
/// # Errors
/// If they are not there, or the page cannot be written.
pub(super) fn page(path: &Path, common: &Common) -> Result<Outcome> {
    let out = common.out_or(ood_rl::ID);
    atomically(path, ood_rl::page(&rows(&out)?).as_bytes())?;
    Ok(Outcome::Done)
}

fn rows(out: &Path) -> Result<Vec<Row>> {
    let path = out.join(TABLE);
    let bytes = std::fs::read(&path)
        .with_context(|| format!("cannot read {}: run the suite first", path.display()))?;
    ood_rl::from_csv(&bytes, &path)
}
