//! Whom a cell tells how far it is, and who may end it.

use crate::cells::Cell;
use anyhow::{Context as _, Result};
use offnominal_core::detector::FitError;
use offnominal_core::fit_progress::FitProgress;
use offnominal_engine::progress::Task;

/// The task that a cell belongs to.
#[derive(Clone, Copy)]
pub(super) struct Tell<'a> {
    pub task: &'a Task,
    pub cell: &'a Cell,
}

impl Tell<'_> {
    /// Says what is being done at the moment.
    pub fn say(&self, how_far: &str) {
        self.task.set_message(&format!("{how_far}: {}", self.cell));
    }

    /// Fits a detector, and says how far that is.
    pub fn fit<T>(&self, fit: impl FnOnce(FitProgress<'_>) -> Result<T, FitError>) -> Result<T> {
        let fit = |progress: FitProgress<'_>| fit(progress).context("the detector cannot be fitted");
        self.task.watched(|percent| self.say(&format!("fit {percent} %")), fit)
    }
}
