//! The benchmark: a campaign becomes cells, the cells run on all cores, and their results become tables and a report.
//!
//! | layer      | a cell is                                                   | and needs                        |
//! |------------|-------------------------------------------------------------|----------------------------------|
//! | nominal    | the undisturbed episodes of one role (train, validation …)  | nothing                          |
//! | anomalous  | the disturbed episodes of one anomaly at one strength       | the test episodes, its twins     |
//! | judgement  | one detector, fitted once, judged on every anomaly          | all of the above                 |
//! | diagnosis  | what is said at the alarms of one detector                  | episodes, not those of twins     |
//! | video       | one disturbed episode as a moving image                   | its anomalous cell               |
//!
//! A cell is a pure function of its specification, whose digest is its name, and everything it needs is named there
//! by digest too. So it does not matter who runs a cell, when, or in which order.

mod assemble;
mod cell;
mod coverage;
mod diagnosis;
mod diverged;
mod failures;
mod judge;
mod nodes;
mod play;
mod returns;
mod rows;
mod said;
mod scoring;
mod summary;
mod tell;
mod video;

pub use assemble::results;
pub use cell::{Cell, Layer};
pub use diverged::diverged;
pub use nodes::Node;
pub use returns::scores;
pub use summary::{ranked, summary};

use self::failures::Failures;
use self::tell::Tell;
use crate::campaign::Plan;
use anyhow::{Context as _, Result, ensure};
use offnominal_engine::context::Context;
use offnominal_engine::parallel;
use offnominal_files::store::{State, Store};

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
        let nodes = nodes::of(&plan)?;
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

    /// Runs the given cells, layer after layer, on so many threads. A cell that fails stops only those that need it.
    ///
    /// # Errors
    /// The failures, with the names of the cells, once all others are finished.
    pub fn run(&self, open: &[&Node], context: &Context) -> Result<()> {
        let mut failures = Failures::default();
        for layer in Layer::ALL {
            let ready = |n: &&&Node| n.cell.layer() == layer && !failures.prevents(&n.cell);
            let cells: Vec<&Node> = open.iter().filter(ready).copied().collect();
            if cells.is_empty() {
                continue;
            }
            let task = context.task(cells.len(), layer.title());
            // Where there are fewer cells than cores, a cell may use several.
            let inner = (context.jobs / cells.len()).max(1);
            let failed = parallel::run_all(context.jobs, cells.len(), &task, |i| {
                self.run_telling(cells[i], inner, Tell { task: &task, cell: &cells[i].cell })
            });
            failed.into_iter().for_each(|(i, why)| failures.add(cells[i], why));
        }
        failures.into_result()
    }

    /// Runs one cell and keeps its files.
    ///
    /// # Errors
    /// If it fails, what it needs is not finished, or the work was asked to stop.
    pub fn run_one(&self, node: &Node, context: &Context) -> Result<()> {
        let task = context.task(1, node.cell.layer().title());
        self.run_telling(node, context.jobs, Tell { task: &task, cell: &node.cell })
    }

    fn run_telling(&self, node: &Node, jobs: usize, tell: Tell<'_>) -> Result<()> {
        let files =
            self.files(node, jobs, tell).with_context(|| format!("cell {} ({})", node.id, node.cell))?;
        self.store.save(&node.id, &files)
    }

    fn files(&self, node: &Node, jobs: usize, tell: Tell<'_>) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let stage = &self.plan.stages[node.stage];
        let subject = &stage.subject;
        let mut files = match &node.cell {
            Cell::Nominal(cell) => {
                play::nominal(cell, stage.playing(&cell.setup.policy), self.plan.campaign.allow_diverged)?
            }
            Cell::Anomalous(cell) => play::anomalous(cell, subject, &self.store)?,
            Cell::Judgement(cell) => judge::judge(cell, subject, &self.store, jobs, tell)?,
            Cell::Diagnosis(cell) => diagnosis::diagnose(cell, subject, &self.store, jobs, tell)?,
            Cell::Video(cell) => video::video(cell, subject, &self.store)?,
        };
        files.push(("spec.json", node.spec.clone().into_bytes()));
        Ok(files)
    }

    /// The cells of a layer, in order.
    pub fn layer(&self, layer: Layer) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.cell.layer() == layer)
    }

    /// Whether a cell is there, whole.
    pub fn is_finished(&self, node: &Node) -> bool {
        self.store.state(&node.id) == State::Done
    }

    /// The cell of that name, of a unique beginning of it, or with that number in a layer: `nominal:0`.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, id: &str) -> Result<&Node> {
        if let Some((layer, number)) = id.split_once(':') {
            return self.numbered(layer, number).with_context(|| format!("cell {id:?}"));
        }
        let found: Vec<&Node> = self.nodes.iter().filter(|n| n.id.starts_with(id)).collect();
        ensure!(
            found.len() == 1,
            "expected the name of one cell of this campaign (see --plan), found {id:?}, which fits {}",
            found.len()
        );
        Ok(found[0])
    }

    fn numbered(&self, layer: &str, number: &str) -> Result<&Node> {
        let named = Layer::ALL.into_iter().find(|known| known.name() == layer);
        let layer = named.with_context(|| {
            format!("expected one of the layers {}, found {layer:?}", Layer::ALL.map(Layer::name).join(", "))
        })?;
        let n = self.layer(layer).count();
        let found = number.parse().ok().and_then(|i: usize| self.layer(layer).nth(i));
        found.with_context(|| match n {
            0 => format!("expected a layer with cells, found {} without any", layer.name()),
            n => format!("expected a number from 0 to {}, found {number:?}", n - 1),
        })
    }
}
