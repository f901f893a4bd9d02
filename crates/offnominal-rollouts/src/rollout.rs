//! What is known of recorded episodes of a policy: signals of each step, a task and an outcome.

use anyhow::{Result, bail, ensure};
use std::collections::BTreeSet;

/// One recorded episode.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rollout {
    /// Its name, which is unique within its task.
    pub name: String,
    /// Number of its task in [`Rollouts::tasks`].
    pub task: usize,
    /// Whether it fails.
    pub fails: bool,
    /// Whether that is known.
    pub has_outcome: bool,
    /// The step at which somebody saw the failure begin, if that is known.
    pub failure_step: Option<usize>,
    /// Each signal of [`Rollouts::signals`] at each step, `[signals][steps]`.
    pub signals: Vec<Vec<f64>>,
    /// What the policy's encoder made of each observation, `[steps, width]`; nothing if the width is 0.
    pub embeddings: Vec<f32>,
}

/// Recorded episodes with the same signals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rollouts {
    /// Names of the signals.
    pub signals: Vec<String>,
    /// Names of the tasks, sorted as text.
    pub tasks: Vec<String>,
    /// Width of an embedding; 0 if there are none.
    pub embedding: usize,
    /// The episodes in the order in which they were read.
    pub rollouts: Vec<Rollout>,
    /// What was assumed or left out when they were read, in sentences.
    pub remarks: Vec<String>,
}

impl Rollout {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.signals.first().map_or(0, Vec::len)
    }
}

impl Rollouts {
    /// The numbers of the rollouts of a task with an outcome.
    pub fn of(&self, task: usize, fails: bool) -> Vec<usize> {
        let is_of = |i: &usize| self.rollouts[*i].task == task && self.rollouts[*i].fails == fails;
        (0..self.rollouts.len()).filter(is_of).collect()
    }

    /// Number of failures.
    pub fn failures(&self) -> usize {
        self.rollouts.iter().filter(|r| r.fails).count()
    }

    /// The place of a signal.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn signal(&self, name: &str) -> Result<usize> {
        match self.signals.iter().position(|signal| signal == name) {
            Some(place) => Ok(place),
            None => bail!("expected a signal of the rollouts ({}), found {name:?}", self.signals.join(", ")),
        }
    }

    /// A number for each task and outcome, within which rollouts are alike.
    pub fn stratum(&self, rollout: usize) -> usize {
        let r = &self.rollouts[rollout];
        2 * r.task + usize::from(r.fails)
    }

    /// Refuses what cannot be judged, and sorts the tasks.
    ///
    /// # Errors
    /// As [`Rollouts::ordered`], or if there is only one outcome.
    pub(crate) fn checked(self) -> Result<Rollouts> {
        let found = self.ordered()?;
        let (failures, n) = (found.failures(), found.rollouts.len());
        ensure!(
            0 < failures && failures < n,
            "expected failed and successful rollouts, found {failures} failed ones of {n}"
        );
        Ok(found)
    }

    /// Sorts the tasks.
    ///
    /// # Errors
    /// If there is no rollout, or a name is there twice within a task.
    pub(crate) fn ordered(mut self) -> Result<Rollouts> {
        ensure!(!self.rollouts.is_empty(), "expected rollouts, found none");
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by(|&a, &b| self.tasks[a].cmp(&self.tasks[b]));
        for rollout in &mut self.rollouts {
            rollout.task = order.iter().position(|&old| old == rollout.task).expect("a task of the list");
        }
        self.tasks = order.iter().map(|&old| self.tasks[old].clone()).collect();
        let mut names = BTreeSet::new();
        for rollout in &self.rollouts {
            let (task, name) = (&self.tasks[rollout.task], &rollout.name);
            ensure!(
                names.insert((rollout.task, name.as_str())),
                "task {task:?}: expected each rollout once, found {name:?} twice"
            );
        }
        Ok(self)
    }
}
