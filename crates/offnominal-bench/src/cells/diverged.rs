//! Episodes of a campaign without an outcome.

use crate::cells::cell::Cell;
use crate::cells::play::load;
use crate::cells::{Bench, Layer};
use anyhow::Result;
use offnominal_engine::diverged::Diverged;

/// One line for each cell of episodes that has some.
///
/// # Errors
/// If a cell is missing or cannot be read.
pub fn diverged(bench: &Bench) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for node in [Layer::Nominal, Layer::Anomalous].into_iter().flat_map(|layer| bench.layer(layer)) {
        if !matches!(node.cell, Cell::Nominal(_) | Cell::Anomalous(_)) {
            continue;
        }
        let spec = bench.plan.stages[node.stage].subject.env.spec();
        let found = Diverged::of(spec, &load(&bench.store, &node.id)?.episodes);
        if found.episodes > 0 {
            lines.push(format!("{}: {found}", node.cell));
        }
    }
    Ok(lines)
}
