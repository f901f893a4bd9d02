//! What is read and written by a convolution of images, and by the gradient of its input: the same sweep over planes.

use super::axis::{Axis, Fill, Lane, Tap};
use std::ops::Range;

/// Both axes of a convolution: rows, columns.
pub type Axes = [Axis; 2];

/// The channels of an image, padded and split into phases: `[phases, rows, columns]` each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    rows: Fill,
    columns: Fill,
}

/// Outputs that have the same taps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Rows.
    pub rows: Lane,
    /// Columns.
    pub columns: Lane,
    /// Number of each tap in the kernel, and where it reads in a channel for the first output.
    pub taps: Vec<(usize, usize)>,
}

/// What is read, what is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// What the channels look like that are read.
    pub planes: Planes,
    /// What is written.
    pub targets: Vec<Target>,
    /// Rows and columns of what is written.
    pub size: [usize; 2],
}

impl Sweep {
    /// From input to output.
    pub fn forward(axes: &Axes) -> Sweep {
        let size = axes.map(|axis| axis.outputs());
        Sweep::new(axes, axes.map(|axis| axis.forward()), size)
    }

    /// From the gradient of outputs to that of the input.
    pub fn backward(axes: &Axes, outputs: [usize; 2]) -> Sweep {
        let parts = [axes[0].backward(outputs[0]), axes[1].backward(outputs[1])];
        Sweep::new(axes, parts, axes.map(|axis| axis.size))
    }

    fn new(axes: &Axes, [(y, rows), (x, columns)]: [(Fill, Vec<Lane>); 2], size: [usize; 2]) -> Sweep {
        let planes = Planes { rows: y, columns: x };
        let mut targets = Vec::new();
        for rows in &rows {
            for columns in &columns {
                let mut taps = Vec::new();
                for i in &rows.taps {
                    for j in &columns.taps {
                        let at = planes.at([i.phase, j.phase], [i.place, j.place]);
                        taps.push((i.number * axes[1].kernel + j.number, at));
                    }
                }
                targets.push(Target { rows: rows.clone(), columns: columns.clone(), taps });
            }
        }
        Sweep { planes, targets, size }
    }
}

impl Planes {
    /// Numbers in a channel.
    pub fn numbers(&self) -> usize {
        self.rows.phases.len() * self.columns.phases.len() * self.rows.len * self.columns.len
    }

    /// From row to row.
    pub fn pitch(&self) -> usize {
        self.columns.len
    }

    /// Whether they are the image itself.
    pub fn is_plain(&self) -> bool {
        self.rows.is_plain() && self.columns.is_plain()
    }

    /// Numbers in a channel of the image.
    pub fn pixels(&self) -> usize {
        self.rows.size * self.columns.size
    }

    fn at(&self, [p, q]: [usize; 2], [row, column]: [usize; 2]) -> usize {
        ((p * self.columns.phases.len() + q) * self.rows.len + row) * self.columns.len + column
    }

    /// The taps of a target that read more than padding in some of its rows: those of the first such row of the kernel
    /// to the last.
    pub fn taps(&self, target: &Target, rows: Range<usize>) -> Range<usize> {
        let width = target.columns.taps.len();
        let is_read = |tap: &&Tap| {
            let places = &self.rows.phases[tap.phase].places;
            rows.start + tap.place < places.end && rows.end + tap.place > places.start
        };
        let numbers = target.rows.taps.iter().enumerate().filter(|(_, tap)| is_read(tap)).map(|(i, _)| i);
        let ends = numbers.map(|i| (i, i + 1)).reduce(|a, b| (a.0, b.1)).unwrap_or((0, 0));
        ends.0 * width..ends.1 * width
    }

    /// Lays out a channel of an image; what is padding is zero already.
    pub fn fill(&self, channel: &[f32], to: &mut [f32]) {
        for p in 0..self.rows.phases.len() {
            for row in self.rows.phases[p].places.clone() {
                let from = &channel[self.rows.number(p, row) * self.columns.size..][..self.columns.size];
                for q in 0..self.columns.phases.len() {
                    let places = self.columns.phases[q].places.clone();
                    if places.is_empty() {
                        continue;
                    }
                    let from = &from[self.columns.number(q, places.start)..];
                    let to = &mut to[self.at([p, q], [row, 0])..][places];
                    copy(from, self.columns.step, to);
                }
            }
        }
    }
}

/// Every so many-th number.
fn copy(from: &[f32], step: usize, to: &mut [f32]) {
    match step {
        1 => to.copy_from_slice(&from[..to.len()]),
        2 => {
            let (pairs, rest) = from.as_chunks::<2>();
            to.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair[0]);
            if to.len() > pairs.len() {
                to[pairs.len()] = rest[0];
            }
        }
        _ => to.iter_mut().zip(from.iter().step_by(step)).for_each(|(to, from)| *to = *from),
    }
}
