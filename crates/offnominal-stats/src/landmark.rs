//! The landmark AUC of rollouts: at a step of a task, do those that will fail score higher than those that will succeed,
//! among all that still run?
//!
//! A cell is one step of one task. Its cases run at that step and fail in the end, its controls run and succeed in the end,
//! and its area is P(case > control) + ½ P(case = control). A success is a competing end: it leaves the later cells, and is
//! not censored. A score that only counts steps has an area of one half in every cell, and so has a score that only knows
//! the task.
//!
//! | weighting | mean                                                              | ruled by                        |
//! |-----------|-------------------------------------------------------------------|---------------------------------|
//! | pairs     | Σ concordant pairs / Σ pairs                                      | early steps, when everybody runs |
//! | cells     | each cell counts once                                             | late steps, when few run        |
//! | tasks     | pairs within a task, then each task counts once                   | no step and no task             |
//!
//! Intervals resample rollouts within task and outcome ([`Landmark::estimates`]), which speaks of other rollouts of these
//! tasks; or whole tasks ([`Landmark::over_tasks`]), which speaks of other tasks and is wide where there are few.
//! [`same_step`](crate::same_step) is the same comparison of any labelled recordings, where every step counts once.
//!
//! References: van Houwelingen, Scandinavian Journal of Statistics 34(1), 2007 (landmarks); Heagerty & Zheng, Biometrics 61,
//! 2005 (the incident area, for which the time of a failure must be known).
//!
//! ```
//! use offnominal_stats::landmark::{Course, Landmark};
//! let course = |fails, scores| Course { rollout: usize::from(fails), task: 0, fails, scores };
//! // The failure is above the success at step 0, ties with it at step 1, and is alone at step 2.
//! let found = Landmark::new(&[course(true, &[2.0, 1.0, 0.0][..]), course(false, &[1.0, 1.0][..])], 0).unwrap();
//! assert_eq!(found.areas(&[1, 1]), Some([0.75; 3]));
//! ```

use crate::bootstrap::Range;
use crate::episode::finite;
use crate::{Bootstrap, StatsError};
use offnominal_core::estimate::Estimate;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a detector said during one rollout.
#[derive(Debug, Clone, Copy)]
pub struct Course<'a> {
    /// Number of the rollout, by which a weighting of rollouts knows it.
    pub rollout: usize,
    /// Number of its task; rollouts of different tasks are not compared.
    pub task: usize,
    /// Whether it fails in the end.
    pub fails: bool,
    /// The score of each step.
    pub scores: &'a [f64],
}

/// All cells that have a case and a control, sorted once by score.
#[derive(Debug, Clone)]
pub struct Landmark {
    /// Cells of each task.
    tasks: BTreeMap<usize, Vec<Cell>>,
}

#[derive(Debug, Clone)]
struct Cell {
    step: usize,
    /// In ascending order of score.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    rollout: u32,
    fails: bool,
    /// Whether the next entry has a larger score.
    ends_tie: bool,
}

/// The area at one step, over all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepArea {
    /// The step, counted from 0.
    pub step: usize,
    /// Concordant pairs of all tasks by all their pairs.
    pub auroc: f64,
    /// Number of pairs.
    pub pairs: f64,
}

/// What the cells of a task add to the means.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    concordant: f64,
    pairs: f64,
    areas: f64,
    cells: f64,
}

impl Landmark {
    /// Sorts the steps of rollouts into cells, from a first step on.
    ///
    /// # Errors
    /// If a score is not finite, or no cell has a case and a control.
    pub fn new(courses: &[Course<'_>], from_step: usize) -> Result<Landmark, StatsError> {
        courses.iter().try_for_each(|course| finite(course.scores, course.rollout, false))?;
        let mut cells: BTreeMap<(usize, usize), Vec<(f64, &Course<'_>)>> = BTreeMap::new();
        for course in courses {
            for (step, &score) in course.scores.iter().enumerate().skip(from_step) {
                cells.entry((course.task, step)).or_default().push((score, course));
            }
        }
        let mut tasks: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
        for ((task, step), scored) in cells {
            if let Some(entries) = sorted(scored) {
                tasks.entry(task).or_default().push(Cell { step, entries });
            }
        }
        StatsError::require("landmark area", 1, "steps of a task with a failure and a success", tasks.len())?;
        Ok(Landmark { tasks })
    }

    /// The numbers of the tasks that have a cell.
    pub fn tasks(&self) -> impl Iterator<Item = usize> {
        self.tasks.keys().copied()
    }

    /// The number of cells.
    pub fn n_cells(&self) -> usize {
        self.tasks.values().map(Vec::len).sum()
    }

    /// The three means if each rollout counted as often as its weight says; none if no cell has a pair.
    pub fn areas(&self, weights: &[u32]) -> Option<[f64; 3]> {
        means(self.sums(weights).map(|sums| (sums, 1.0)))
    }

    /// The mean of several parts of the data that are compared by themselves, such as test sets; parts without a pair are
    /// left out.
    pub fn mean_areas(parts: &[Landmark], weights: &[u32]) -> Option<[f64; 3]> {
        let areas: Vec<[f64; 3]> = parts.iter().filter_map(|part| part.areas(weights)).collect();
        let n = areas.len() as f64;
        (n > 0.0).then(|| std::array::from_fn(|k| areas.iter().map(|area| area[k]).sum::<f64>() / n))
    }

    /// The means with intervals over rollouts, which are drawn anew within their `strata` (task and outcome).
    ///
    /// # Errors
    /// As [`Bootstrap::estimates`].
    pub fn estimates(
        parts: &[Landmark],
        strata: &[usize],
        plan: &Bootstrap,
    ) -> Result<[Estimate; 3], StatsError> {
        plan.estimates_within("landmark area", strata, [Range::Unit; 3], |w| Landmark::mean_areas(parts, w))
    }

    /// The means of one detector less those of another, whose rollouts are drawn together.
    ///
    /// # Errors
    /// As [`Bootstrap::estimates`].
    pub fn differences(
        [ours, theirs]: [&[Landmark]; 2],
        strata: &[usize],
        plan: &Bootstrap,
    ) -> Result<[Estimate; 3], StatsError> {
        let difference = |weights: &[u32]| {
            let (a, b) = (Landmark::mean_areas(ours, weights)?, Landmark::mean_areas(theirs, weights)?);
            Some(std::array::from_fn(|k| a[k] - b[k]))
        };
        plan.estimates_within("difference of landmark areas", strata, [Range::Real; 3], difference)
    }

    /// The means with intervals over tasks, which are drawn anew whole.
    ///
    /// # Errors
    /// If there are no two tasks with a cell.
    pub fn over_tasks(
        parts: &[Landmark],
        n_rollouts: usize,
        plan: &Bootstrap,
    ) -> Result<[Estimate; 3], StatsError> {
        let tasks = Tasks::of(&[parts], n_rollouts)?;
        plan.estimates("landmark area of new tasks", tasks.names.len(), [Range::Unit; 3], |w| {
            tasks.means(0, w)
        })
    }

    /// The means of one detector less those of another, with intervals over tasks that are drawn together.
    ///
    /// # Errors
    /// As [`Landmark::over_tasks`].
    pub fn differences_over_tasks(
        both: [&[Landmark]; 2],
        n_rollouts: usize,
        plan: &Bootstrap,
    ) -> Result<[Estimate; 3], StatsError> {
        let tasks = Tasks::of(&both, n_rollouts)?;
        let difference = |weights: &[u32]| {
            let (a, b) = (tasks.means(0, weights)?, tasks.means(1, weights)?);
            Some(std::array::from_fn(|k| a[k] - b[k]))
        };
        plan.estimates(
            "difference of landmark areas of new tasks",
            tasks.names.len(),
            [Range::Real; 3],
            difference,
        )
    }

    /// The area of each step, all tasks together.
    pub fn by_step(&self, n_rollouts: usize) -> Vec<StepArea> {
        let (mut steps, once) = (BTreeMap::<usize, (f64, f64)>::new(), vec![1; n_rollouts]);
        for cell in self.tasks.values().flatten() {
            let (concordant, pairs) = cell.concordance(&once);
            let sum = steps.entry(cell.step).or_default();
            *sum = (sum.0 + concordant, sum.1 + pairs);
        }
        let area = |(step, (concordant, pairs))| StepArea { step, auroc: concordant / pairs, pairs };
        steps.into_iter().map(area).collect()
    }

    fn sums<'a>(&'a self, weights: &'a [u32]) -> impl Iterator<Item = Sums> + 'a {
        self.tasks.values().map(|cells| {
            let mut sums = Sums::default();
            for cell in cells {
                let (concordant, pairs) = cell.concordance(weights);
                if pairs > 0.0 {
                    sums.concordant += concordant;
                    sums.pairs += pairs;
                    sums.areas += concordant / pairs;
                    sums.cells += 1.0;
                }
            }
            sums
        })
    }
}

/// What each task adds to the means of each part, for every detector.
struct Tasks {
    names: Vec<usize>,
    /// `[detectors][parts]`, by the number of the task.
    sums: Vec<Vec<BTreeMap<usize, Sums>>>,
}

impl Tasks {
    fn of(detectors: &[&[Landmark]], n_rollouts: usize) -> Result<Tasks, StatsError> {
        let mut names: Vec<usize> = detectors.iter().copied().flatten().flat_map(Landmark::tasks).collect();
        names.sort_unstable();
        names.dedup();
        StatsError::require(
            "landmark area of new tasks",
            2,
            "tasks with a failure and a success",
            names.len(),
        )?;
        let once = vec![1; n_rollouts];
        let of = |part: &Landmark| part.tasks().zip(part.sums(&once)).collect();
        let sums = detectors.iter().map(|parts| parts.iter().map(of).collect()).collect();
        Ok(Tasks { names, sums })
    }

    /// The mean over the parts of a detector if each task counted as often as its weight says.
    fn means(&self, detector: usize, weights: &[u32]) -> Option<[f64; 3]> {
        let of_part = |part: &BTreeMap<usize, Sums>| {
            let weighted = self.names.iter().zip(weights);
            means(weighted.filter_map(|(name, &w)| Some((*part.get(name)?, f64::from(w)))))
        };
        let found: Vec<[f64; 3]> = self.sums[detector].iter().filter_map(of_part).collect();
        let n = found.len() as f64;
        (n > 0.0).then(|| std::array::from_fn(|k| found.iter().map(|areas| areas[k]).sum::<f64>() / n))
    }
}

/// The entries of a cell in the order of their scores; none if it has no case or no control.
fn sorted(mut scored: Vec<(f64, &Course<'_>)>) -> Option<Vec<Entry>> {
    let n_cases = scored.iter().filter(|(_, course)| course.fails).count();
    if n_cases == 0 || n_cases == scored.len() {
        return None;
    }
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let next = scored.iter().skip(1).map(|(score, _)| Some(*score)).chain([None]);
    let entry = |((score, course), next): (&(f64, &Course<'_>), Option<f64>)| Entry {
        rollout: course.rollout as u32,
        fails: course.fails,
        ends_tie: next != Some(*score),
    };
    Some(scored.iter().zip(next).map(entry).collect())
}

/// The three means of tasks that count as often as is said.
fn means(tasks: impl Iterator<Item = (Sums, f64)>) -> Option<[f64; 3]> {
    let (mut all, mut by_task, mut n_tasks) = (Sums::default(), 0.0, 0.0);
    for (sums, times) in tasks.filter(|(sums, times)| sums.pairs > 0.0 && *times > 0.0) {
        all.concordant += times * sums.concordant;
        all.pairs += times * sums.pairs;
        all.areas += times * sums.areas;
        all.cells += times * sums.cells;
        by_task += times * sums.concordant / sums.pairs;
        n_tasks += times;
    }
    (n_tasks > 0.0).then(|| [all.concordant / all.pairs, all.areas / all.cells, by_task / n_tasks])
}

impl Cell {
    /// Pairs whose case has the larger score, with one half for ties; and all pairs.
    fn concordance(&self, weights: &[u32]) -> (f64, f64) {
        let (mut twice, mut cases, mut controls) = (0_u64, 0_u64, 0_u64);
        let (mut tied_cases, mut tied_controls) = (0, 0);
        for entry in &self.entries {
            let weight = u64::from(weights[entry.rollout as usize]);
            *(if entry.fails { &mut tied_cases } else { &mut tied_controls }) += weight;
            if entry.ends_tie {
                twice += tied_cases * (2 * controls + tied_controls);
                cases += tied_cases;
                controls += tied_controls;
                (tied_cases, tied_controls) = (0, 0);
            }
        }
        (twice as f64 / 2.0, (cases * controls) as f64)
    }
}

#[cfg(test)]
mod tests;
