//! Exact nearest neighbours among fixed points, made for one query at a time.
//!
//! A k-d tree of two levels: the points are sorted into blocks of [`BLOCK`] by splitting along the channel with the
//! largest extent, and each block knows its bounding box. A query computes its distance to all boxes, then visits
//! blocks in the order of that distance until the next box is farther than the k-th best point. Boxes and points lie
//! channel by channel, so both loops run on vectors of the processor. With many channels boxes prune little; then a block
//! is left as soon as the sums over its first channels say that no point of it is near.
//!
//! Exact in `f32`: rounding is monotone, and box and point distances sum the channels in the same order, so a box is
//! never farther than a point in it.

use super::prelude::*;
use super::scale::Scale;
use offnominal_nets::simd;

/// Points per block: two 16-lane vectors, or eight of 4 lanes.
const BLOCK: usize = 32;
/// Channels after which the sums of a block are looked at.
const CHANNELS: usize = 8;

/// Points, sorted into blocks.
#[derive(Debug, PartialEq)]
pub(crate) struct Nearest {
    width: usize,
    /// `[block, channel, BLOCK]`; the last block is padded with infinity, which is never near.
    points: Vec<f32>,
    /// `[group, channel, low | high, BLOCK]`: bounding boxes, BLOCK of them per group.
    boxes: Vec<f32>,
    n_points: usize,
}

/// What a query needs; allocated once.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    /// Squared distance to the box of each block, then padding.
    bounds: Vec<f32>,
    /// Blocks that may hold a neighbour, nearest box first.
    order: Vec<u32>,
    /// The k smallest squared distances so far, ascending.
    best: Vec<f32>,
}

impl Nearest {
    /// Sorts `points`, rows of `width` numbers, of which there are `n_points` (a width of zero is allowed).
    pub fn new(width: usize, n_points: usize, points: &[f32]) -> Nearest {
        assert_eq!(points.len(), width * n_points, "points do not fill whole rows");
        let mut order: Vec<u32> = (0..n_points as u32).collect();
        sort_into_blocks(&mut order, points, width);
        let mut index = Nearest { width, points: Vec::new(), boxes: Vec::new(), n_points };
        index.store_points(&order, points);
        index.store_boxes();
        index
    }

    /// Writes the points, rows of `width` numbers.
    pub fn save(&self, to: &mut Writer<'_>) {
        let at = |point: usize, channel| {
            self.points[(point / BLOCK * self.width + channel) * BLOCK + point % BLOCK]
        };
        let row = |point| (0..self.width).map(move |channel| at(point, channel));
        to.put("points", &(0..self.n_points).flat_map(row).collect::<Vec<_>>());
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
            best: vec![f32::INFINITY; k],
        }
    }

    /// Squared distance from `query` to its k-th nearest point; k is the one the scratch was made for.
    pub fn squared_distance(&self, query: &[f32], scratch: &mut Scratch) -> f32 {
        let Scratch { bounds, order, best } = scratch;
        best.fill(f32::INFINITY);
        self.bounds(query, bounds);
        let n_blocks = self.n_blocks();
        let nearest = (0..n_blocks).min_by(|&a, &b| bounds[a].total_cmp(&bounds[b])).unwrap_or(0);
        self.visit(nearest, query, best);
        let limit = best[best.len() - 1];
        order.clear();
        order.extend((0..n_blocks).filter(|&b| b != nearest && bounds[b] < limit).map(|b| b as u32));
        order.sort_unstable_by(|&a, &b| bounds[a as usize].total_cmp(&bounds[b as usize]));
        for &block in order.iter() {
            if bounds[block as usize] >= best[best.len() - 1] {
                break;
            }
            self.visit(block as usize, query, best);
        }
        best[best.len() - 1]
    }

    fn n_blocks(&self) -> usize {
        self.n_points.div_ceil(BLOCK)
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

    fn store_boxes(&mut self) {
        let (width, n_blocks) = (self.width, self.n_blocks());
        self.boxes = vec![0.0; n_blocks.div_ceil(BLOCK) * width * 2 * BLOCK];
        for block in 0..n_blocks {
            for channel in 0..width {
                let from = (block * width + channel) * BLOCK;
                let column = self.points[from..from + BLOCK].iter().filter(|v| v.is_finite());
                let low = column.clone().copied().fold(f32::INFINITY, f32::min);
                let high = column.copied().fold(f32::NEG_INFINITY, f32::max);
                let at = (block / BLOCK * width + channel) * 2 * BLOCK + block % BLOCK;
                (self.boxes[at], self.boxes[at + BLOCK]) = (low, high);
            }
        }
    }

    /// Squared distance from the query to each box.
    fn bounds(&self, query: &[f32], bounds: &mut [f32]) {
        let groups = self.boxes.chunks_exact((self.width * 2 * BLOCK).max(1));
        bounds.fill(0.0);
        for (group, sums) in groups.zip(bounds.as_chunks_mut::<BLOCK>().0) {
            let sides = group.as_chunks::<BLOCK>().0;
            *sums = simd(
                #[inline(always)]
                || squares_to_boxes(sides, query),
            );
        }
    }

    fn visit(&self, block: usize, query: &[f32], best: &mut [f32]) {
        let size = self.width * BLOCK;
        let columns = self.points[block * size..(block + 1) * size].as_chunks::<BLOCK>().0;
        let limit = best[best.len() - 1];
        let sums = simd(
            #[inline(always)]
            || squares_to_points(columns, query, limit),
        );
        let Some(sums) = sums else { return };
        let real = BLOCK.min(self.n_points - block * BLOCK);
        for &sum in &sums[..real] {
            insert(best, sum);
        }
    }
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

/// Puts `value` into its place among the smallest, if it belongs there.
fn insert(best: &mut [f32], value: f32) {
    let last = best.len() - 1;
    if value >= best[last] {
        return;
    }
    let at = best.partition_point(|&b| b <= value);
    best.copy_within(at..last, at + 1);
    best[at] = value;
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
        for (width, n) in [(1, 1), (1, 33), (2, 64), (3, 1000), (9, 2000), (18, 777), (40, 500)] {
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
        let empty = Nearest::new(0, 50, &[]);
        assert_eq!(empty.squared_distance(&[], &mut empty.scratch(3)), 0.0);
    }
}
