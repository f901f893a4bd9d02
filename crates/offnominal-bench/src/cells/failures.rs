//! Cells that failed while others went on.

use crate::cells::cell::Cell;
use crate::cells::nodes::Node;
use anyhow::{Error, Result, anyhow};
use std::collections::HashSet;

/// The failures of a run.
#[derive(Default)]
pub(super) struct Failures {
    ids: HashSet<String>,
    whys: Vec<Error>,
}

impl Failures {
    /// Keeps why a cell failed.
    pub(super) fn add(&mut self, node: &Node, why: Error) {
        self.ids.insert(node.id.clone());
        self.whys.push(why);
    }

    /// Whether a cell needs one that failed, or one that therefore did not run.
    pub(super) fn prevents(&self, cell: &Cell) -> bool {
        cell.needs().into_iter().any(|id| self.ids.contains(id))
    }

    /// Nothing, the one failure, or what failed in one message.
    pub(super) fn into_result(mut self) -> Result<()> {
        match self.whys.len() {
            0 => Ok(()),
            1 => Err(self.whys.remove(0)),
            n => {
                let whys: Vec<String> = self.whys.iter().map(|why| format!("\n  {why:#}")).collect();
                Err(anyhow!("{n} cells failed, the same command tries them again:{}", whys.concat()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(whys: &[&'static str]) -> Failures {
        Failures { ids: HashSet::new(), whys: whys.iter().map(|why| anyhow!(*why)).collect() }
    }

    #[test]
    fn one_failure_is_itself_and_several_are_a_list() {
        assert!(failed(&[]).into_result().is_ok());
        assert_eq!(failed(&["cell a: hung"]).into_result().unwrap_err().to_string(), "cell a: hung");
        let text = failed(&["cell a: hung", "cell b: died"]).into_result().unwrap_err().to_string();
        assert_eq!(
            text,
            "2 cells failed, the same command tries them again:\n  cell a: hung\n  cell b: died"
        );
    }
}
