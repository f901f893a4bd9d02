//! The gradient of a kernel: products of the gradient's channels with shifted planes, summed over images and pixels.
//!
//! A tile has some channels of the gradient × three columns, which are pairs of an input channel and a tap; its sums are
//! vectors over neighbouring pixels, and are added up at the end. Pixels come in pieces that stay in the first cache
//! while all columns pass by; images follow each other, so the order of a sum does not depend on threads.

use offnominal_nets::planes::Sweep;
use offnominal_nets::planes::spans::SLACK;
use offnominal_nets::planes::tile::{lanes, load, width};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::array::from_fn;

/// Columns in a tile.
const COLUMNS: usize = 3;

/// Vectors of pixels in a piece.
const PIECE: usize = 32;

/// The gradient of a kernel `[to, from, taps]`, where the sweep leads from x `[images, from, …]` to the shape of
/// dy `[images, to, …]`.
pub fn to_weights(sweep: &Sweep, x: &[f32], dy: &[f32], channels: [usize; 2]) -> Vec<f32> {
    to_weights_by(lanes(), |task| Arch::new().dispatch(task), sweep, x, dy, channels)
}

/// The same by vectors of so many numbers.
pub(super) fn to_weights_by(
    lanes: usize,
    dispatch: impl Fn(Task<'_>) -> Vec<f32> + Sync,
    sweep: &Sweep,
    x: &[f32],
    dy: &[f32],
    [from, to]: [usize; 2],
) -> Vec<f32> {
    let images = dy.len() / (to * sweep.size[0] * sweep.size[1]);
    let steps = Steps::new(sweep, images, from, lanes);
    let (planes, columns, most) = (planes(sweep, x), columns(sweep, from), width(lanes, to));
    let pack = |first| steps.pack(sweep, dy, to, first, width(lanes, to - first));
    let packed: Vec<Aligned> =
        (0..to.div_ceil(most)).into_par_iter().map(|block| pack(block * most)).collect();
    // About eight tasks, whatever the number of threads.
    let piece = columns.len().div_ceil(8_usize.div_ceil(packed.len())).next_multiple_of(COLUMNS);
    let tasks: Vec<(usize, &[[usize; 2]])> =
        (0..packed.len()).flat_map(|b| columns.chunks(piece).map(move |columns| (b, columns))).collect();
    let sums = tasks.into_par_iter().map(|(b, columns)| {
        let (dy, width) = (packed[b].numbers(), width(lanes, to - b * most));
        dispatch(Task { x: &planes, steps: &steps, dy, columns, width })
    });
    let sums: Vec<Vec<f32>> = sums.collect();
    gather(&sums, to, most, columns.len(), piece)
}

/// Of each input channel and tap, the row of the kernel and the place that is read first.
fn columns(sweep: &Sweep, from: usize) -> Vec<[usize; 2]> {
    let (target, plane) = (&sweep.targets[0], sweep.planes.numbers());
    let per_row = target.columns.taps.len();
    let taps =
        |c: usize| target.taps.iter().enumerate().map(move |(k, &(_, at))| [k / per_row, c * plane + at]);
    (0..from).flat_map(taps).collect()
}

/// Sums of tasks `[columns, width]` as a kernel.
fn gather(sums: &[Vec<f32>], to: usize, most: usize, columns: usize, piece: usize) -> Vec<f32> {
    let mut out = vec![0.0; to * columns];
    let tasks = sums.chunks_exact(columns.div_ceil(piece));
    for (block, sums) in out.chunks_mut(most * columns).zip(tasks) {
        for (i, row) in block.chunks_exact_mut(columns).enumerate() {
            for (row, sums) in row.chunks_mut(piece).zip(sums) {
                let width = sums.len() / row.len();
                row.iter_mut().zip(sums.chunks_exact(width)).for_each(|(out, sums)| *out = sums[i]);
            }
        }
    }
    out
}

/// The planes of all images.
fn planes(sweep: &Sweep, x: &[f32]) -> Vec<f32> {
    let (from, to) = (sweep.planes.pixels(), sweep.planes.numbers());
    let n = x.len() / from * to;
    let mut planes = vec![0.0; n + SLACK];
    let pairs = planes[..n].par_chunks_exact_mut(to).zip(x.par_chunks_exact(from));
    pairs.with_min_len(8).for_each(|(to, channel)| sweep.planes.fill(channel, to));
    planes
}

/// Vectors of pixels: across the ends of rows, or in each row by itself with zeros after its end.
struct Steps {
    /// How many there are.
    count: usize,
    /// For each row of the kernel, the steps that read more than padding there: number, and place in the planes of the
    /// first channel. All steps come last.
    at: Vec<Vec<[usize; 2]>>,
    /// Numbers from row to row.
    pitch: usize,
    /// Vectors in an image.
    image: usize,
    lanes: usize,
}

impl Steps {
    fn new(sweep: &Sweep, images: usize, from: usize, lanes: usize) -> Steps {
        let ([rows, columns], pitch) = (sweep.size, sweep.planes.pitch());
        let across = ((rows - 1) * pitch + columns).div_ceil(lanes);
        let by_row = columns.div_ceil(lanes);
        let starts: Vec<usize> = if rows * by_row <= across {
            (0..rows).flat_map(|row| (0..by_row).map(move |v| row * pitch + v * lanes)).collect()
        } else {
            (0..across).map(|v| v * lanes).collect()
        };
        let (distance, target) = (from * sweep.planes.numbers(), &sweep.targets[0]);
        let (count, per_row) = (images * starts.len(), target.columns.taps.len());
        let of_rows = |at: usize| at / pitch..((at + lanes - 1) / pitch + 1).min(rows);
        let at = |row: Option<usize>| {
            let is_read = |at: usize| {
                row.is_none_or(|row| sweep.planes.taps(target, of_rows(at)).contains(&(row * per_row)))
            };
            let starts = starts.iter().enumerate().filter(|(_, at)| is_read(**at)).collect::<Vec<_>>();
            let place = |n: usize, (i, at): (usize, &usize)| [n * count / images + i, n * distance + at];
            (0..images).flat_map(|n| starts.iter().map(move |&step| place(n, step))).collect()
        };
        let at = (0..target.rows.taps.len()).map(Some).chain([None]).map(at).collect();
        let pitch = if rows * by_row <= across { by_row * lanes } else { pitch };
        Steps { count, at, pitch, image: starts.len(), lanes }
    }

    /// Some channels of a gradient as `[steps, width, lanes]`.
    fn pack(&self, sweep: &Sweep, dy: &[f32], channels: usize, first: usize, width: usize) -> Aligned {
        let ([rows, columns], lanes) = (sweep.size, self.lanes);
        let mut aligned = Aligned::zeros(self.count * width * lanes);
        let packed = aligned.numbers_mut();
        let images = dy.chunks_exact(channels * rows * columns);
        for (image, packed) in images.zip(packed.chunks_exact_mut(self.image * width * lanes)) {
            for (i, channel) in image.chunks_exact(rows * columns).skip(first).take(width).enumerate() {
                for (row, from) in channel.chunks_exact(columns).enumerate() {
                    let (mut from, mut at) = (from, row * self.pitch);
                    while !from.is_empty() {
                        let n = from.len().min(lanes - at % lanes);
                        let place = (at / lanes * width + i) * lanes + at % lanes;
                        packed[place..][..n].copy_from_slice(&from[..n]);
                        (from, at) = (&from[n..], at + n);
                    }
                }
            }
        }
        aligned
    }
}

/// Numbers that begin at a line of the cache, so that no vector lies in two of them.
struct Aligned {
    numbers: Vec<f32>,
    first: usize,
    len: usize,
}

impl Aligned {
    fn zeros(len: usize) -> Aligned {
        let numbers = vec![0.0; len + SLACK];
        let first = numbers.as_ptr().align_offset(64).min(SLACK);
        Aligned { numbers, first, len }
    }

    fn numbers(&self) -> &[f32] {
        &self.numbers[self.first..][..self.len]
    }

    fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.numbers[self.first..][..self.len]
    }
}

/// Some channels of the gradient with some columns.
pub(super) struct Task<'a> {
    x: &'a [f32],
    steps: &'a Steps,
    dy: &'a [f32],
    /// The row of the kernel, and where the first step reads.
    columns: &'a [[usize; 2]],
    width: usize,
}

impl WithSimd for Task<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        if self.width == 8 { self.tiles::<S, 8>(simd) } else { self.tiles::<S, 4>(simd) }
    }
}

impl Task<'_> {
    #[inline(always)]
    fn tiles<S: Simd, const MR: usize>(&self, simd: S) -> Vec<f32> {
        let zero = [[simd.splat_f32s(0.0); COLUMNS]; MR];
        let mut sums = vec![zero; self.columns.len().div_ceil(COLUMNS)];
        let dy = S::as_simd_f32s(self.dy).0.as_chunks::<MR>().0;
        let mut pieces: Vec<&[[usize; 2]]> = self.steps.at.iter().map(|at| &at[..]).collect();
        for first in (0..self.steps.count).step_by(PIECE) {
            let now: Vec<&[[usize; 2]]> = pieces.iter_mut().map(|at| split(at, first + PIECE)).collect();
            for (columns, sums) in self.columns.chunks(COLUMNS).zip(&mut sums) {
                let row = columns[0][0];
                let is_one_row = columns.iter().all(|column| column[0] == row);
                let at = if is_one_row { now[row] } else { now[now.len() - 1] };
                // A last tile that is not full repeats its last column.
                let columns = from_fn(|j| columns[j.min(columns.len() - 1)][1]);
                *sums = tile::<S, MR>(simd, self.x, at, dy, columns, *sums);
            }
        }
        let mut out = vec![0.0; sums.len() * COLUMNS * MR];
        for (sums, out) in sums.iter().zip(out.as_chunks_mut::<MR>().0.chunks_exact_mut(COLUMNS)) {
            for j in 0..COLUMNS {
                out[j] = from_fn(|i| simd.reduce_sum_f32s(sums[i][j]));
            }
        }
        out.truncate(self.columns.len() * MR);
        out
    }
}

/// Takes the steps before a number from the front.
fn split<'a>(at: &mut &'a [[usize; 2]], end: usize) -> &'a [[usize; 2]] {
    let (now, rest) = at.split_at(at.partition_point(|step| step[0] < end));
    *at = rest;
    now
}

/// Adds a piece to the sums of one tile.
#[inline(always)]
fn tile<S: Simd, const MR: usize>(
    simd: S,
    x: &[f32],
    at: &[[usize; 2]],
    dy: &[[S::f32s; MR]],
    columns: [usize; COLUMNS],
    mut sums: [[S::f32s; COLUMNS]; MR],
) -> [[S::f32s; COLUMNS]; MR] {
    let x = columns.map(|column| &x[column..]);
    for &[step, at] in at {
        let dy = &dy[step];
        let x: [S::f32s; COLUMNS] = from_fn(|j| load::<S>(&x[j][at..]));
        for i in 0..MR {
            for j in 0..COLUMNS {
                sums[i][j] = simd.mul_add_f32s(dy[i], x[j], sums[i][j]);
            }
        }
    }
    sums
}
