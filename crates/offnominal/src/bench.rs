//! The benchmark: a campaign becomes cells, the cells run on all cores, and their results become tables and a report.
//!
//! | layer      | a cell is                                                   | and needs                        |
//! |------------|-------------------------------------------------------------|----------------------------------|
//! | nominal    | the undisturbed episodes of one role (train, validation …)  | nothing                          |
//! | anomalous  | the disturbed episodes of one anomaly at one strength       | the test episodes, its twins     |
//! | judgement  | one detector, fitted once, judged on every anomaly          | all of the above                 |
//! | diagnosis  | what is said at the alarms of one detector                  | episodes, not those of twins     |
//! | film       | one disturbed episode as a moving picture                   | its anomalous cell               |
//!
//! A cell is a pure function of its specification, whose digest is its name, and everything it needs is named there
//! by digest too. So it does not matter who runs a cell, when, or in which order.

mod assemble;
mod cell;
mod coverage;
mod diagnosis;
mod film;
mod judge;
mod play;
mod queue;
mod returns;
mod rows;
mod scoring;
mod summary;

pub use assemble::results;
pub use cell::{Cell, Layer, Node};
pub use returns::scores;
pub use summary::summary;

use crate::campaign::Plan;
use crate::progress;
use crate::store::{State, Store};
use anyhow::{Context, Result, ensure};

/// The cells of a campaign and where they are kept.
pub struct Bench {
    /// What was asked for.
    pub plan: Plan,
    /// Every cell, each after those it needs.
    pub nodes: Vec<Node>,
    /// Finished cells.
    pub store: Store,
}

impl Bench {
    /// Lays out the cells of a plan.
    ///
    /// # Errors
    /// If a specification cannot be written as JSON.
    pub fn new(plan: Plan, store: Store) -> Result<Bench> {
        let nodes = cell::nodes(&plan)?;
        Ok(Bench { plan, nodes, store })
    }

    /// The cells that are not finished, and a notice for each that is damaged.
    pub fn open(&self) -> (Vec<&Node>, Vec<String>) {
        let mut notices = Vec::new();
        let mut is_open = |node: &&Node| match self.store.state(&node.id) {
            State::Done => false,
            State::Missing => true,
            State::Damaged(why) => {
                notices.push(format!("cell {} is damaged and runs again: {why}", node.id));
                true
            }
        };
        (self.nodes.iter().filter(&mut is_open).collect(), notices)
    }

    /// Runs the given cells, layer after layer, on so many threads.
    ///
    /// # Errors
    /// The first failure, with the cell's name; the cells that were running are finished first.
    pub fn run(&self, open: &[&Node], jobs: usize, quiet: bool) -> Result<()> {
        for layer in Layer::ALL {
            let cells: Vec<&Node> = open.iter().filter(|n| n.cell.layer() == layer).copied().collect();
            if cells.is_empty() {
                continue;
            }
            let bar = progress::bar(quiet, cells.len(), layer.title());
            // Where there are fewer cells than cores, a cell may use several.
            let inner = (jobs / cells.len()).max(1);
            let done = queue::run(jobs, cells.len(), |i| {
                let done = self.run_one(cells[i], inner);
                bar.inc(1);
                done
            });
            bar.finish_and_clear();
            done?;
        }
        Ok(())
    }

    /// Runs one cell and keeps its files.
    ///
    /// # Errors
    /// If it fails, or what it needs is not finished.
    pub fn run_one(&self, node: &Node, jobs: usize) -> Result<()> {
        let files = self.files(node, jobs).with_context(|| format!("cell {} ({})", node.id, node.cell))?;
        self.store.keep(&node.id, &files)
    }

    fn files(&self, node: &Node, jobs: usize) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let cast = &self.plan.stages[node.stage].cast;
        let mut files = match &node.cell {
            Cell::Nominal(cell) => play::nominal(cell, cast)?,
            Cell::Anomalous(cell) => play::anomalous(cell, cast, &self.store)?,
            Cell::Judgement(cell) => judge::judge(cell, cast, &self.store, jobs)?,
            Cell::Diagnosis(cell) => diagnosis::diagnose(cell, cast, &self.store, jobs)?,
            Cell::Film(cell) => film::film(cell, cast, &self.store)?,
        };
        files.push(("spec.json", node.spec.clone().into_bytes()));
        Ok(files)
    }

    /// The cell of that name, or of a unique beginning of it.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, id: &str) -> Result<&Node> {
        let found: Vec<&Node> = self.nodes.iter().filter(|n| n.id.starts_with(id)).collect();
        ensure!(
            found.len() == 1,
            "expected the name of one cell of this campaign (see --plan), found {id:?}, which fits {}",
            found.len()
        );
        Ok(found[0])
    }
}
