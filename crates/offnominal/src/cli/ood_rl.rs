//! `bench --suite ood-rl`: runs what is not finished, or makes the page of what is there.

use crate::cli::{Common, Outcome};
use anyhow::Result;
use offnominal_bench::ood_rl;
use offnominal_files::write::atomically;
use std::path::Path;

/// Runs the suite and prints what it says in short.
///
/// # Errors
/// If a policy cannot be read, a cell fails, or a file cannot be written.
pub(super) fn run(common: &Common) -> Result<Outcome> {
    let out = common.out_or(ood_rl::ID);
    let found = ood_rl::run(&out, &common.context())?;
    if common.json {
        println!("{:#}", serde_json::to_value(&found)?);
    } else {
        println!("{}", found.summary);
        let (cells, ran, secs) = (found.cells, found.ran, found.wall_secs);
        println!("{cells} policies, {ran} of them played in {secs:.0} s; {}", out.display());
    }
    Ok(Outcome::Done)
}

/// Writes the page of the results in the output folder.
///
/// # Errors
/// If they are not there, or the page cannot be written.
pub(super) fn page(path: &Path, common: &Common) -> Result<Outcome> {
    atomically(path, ood_rl::page(&ood_rl::load(&common.out_or(ood_rl::ID))?).as_bytes())?;
    Ok(Outcome::Done)
}
