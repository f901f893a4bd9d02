//! Exact nearest neighbours among fixed points, made for one query at a time.
//!
//! A k-d tree of two levels: the points are sorted into blocks of [`BLOCK`] by splitting along the channel with the
//! largest extent, and each block knows its bounding box. A query computes its distance to all boxes, then visits
//! blocks in the order of that distance until the next box is farther than the k-th best point. Boxes and points lie
//! channel by channel, so both loops run on vectors of the processor. A block is left as soon as the sums over its first
//! channels say that no point of it is near.
//!
//! With many channels boxes prune little. Blocks and boxes are then made of summaries of the points ([`Summary`]), which
//! are never farther from one another than the points; a point is compared itself if its summary is near enough.
//!
//! Exact in `f32`: rounding is monotone, and box and point distances sum the channels in the same order, so a box is
//! never farther than a point in it. What rounding can do to summaries is added to how far they may be.

mod summary;

use super::prelude::*;
use super::scale::Scale;
use offnominal_nets::simd;
use summary::{NUMBERS, Summary};

/// Points per block: two 16-lane vectors, or eight of 4 lanes.
const BLOCK: usize = 32;
/// Channels after which the sums of a block are looked at.
const CHANNELS: usize = 8;
/// Points with more channels have summaries.
const WIDE: usize = 48;
/// Channels of a box of summaries: the first ones tell most.
const BOXED: usize = 12;
/// Summaries are no longer than this, or rounding and overflow of their squares would hide near points.
const LONGEST: f64 = 1e12;
/// Wide points that are compared at once.
const AT_ONCE: usize = 8;

/// Points, sorted into blocks.
#[derive(Debug, PartialEq)]
pub(crate) struct Nearest {
    width: usize,
    n_points: usize,
    blocks: Blocks,
    /// Where the points themselves are, if the blocks hold summaries.
    wide: Option<Wide>,
}

/// Blocks of points, or of their summaries.
#[derive(Debug, PartialEq)]
struct Blocks {
    width: usize,
    /// `[block, channel, BLOCK]`; the last block is padded with infinity, which is never near.
    points: Vec<f32>,
    /// `[group, channel, low | high, BLOCK]`: bounding boxes, BLOCK of them per group.
    boxes: Vec<f32>,
    /// Channels of a box.
    boxed: usize,
}

/// Points that have summaries.
#[derive(Debug, PartialEq)]
struct Wide {
    summary: Summary,
    /// The points as rows, in the order of the blocks.
    rows: Vec<f32>,
    /// Length of the longest summary.
    longest: f64,
}

/// What a query needs; allocated once.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    /// Squared distance to the box of each block, then padding.
    bounds: Vec<f32>,
    /// Blocks that may hold a neighbour, nearest box first.
    order: Vec<u32>,
    best: Best,
}

/// The nearest points so far.
#[derive(Debug, Clone)]
struct Best {
    /// The k smallest squared distances, ascending.
    squares: Vec<f32>,
    /// Wide points that are still to be compared, and how many.
    pending: ([u32; AT_ONCE], usize),
    /// What rounding can add to the distance between two summaries: a share of it, and a length.
    rounding: [f64; 2],
}

impl Nearest {
    /// Sorts `points`, rows of `width` numbers, of which there are `n_points` (a width of zero is allowed).
    pub fn new(width: usize, n_points: usize, points: &[f32]) -> Nearest {
        assert_eq!(points.len(), width * n_points, "points do not fill whole rows");
        let plain = || {
            let blocks = Blocks::new(width, points, &sorted(width, n_points, points), width);
            Nearest { width, n_points, blocks, wide: None }
        };
        if width <= WIDE {
            return plain();
        }
        let summary = Summary::of(width, points);
        let mut summaries = vec![[0.0; NUMBERS]; n_points];
        summaries.iter_mut().zip(points.chunks_exact(width)).for_each(|(z, x)| summary.write(x, z));
        let longest = summaries.iter().map(|z| length(z)).fold(0.0, f64::max);
        if longest > LONGEST {
            return plain();
        }
        let order = sorted(NUMBERS, n_points, summaries.as_flattened());
        let blocks = Blocks::new(NUMBERS, summaries.as_flattened(), &order, BOXED);
        let rows = order.iter().flat_map(|&i| &points[i as usize * width..][..width]).copied().collect();
        Nearest { width, n_points, blocks, wide: Some(Wide { summary, rows, longest }) }
    }

    /// Writes the points, rows of `width` numbers.
    pub fn save(&self, to: &mut Writer<'_>) {
        let rows = match &self.wide {
            Some(wide) => wide.rows.clone(),
            None => (0..self.n_points).flat_map(|point| self.blocks.row(point)).collect(),
        };
        to.put("points", &rows);
        to.put("n", &[self.n_points as u64]);
    }

    /// Reads points of `width` numbers, at least k of them, and sorts them anew: distances do not depend on the order.
    pub fn load(from: &Reader<'_>, width: usize, k: usize) -> Result<Nearest, ArchiveError> {
        let n = from.one::<u64>("n")?;
        from.require((k as u64..=1 << 31).contains(&n), "n", format_args!("{k} points or more"), n)?;
        Ok(Nearest::new(width, n as usize, from.exactly("points", n as usize * width)?))
    }

    /// Room for queries of the k-th neighbour.
    ///
    /// # Panics
    /// If there are fewer than k points, or k is zero.
    pub fn scratch(&self, k: usize) -> Scratch {
        assert!((1..=self.n_points).contains(&k), "expected a rank from 1 to {}, found {k}", self.n_points);
        let n_blocks = self.n_blocks();
        Scratch {
            bounds: vec![0.0; n_blocks.div_ceil(BLOCK) * BLOCK],
            order: Vec::with_capacity(n_blocks),
            best: Best { squares: vec![f32::INFINITY; k], pending: Default::default(), rounding: [0.0; 2] },
        }
    }

    /// Squared distance from `query` to its k-th nearest point; k is the one the scratch was made for.
    pub fn squared_distance(&self, query: &[f32], scratch: &mut Scratch) -> f32 {
        let Some(wide) = &self.wide else { return self.search(query, query, scratch) };
        let mut z = [0.0; NUMBERS];
        wide.summary.write(query, &mut z);
        // A sum of n squares is off by n roundings at most, a number of a summary by one of the vector's length.
        scratch.best.rounding = [1e-7 * self.width as f64, 1e-6 * (length(&z) + wide.longest)];
        self.search(query, &z, scratch)
    }

    /// The same; `z` is what the blocks are compared with.
    fn search(&self, query: &[f32], z: &[f32], scratch: &mut Scratch) -> f32 {
        let Scratch { bounds, order, best } = scratch;
        best.squares.fill(f32::INFINITY);
        self.blocks.bounds(z, bounds);
        let n_blocks = self.n_blocks();
        let nearest = (0..n_blocks).min_by(|&a, &b| bounds[a].total_cmp(&bounds[b])).unwrap_or(0);
        self.visit(nearest, query, z, best);
        self.compare(query, best);
        let reach = self.reach(best);
        order.clear();
        order.extend((0..n_blocks).filter(|&b| b != nearest && bounds[b] < reach).map(|b| b as u32));
        order.sort_unstable_by(|&a, &b| bounds[a as usize].total_cmp(&bounds[b as usize]));
        for &block in order.iter() {
            if bounds[block as usize] >= self.reach(best) {
                break;
            }
            self.visit(block as usize, query, z, best);
        }
        self.compare(query, best);
        best.farthest()
    }

    fn n_blocks(&self) -> usize {
        self.n_points.div_ceil(BLOCK)
    }

    /// The squared distance in the blocks from which on no point is nearer than those found.
    fn reach(&self, best: &Best) -> f32 {
        if self.wide.is_none() {
            return best.farthest();
        }
        let [share, length] = best.rounding;
        ((1.0 + share) * f64::from(best.farthest()).sqrt() + length).powi(2) as f32
    }

    fn visit(&self, block: usize, query: &[f32], z: &[f32], best: &mut Best) {
        let mut reach = self.reach(best);
        let Some(sums) = self.blocks.squares(block, z, reach) else { return };
        let real = BLOCK.min(self.n_points - block * BLOCK);
        for (lane, &sum) in sums[..real].iter().enumerate() {
            if self.wide.is_none() {
                best.insert(sum);
            } else if sum < reach && best.is_full_with((block * BLOCK + lane) as u32) {
                self.compare(query, best);
                reach = self.reach(best);
            }
        }
    }

    /// Compares the wide points that are pending.
    fn compare(&self, query: &[f32], best: &mut Best) {
        let (Some(wide), (pending, n)) = (&self.wide, best.pending) else { return };
        let row = |i: u32| &wide.rows[i as usize * self.width..][..self.width];
        let sums = squares_to_rows(pending.map(row), query);
        sums[..n].iter().for_each(|&sum| best.insert(sum));
        best.pending.1 = 0;
    }
}

impl Best {
    /// The k-th smallest squared distance.
    fn farthest(&self) -> f32 {
        self.squares[self.squares.len() - 1]
    }

    /// Puts a squared distance into its place, if it belongs there.
    fn insert(&mut self, square: f32) {
        if square >= self.farthest() {
            return;
        }
        let last = self.squares.len() - 1;
        let at = self.squares.partition_point(|&b| b <= square);
        self.squares.copy_within(at..last, at + 1);
        self.squares[at] = square;
    }

    /// Remembers a wide point; whether there are as many as are compared at once.
    fn is_full_with(&mut self, point: u32) -> bool {
        let (pending, n) = &mut self.pending;
        pending[*n] = point;
        *n += 1;
        *n == AT_ONCE
    }
}

impl Blocks {
    /// Points, rows of `width` numbers, in an order, with boxes around their first channels.
    fn new(width: usize, points: &[f32], order: &[u32], boxed: usize) -> Blocks {
        let mut blocks = Blocks { width, points: Vec::new(), boxes: Vec::new(), boxed };
        blocks.store_points(order, points);
        blocks.store_boxes(order.len().div_ceil(BLOCK));
        blocks
    }

    fn store_points(&mut self, order: &[u32], points: &[f32]) {
        let width = self.width;
        self.points = vec![f32::INFINITY; order.len().div_ceil(BLOCK) * width * BLOCK];
        for (position, &point) in order.iter().enumerate() {
            let (block, lane) = (position / BLOCK, position % BLOCK);
            for channel in 0..width {
                self.points[(block * width + channel) * BLOCK + lane] =
                    points[point as usize * width + channel];
            }
        }
    }

    fn store_boxes(&mut self, n_blocks: usize) {
        let (width, boxed) = (self.width, self.boxed);
        self.boxes = vec![0.0; n_blocks.div_ceil(BLOCK) * boxed * 2 * BLOCK];
        for block in 0..n_blocks {
            for channel in 0..boxed {
                let from = (block * width + channel) * BLOCK;
                let column = self.points[from..from + BLOCK].iter().filter(|v| v.is_finite());
                let low = column.clone().copied().fold(f32::INFINITY, f32::min);
                let high = column.copied().fold(f32::NEG_INFINITY, f32::max);
                let at = (block / BLOCK * boxed + channel) * 2 * BLOCK + block % BLOCK;
                (self.boxes[at], self.boxes[at + BLOCK]) = (low, high);
            }
        }
    }

    /// The numbers of a point, by its place in the order.
    fn row(&self, point: usize) -> impl Iterator<Item = f32> {
        let from = point / BLOCK * self.width * BLOCK + point % BLOCK;
        (0..self.width).map(move |channel| self.points[from + channel * BLOCK])
    }

    /// Squared distance from the query to each box.
    fn bounds(&self, query: &[f32], bounds: &mut [f32]) {
        let groups = self.boxes.chunks_exact((self.boxed * 2 * BLOCK).max(1));
        bounds.fill(0.0);
        for (group, sums) in groups.zip(bounds.as_chunks_mut::<BLOCK>().0) {
            let sides = group.as_chunks::<BLOCK>().0;
            *sums = simd(
                #[inline(always)]
                || squares_to_boxes(sides, query),
            );
        }
    }

    /// Squared distance from the query to each point of a block; none if all are as far as `limit`.
    fn squares(&self, block: usize, query: &[f32], limit: f32) -> Option<[f32; BLOCK]> {
        let size = self.width * BLOCK;
        let columns = self.points[block * size..(block + 1) * size].as_chunks::<BLOCK>().0;
        simd(
            #[inline(always)]
            || squares_to_points(columns, query, limit),
        )
    }
}

/// The order of points, rows of `width` numbers, in which each run of BLOCK is close together.
fn sorted(width: usize, n_points: usize, points: &[f32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n_points as u32).collect();
    sort_into_blocks(&mut order, points, width);
    order
}

fn length(z: &[f32]) -> f64 {
    z.iter().map(|&z| f64::from(z).powi(2)).sum::<f64>().sqrt()
}

/// Squared distance to each of some rows, summed in the order of the channels.
fn squares_to_rows(rows: [&[f32]; AT_ONCE], query: &[f32]) -> [f32; AT_ONCE] {
    let (rows, mut sums) = (rows.map(|row| &row[..query.len()]), [0.0; AT_ONCE]);
    for (channel, &x) in query.iter().enumerate() {
        for (sum, row) in sums.iter_mut().zip(&rows) {
            let difference = row[channel] - x;
            *sum += difference * difference;
        }
    }
    sums
}

/// Squared distance to each point of a block; none if all are as far as `limit`. Sums never shrink, so this is known early.
#[inline(always)]
fn squares_to_points(columns: &[[f32; BLOCK]], query: &[f32], limit: f32) -> Option<[f32; BLOCK]> {
    let mut sums = [0.0; BLOCK];
    for (columns, query) in columns.chunks(CHANNELS).zip(query.chunks(CHANNELS)) {
        for (column, &x) in columns.iter().zip(query) {
            for lane in 0..BLOCK {
                let difference = column[lane] - x;
                sums[lane] += difference * difference;
            }
        }
        if all_as_far(&sums, limit) {
            return None;
        }
    }
    Some(sums)
}

/// Whether no sum is below the limit, all at once; LLVM 22 cannot compile that for WebAssembly, which asks one after the other.
#[inline(always)]
fn all_as_far(sums: &[f32; BLOCK], limit: f32) -> bool {
    match cfg!(target_family = "wasm") {
        true => sums.iter().all(|&sum| sum >= limit),
        false => sums.iter().fold(true, |far, &sum| far & (sum >= limit)),
    }
}

/// Squared distance to each box of a group, whose lower and upper sides alternate.
#[inline(always)]
fn squares_to_boxes(sides: &[[f32; BLOCK]], query: &[f32]) -> [f32; BLOCK] {
    let mut sums = [0.0; BLOCK];
    for (side, &x) in sides.as_chunks::<2>().0.iter().zip(query) {
        for lane in 0..BLOCK {
            let outside = (side[0][lane] - x).max(x - side[1][lane]).max(0.0);
            sums[lane] += outside * outside;
        }
    }
    sums
}

/// Orders points so that each run of BLOCK is close together: splits at a multiple of BLOCK near the median of the
/// channel with the largest extent, until one block is left.
fn sort_into_blocks(order: &mut [u32], points: &[f32], width: usize) {
    if order.len() <= BLOCK || width == 0 {
        return;
    }
    let channel = widest_channel(order, points, width);
    let at = |i: u32| points[i as usize * width + channel];
    let half = order.len().div_ceil(BLOCK) / 2 * BLOCK;
    // Ties are broken by the index, so that the order is the same on every machine.
    order.select_nth_unstable_by(half, |&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
    let (left, right) = order.split_at_mut(half);
    sort_into_blocks(left, points, width);
    sort_into_blocks(right, points, width);
}

fn widest_channel(order: &[u32], points: &[f32], width: usize) -> usize {
    let extent = |channel: usize| {
        let column = order.iter().map(|&i| points[i as usize * width + channel]);
        let low = column.clone().fold(f32::INFINITY, f32::min);
        column.fold(f32::NEG_INFINITY, f32::max) - low
    };
    (0..width).max_by(|&a, &b| extent(a).total_cmp(&extent(b))).unwrap_or(0)
}

/// Standardised nominal points, shared by all forks, and what a query for the k-th nearest of them needs.
#[derive(Clone)]
pub(crate) struct Neighbours {
    model: Arc<(Scale, Nearest)>,
    z: Vec<f32>,
    scratch: Scratch,
}

impl Neighbours {
    /// # Panics
    /// As [`Nearest::scratch`].
    pub fn new(scale: Scale, index: Nearest, k: NonZeroUsize) -> Neighbours {
        let (z, scratch) = (vec![0.0; scale.width()], index.scratch(k.get()));
        Neighbours { model: Arc::new((scale, index)), z, scratch }
    }

    /// The units and the points.
    pub fn model(&self) -> &(Scale, Nearest) {
        &self.model
    }

    /// Distance of a row, given in its own units.
    pub fn distance(&mut self, row: &[f32]) -> f64 {
        let (scale, index) = &*self.model;
        scale.apply(row, &mut self.z);
        f64::from(index.squared_distance(&self.z, &mut self.scratch)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rng: &mut Rng, n: usize) -> Vec<f32> {
        let mut values = vec![0.0; n];
        rng.fill_normal(&mut values);
        values
    }

    /// All squared distances, ascending, summed in the order of the channels.
    fn brute_force(points: &[f32], query: &[f32]) -> Vec<f32> {
        let square = |p: &[f32]| p.iter().zip(query).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b));
        let mut all: Vec<f32> = points.chunks_exact(query.len()).map(square).collect();
        all.sort_unstable_by(f32::total_cmp);
        all
    }

    #[test]
    fn equals_brute_force_in_every_bit() {
        let mut rng = Rng::new(1);
        for (width, n) in [
            (1, 1),
            (1, 33),
            (2, 64),
            (3, 1000),
            (9, 2000),
            (18, 777),
            (40, 500),
            (64, 300),
            (65, 300),
            (200, 1500),
        ] {
            let points = normal(&mut rng, width * n);
            let index = Nearest::new(width, n, &points);
            for far in [0.0, 1.0, 30.0] {
                let query: Vec<f32> = normal(&mut rng, width).iter().map(|x| x + far).collect();
                let want = brute_force(&points, &query);
                for k in [1, 2, 7].into_iter().filter(|&k| k <= n) {
                    let found = index.squared_distance(&query, &mut index.scratch(k));
                    assert_eq!(found.to_bits(), want[k - 1].to_bits(), "{width} {n} {far} {k}");
                }
            }
        }
    }

    #[test]
    fn a_scratch_can_be_used_again() {
        let points: Vec<f32> = (0..200).map(|i| i as f32).collect();
        let index = Nearest::new(1, 200, &points);
        let mut scratch = index.scratch(2);
        for (query, want) in [(10.0, 1.0), (-3.0, 16.0), (10.0, 1.0)] {
            assert_eq!(index.squared_distance(&[query], &mut scratch), want);
        }
    }

    #[test]
    fn repeated_points_and_no_channels_are_allowed() {
        let index = Nearest::new(2, 100, &[1.0; 200]);
        assert_eq!(index.squared_distance(&[1.0, 3.0], &mut index.scratch(100)), 4.0);
        for (value, width) in [(1.0, 60), (-3e25, 60), (3e25, 2)] {
            let (points, query) = (vec![value; 100 * width], vec![value; width]);
            let same = Nearest::new(width, 100, &points);
            assert_eq!(same.squared_distance(&query, &mut same.scratch(100)), 0.0);
        }
        let empty = Nearest::new(0, 50, &[]);
        assert_eq!(empty.squared_distance(&[], &mut empty.scratch(3)), 0.0);
    }
}
