//! What each member of an ensemble learns from, and what its regression leaves for its network.

use crate::shared::dynamics::Data;
use crate::shared::one_step::Rows;
use crate::shared::residual::LEAST_UNIT;
use crate::shared::ridge::{Ridge, Table};
use std::ops::Range;

/// Which episodes each member learns from.
pub(super) struct Folds<'a> {
    pub episodes: &'a [Range<u32>],
    pub n: usize,
}

impl Folds<'_> {
    /// All episodes that member m may see; all there are if that would be none, or if there is only one member.
    pub fn of(&self, m: usize) -> Vec<Range<u32>> {
        let seen = self.episodes.iter().enumerate().filter(|(i, e)| i % self.n != m && !e.is_empty());
        let seen: Vec<Range<u32>> = seen.map(|(_, e)| e.clone()).collect();
        if seen.is_empty() { self.episodes.to_vec() } else { seen }
    }
}

pub(super) fn table(data: &Data) -> Table<'_> {
    let (n_inputs, d) = (data.units.n_inputs(), data.units.n_targets());
    Table { inputs: &data.train.inputs, targets: &data.train.targets, n_inputs, d }
}

/// Held-out deviation of what the regressions leave, per channel.
pub(super) fn units_of_rest(data: &Data, ridges: &[Ridge]) -> Vec<f32> {
    let Table { inputs, targets, n_inputs, d } = table(data);
    let mut squares = vec![0.0; d];
    let mut rest = vec![0.0; d];
    for (i, rows) in data.train.episodes.iter().enumerate() {
        for row in rows.clone().map(|row| row as usize) {
            rest.copy_from_slice(&targets[row * d..(row + 1) * d]);
            ridges[i % ridges.len()].subtract(&inputs[row * n_inputs..(row + 1) * n_inputs], &mut rest);
            squares.iter_mut().zip(&rest).for_each(|(s, &r)| *s += f64::from(r).powi(2));
        }
    }
    let n = (targets.len() / d) as f64;
    squares.iter().map(|s| (s / n).sqrt().max(LEAST_UNIT) as f32).collect()
}

/// The same rows with the rest as targets.
pub(super) fn rest_of(data: &Data, ridge: &Ridge, unit: &[f32]) -> Data {
    let rest = |rows: &Rows| {
        let mut rows = rows.clone();
        let inputs = rows.inputs.chunks_exact(data.units.n_inputs());
        for (input, target) in inputs.zip(rows.targets.chunks_exact_mut(unit.len())) {
            ridge.subtract(input, target);
            target.iter_mut().zip(unit).for_each(|(t, u)| *t /= u);
        }
        rows
    };
    Data { units: data.units.clone(), train: rest(&data.train), validation: rest(&data.validation) }
}
