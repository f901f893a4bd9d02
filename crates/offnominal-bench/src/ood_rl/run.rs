//! Runs cells, and reads finished ones.

use crate::ood_rl::cell::Cell;
use crate::ood_rl::play::{self, ROWS};
use crate::ood_rl::{Agent, Judged};
use anyhow::{Context as _, Result};
use offnominal_engine::context::Context;
use offnominal_files::store::{State, Store};
use offnominal_files::table;
use std::path::Path;

/// Runs the cells that are not finished, each on so many threads, and returns how many these were.
///
/// # Errors
/// If a cell fails or cannot be kept; it is named.
pub fn run<'a>(
    plan: impl Iterator<Item = &'a (Cell, Agent)>,
    store: &Store,
    context: &Context,
) -> Result<usize> {
    let mut open = Vec::new();
    for (cell, agent) in plan {
        let id = cell.id()?;
        if store.state(&id) != State::Done {
            open.push((cell, agent, id));
        }
    }
    for (i, (cell, agent, id)) in open.iter().enumerate() {
        let name = format!("{} {} {} ({} of {})", cell.env, cell.method.id(), cell.trial, i + 1, open.len());
        let bar = context.task(play::settings(cell.env).len(), &name);
        let files = play::files(cell, &agent.policy, context.jobs, &bar)
            .with_context(|| format!("cell {id} ({name})"))?;
        store.save(id, &files)?;
    }
    store.sweep();
    Ok(open.len())
}

/// The rows of finished cells, and the environments of the others.
///
/// # Errors
/// If a finished cell cannot be read.
pub fn collect(plan: &[(Cell, Agent)], store: &Store) -> Result<(Vec<Judged>, Vec<&'static str>)> {
    let (mut rows, mut open) = (Vec::new(), Vec::new());
    for (cell, _) in plan {
        let id = cell.id()?;
        if store.state(&id) == State::Done {
            rows.extend(table::from_csv::<Judged>(&store.read(&id, ROWS)?, Path::new(&id))?);
        } else {
            open.push(cell.env);
        }
    }
    open.dedup();
    Ok((rows, open))
}
