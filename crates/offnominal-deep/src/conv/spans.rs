//! Where the vectors of a target lie: in each row by itself, or across the ends of rows, whichever takes fewer.

use super::sweep::{Planes, Target};

/// Numbers that a buffer has after its end, for the last vector.
pub const SLACK: usize = 16;

/// Places of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    /// Of each, the place that it reads and the place that it writes.
    pub at: Vec<[usize; 2]>,
    /// The distance of rows in a buffer, if what is written has to be put in its place afterwards.
    pub buffer: Option<usize>,
}

impl Spans {
    /// For vectors of so many numbers; `row` is the length of the rows that are written.
    pub fn new(target: &Target, planes: &Planes, row: usize, lanes: usize) -> Spans {
        let (rows, columns, pitch) = (&target.rows, &target.columns, planes.pitch());
        let across = (rows.count - 1) * pitch + columns.count;
        let by_row = rows.count * columns.count.div_ceil(lanes);
        if columns.count >= lanes && columns.step == 1 && by_row <= across.div_ceil(lanes) {
            let start = |i: usize| [i * pitch, (rows.first + i * rows.step) * row + columns.first];
            let moved = |[from, to]: [usize; 2], by: usize| [from + by, to + by];
            let row = |i: usize| steps(columns.count, lanes).map(move |by| moved(start(i), by));
            return Spans { at: (0..rows.count).flat_map(row).collect(), buffer: None };
        }
        let is_whole = rows.step == 1 && columns.step == 1 && pitch == row && columns.count == row;
        let buffer = (!is_whole || across < lanes).then_some(pitch);
        Spans { at: steps(across, lanes).map(|at| [at; 2]).collect(), buffer }
    }
}

/// Starts of vectors that cover so many numbers; the last overlaps the one before it.
fn steps(count: usize, lanes: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(lanes).map(move |at| at.min(count.saturating_sub(lanes)))
}
