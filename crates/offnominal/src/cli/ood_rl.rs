//! `bench --suite ood-rl`: runs what is not finished, then writes tables, figures and page.

use super::{Common, Outcome};
use crate::ood_rl::{self, Agent, Cell, Row, Sources};
use crate::store::Store;
use crate::write;
use anyhow::{Result, ensure};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Runs the suite and prints what it says in short.
///
/// # Errors
/// If a policy cannot be read, a cell fails, or a file cannot be written.
pub(super) fn run(common: &Common) -> Result<Outcome> {
    let (out, began) = (common.out_or(ood_rl::ID), Instant::now());
    let (plan, store) = (ood_rl::plan()?, Store::new(&out));
    let ran = ood_rl::run(&plan, &store, common.jobs, common.quiet)?;
    let found = save(&plan, &store, &out)?;
    let secs = began.elapsed().as_secs_f64();
    if common.json {
        let value = json!({ "suite": ood_rl::ID, "cells": plan.len(), "ran": ran, "rows": found.rows.len(),
            "table": out.join("results.csv"), "page": out.join("page.md"), "wall_secs": secs });
        println!("{value:#}");
    } else {
        println!("{}", ood_rl::summary(&found.rows));
        println!("{} policies, {ran} of them played in {secs:.0} s; {}", plan.len(), out.display());
    }
    Ok(Outcome::Done)
}

/// Everything that the finished cells say.
struct Found {
    rows: Vec<Row>,
}

fn save(plan: &[(Cell, Agent)], store: &Store, out: &Path) -> Result<Found> {
    let (rows, figures) = ood_rl::collect(plan, store)?;
    ensure!(!rows.is_empty(), "expected results, found none");
    write::atomically(&out.join("results.csv"), &ood_rl::to_csv(&rows)?)?;
    for (name, svg) in &figures {
        write::atomically(&out.join(name), svg.as_bytes())?;
    }
    let names: Vec<String> = figures.into_iter().map(|(name, _)| name).collect();
    let page = ood_rl::page(&Sources { rows: &rows, figures: &names });
    write::atomically(&out.join("page.md"), page.as_bytes())?;
    Ok(Found { rows })
}
