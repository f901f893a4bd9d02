//! MAP-Elites: the most dangerous condition of each cell of an archive, and variations of them.
//!
//! Some entries of the initial condition span a grid. Half of the proposals, and all until something is known, are draws
//! from P; the others vary a random elite by a tenth of each entry's range. The archive shows how many different ways to
//! fail there are, not only the nearest.
//!
//! Reference: Mouret and Clune, "Illuminating search spaces by mapping elites", 2015 (arXiv 1504.04909).

use super::{Outcome, Predictor, Sampler, danger};
use offnominal_core::Rng;
use std::collections::BTreeMap;

/// Standard deviation of a variation, as a share of an entry's range.
const STEP: f64 = 0.1;

/// The condition that a cell remembers, and how dangerous it proved to be.
struct Elite {
    danger: f64,
    x: Vec<f64>,
}

/// The strategy and its archive.
pub struct Elites<'p> {
    bounds: Vec<(f64, f64)>,
    axes: Vec<usize>,
    cells_per_axis: usize,
    predict: Predictor<'p>,
    archive: BTreeMap<Vec<usize>, Elite>,
}

impl<'p> Elites<'p> {
    /// An archive whose axes are the entries with the given indices.
    ///
    /// # Panics
    /// If an axis is no entry, or an axis has no cells.
    pub fn new(
        bounds: &[(f64, f64)],
        axes: &[usize],
        cells_per_axis: usize,
        predict: Predictor<'p>,
    ) -> Elites<'p> {
        assert!(
            axes.iter().all(|&a| a < bounds.len()),
            "expected axes below {}, found {axes:?}",
            bounds.len()
        );
        assert!(cells_per_axis > 0, "expected at least one cell per axis");
        let archive = BTreeMap::new();
        Elites { bounds: bounds.to_vec(), axes: axes.to_vec(), cells_per_axis, predict, archive }
    }

    fn cell(&self, x: &[f64]) -> Vec<usize> {
        let place = |&axis: &usize| {
            let (low, high) = self.bounds[axis];
            let share = (x[axis] - low) / (high - low) * self.cells_per_axis as f64;
            // A cast saturates, so what lies below the bounds belongs to the first cell.
            (share as usize).min(self.cells_per_axis - 1)
        };
        self.axes.iter().map(place).collect()
    }
}

impl Sampler for Elites<'_> {
    fn propose(&mut self, draw: &mut dyn FnMut(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Vec<f64> {
        if self.archive.is_empty() || rng.uniform() < 0.5 {
            return draw(rng);
        }
        let chosen = rng.below(self.archive.len());
        let elite = self.archive.values().nth(chosen).expect("an index below the length");
        let vary = |(x, (low, high)): (&f64, &(f64, f64))| {
            (x + STEP * (high - low) * rng.normal()).clamp(*low, *high)
        };
        elite.x.iter().zip(&self.bounds).map(vary).collect()
    }

    fn learn(&mut self, x: &[f64], outcome: Outcome) {
        let found = Elite { danger: danger(x, outcome, self.predict), x: x.to_vec() };
        let cell = self.cell(x);
        let is_better = self.archive.get(&cell).is_none_or(|known| found.danger > known.danger);
        if is_better {
            self.archive.insert(cell, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_remembers_its_most_dangerous_condition() {
        let mut elites = Elites::new(&[(0.0, 1.0), (0.0, 1.0)], &[0], 4, &|_| 0.0);
        let outcome = |margin: f64| Outcome { failed: margin <= 0.0, margin: Some(margin), nearest: None };
        elites.learn(&[0.1, 0.5], outcome(3.0));
        elites.learn(&[0.2, 0.6], outcome(1.0));
        elites.learn(&[0.15, 0.7], outcome(2.0));
        elites.learn(&[1.0, 0.1], outcome(-1.0));
        let archive = &elites.archive;
        assert_eq!((archive.len(), &archive[&vec![0]].x), (2, &vec![0.2, 0.6]));
        assert_eq!(archive[&vec![3]].danger, 1.0);
    }
}
