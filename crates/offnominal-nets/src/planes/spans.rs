//! Where the vectors of a target lie: in each row by itself, or across the ends of rows, whichever takes fewer.
//!
//! A tap that reads nothing but padding in all rows of a tile is left out, so that a map of few rows does not pay for a
//! kernel that reaches beyond it.

use super::sweep::{Planes, Target};
use std::ops::Range;

/// Vectors of pixels in a tile, at most.
pub const VECTORS: usize = 3;

/// Numbers that a buffer has after its end, for the last vector.
pub const SLACK: usize = 16;

/// Places of vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    /// Tiles, in order.
    pub tiles: Vec<Tile>,
    /// The distance of rows in a buffer, if what is written has to be put in its place afterwards.
    pub buffer: Option<usize>,
}

/// Up to three vectors that have the same taps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Of each, the place that it reads and the place that it writes.
    pub at: Vec<[usize; 2]>,
    /// Which taps.
    pub taps: Range<usize>,
}

impl Spans {
    /// For vectors of so many numbers; `row` is the length of the rows that are written.
    pub fn new(target: &Target, planes: &Planes, row: usize, lanes: usize) -> Spans {
        let (rows, columns) = (&target.rows, &target.columns);
        // What reads nothing may have longer rows than what is read.
        let pitch = planes.pitch().max(columns.count);
        let across = (rows.count - 1) * pitch + columns.count;
        let by_row = rows.count * columns.count.div_ceil(lanes);
        if columns.count >= lanes && columns.step == 1 && by_row <= across.div_ceil(lanes) {
            let start = |i: usize| [i * pitch, (rows.first + i * rows.step) * row + columns.first];
            let moved = |[from, to]: [usize; 2], by: usize| [from + by, to + by];
            let row = |i: usize| {
                let taps = planes.taps(target, i..i + 1);
                steps(columns.count, lanes).map(move |by| (moved(start(i), by), taps.clone()))
            };
            return Spans { tiles: tiles((0..rows.count).flat_map(row)), buffer: None };
        }
        let is_whole = rows.step == 1 && columns.step == 1 && pitch == row && columns.count == row;
        let buffer = (!is_whole || across < lanes).then_some(pitch);
        let vector = |at: usize| {
            let end = (at + lanes - 1) / pitch + 1;
            ([at; 2], planes.taps(target, at / pitch..end.min(rows.count)))
        };
        Spans { tiles: tiles(steps(across, lanes).map(vector)), buffer }
    }
}

/// Tiles of neighbours that have the same taps.
fn tiles(vectors: impl Iterator<Item = ([usize; 2], Range<usize>)>) -> Vec<Tile> {
    let vectors: Vec<_> = vectors.collect();
    let mut tiles = Vec::new();
    for mut alike in vectors.chunk_by(|a, b| a.1 == b.1) {
        while !alike.is_empty() {
            // Four are two and two: one vector alone would wait for its sums.
            let n = if alike.len() == 4 { 2 } else { alike.len().min(VECTORS) };
            let at = alike[..n].iter().map(|(at, _)| *at).collect();
            tiles.push(Tile { at, taps: alike[0].1.clone() });
            alike = &alike[n..];
        }
    }
    tiles
}

/// Starts of vectors that cover so many numbers; the last overlaps the one before it.
fn steps(count: usize, lanes: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(lanes).map(move |at| at.min(count.saturating_sub(lanes)))
}
