//! A sweep over an image, ready to be made as often as there are images of its size.

use super::spans::{SLACK, Spans, Tile};
use super::sweep::{Sweep, Target};
use super::tile::{Block, lanes, width};
use pulp::Arch;

/// Numbers of the input that some tiles read at most: a quarter of the second cache.
const CACHED: usize = 1 << 17;

/// A kernel: numbers from output channel to output channel, from input channel to input channel; its taps are
/// neighbours.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// The numbers.
    pub weights: &'a [f32],
    /// Output channels.
    pub to: usize,
    /// Numbers from one to the next.
    pub to_stride: usize,
    /// Input channels.
    pub from: usize,
    /// Numbers from one to the next.
    pub from_stride: usize,
}

/// Some output channels and the kernel that leads to them, in the order in which it is read.
#[derive(Debug, Clone)]
pub struct Filters {
    /// Output channels in a tile.
    width: usize,
    /// Input channels.
    from: usize,
    /// Of each target.
    weights: Vec<Vec<f32>>,
    start: [f32; 8],
}

/// The taps and tiles of a target.
#[derive(Debug, Clone)]
struct Place {
    taps: Vec<usize>,
    spans: Spans,
}

/// A sweep with the places of its vectors.
#[derive(Debug, Clone)]
pub struct Work {
    /// What is read and written.
    pub sweep: Sweep,
    places: Vec<Place>,
    /// Whether channels are read where they are.
    is_plain: bool,
}

/// Memory of a sweep, which grows to the largest one.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// The channels as they are read.
    pub planes: Vec<f32>,
    /// Rows on their way to where they are written.
    pub rows: Vec<f32>,
    /// What some tiles read, side by side.
    near: Vec<f32>,
}

impl Filters {
    /// How many output channels the filters of so many have together, by vectors of so many numbers.
    pub fn most(lanes: usize, to: usize) -> usize {
        if to == 1 { 1 } else { width(lanes, to) }
    }

    /// Those of all output channels.
    pub fn all(sweep: &Sweep, kernel: Kernel<'_>, bias: Option<&[f32]>) -> Vec<Filters> {
        let most = Filters::most(lanes(), kernel.to);
        let of = |first| Filters::new(sweep, kernel, bias, first, Filters::most(lanes(), kernel.to - first));
        (0..kernel.to.div_ceil(most)).map(|block| of(block * most)).collect()
    }

    /// Those of so many output channels from the first on.
    pub fn new(
        sweep: &Sweep,
        kernel: Kernel<'_>,
        bias: Option<&[f32]>,
        first: usize,
        width: usize,
    ) -> Filters {
        let count = width.min(kernel.to - first);
        let mut start = [0.0; 8];
        if let Some(bias) = bias {
            start[..count].copy_from_slice(&bias[first..][..count]);
        }
        let pack = |target: &Target| {
            let mut packed = vec![0.0; kernel.from * target.taps.len() * width];
            for i in 0..count {
                let mut out = packed.iter_mut().skip(i).step_by(width);
                for c in 0..kernel.from {
                    let weights = &kernel.weights[(first + i) * kernel.to_stride + c * kernel.from_stride..];
                    target.taps.iter().zip(&mut out).for_each(|(&(tap, _), out)| *out = weights[tap]);
                }
            }
            packed
        };
        Filters { width, from: kernel.from, weights: sweep.targets.iter().map(pack).collect(), start }
    }
}

impl Place {
    /// What some tiles read of each channel, side by side, so that it stays in the caches while all filters pass by; with
    /// the distance of channels, and the place of a channel at which it begins. Few filters read it where it is.
    fn gather<'a>(
        &self,
        tiles: &[Tile],
        x: &'a [f32],
        plane: usize,
        filters: &[Filters],
        near: &'a mut Vec<f32>,
    ) -> (&'a [f32], usize, usize) {
        let reads = || tiles.iter().flat_map(|tile| &tile.at).map(|at| at[0]);
        let (first, last) = (reads().min().unwrap_or(0), reads().max().unwrap_or(0));
        let length = last - first + self.taps.iter().max().unwrap_or(&0) + SLACK;
        // Nor is it worth it where taps lie so far apart that most of it is read in vain.
        if filters.len() < 3 || length > 4 * 48 * tiles.len() {
            return (x, plane, 0);
        }
        // An odd number of lines, so that channels do not compete for the same places of a cache.
        let apart = (length.div_ceil(16) | 1) * 16;
        near.resize(near.len().max(filters[0].from * apart), 0.0);
        for (c, near) in near.chunks_exact_mut(apart).take(filters[0].from).enumerate() {
            let from = &x[(c * plane + first).min(x.len())..];
            let n = length.min(from.len());
            near[..n].copy_from_slice(&from[..n]);
        }
        (near, apart, first)
    }
}

impl Work {
    /// By the vectors of this processor.
    pub fn new(sweep: Sweep) -> Work {
        Work::by(lanes(), sweep)
    }

    /// By vectors of so many numbers.
    pub fn by(lanes: usize, sweep: Sweep) -> Work {
        let place = |target: &Target| Place {
            taps: target.taps.iter().map(|&(_, at)| at).collect(),
            spans: Spans::new(target, &sweep.planes, sweep.size[1], lanes),
        };
        // What is read in its own place has to have a whole vector.
        let pitch = sweep.planes.pitch();
        let is_long = |t: &Target| (t.rows.count - 1) * pitch + t.columns.count >= lanes;
        let is_plain = sweep.planes.is_plain() && sweep.targets.iter().all(is_long);
        Work { places: sweep.targets.iter().map(place).collect(), is_plain, sweep }
    }

    /// Numbers in an output channel.
    pub fn pixels(&self) -> usize {
        self.sweep.size[0] * self.sweep.size[1]
    }

    /// The channels of an image as they are read; their padding stays as it is from image to image of the same work.
    pub fn lay_out<'a>(&self, image: &'a [f32], planes: &'a mut Vec<f32>) -> &'a [f32] {
        let to = &self.sweep.planes;
        if self.is_plain {
            return image;
        }
        planes.resize(image.len() / to.pixels() * to.numbers() + SLACK, 0.0);
        let channels = image.chunks_exact(to.pixels()).zip(planes.chunks_exact_mut(to.numbers()));
        channels.for_each(|(channel, plane)| to.fill(channel, plane));
        planes
    }

    /// Writes `[to, rows, columns]` from an image `[from, rows, columns]`, without what is negative if it is rectified.
    pub fn run(
        &self,
        filters: &[Filters],
        image: &[f32],
        y: &mut [f32],
        is_rectified: bool,
        scratch: &mut Scratch,
    ) {
        let Scratch { planes, rows, near } = scratch;
        // What another work left is no padding of this one.
        planes.clear();
        let x = self.lay_out(image, planes);
        let dispatch = |block: Block<'_>| Arch::new().dispatch(Block { is_rectified, ..block });
        let size = filters[0].width * self.pixels();
        for (i, place) in self.places.iter().enumerate() {
            if place.spans.buffer.is_some() {
                let all = filters.iter().zip(y.chunks_mut(size));
                all.for_each(|(filters, y)| self.place(i, filters, dispatch, x, y, rows));
                continue;
            }
            let most = (CACHED / (filters[0].from * 48)).max(1);
            for tiles in place.spans.tiles.chunks(most) {
                let (x, plane, origin) = place.gather(tiles, x, self.sweep.planes.numbers(), filters, near);
                for (filters, y) in filters.iter().zip(y.chunks_mut(size)) {
                    let block = self.block(i, filters, x, y, self.pixels());
                    dispatch(Block { tiles, plane, origin, ..block });
                }
            }
        }
    }

    /// The output channels of some filters.
    pub fn channels(
        &self,
        filters: &Filters,
        dispatch: impl Fn(Block<'_>),
        x: &[f32],
        y: &mut [f32],
        buffer: &mut Vec<f32>,
    ) {
        for i in 0..self.places.len() {
            self.place(i, filters, &dispatch, x, y, buffer);
        }
    }

    /// What is written of a target.
    fn place(
        &self,
        i: usize,
        filters: &Filters,
        dispatch: impl Fn(Block<'_>),
        x: &[f32],
        y: &mut [f32],
        buffer: &mut Vec<f32>,
    ) {
        let (pixels, target) = (self.pixels(), &self.sweep.targets[i]);
        let Some(pitch) = self.places[i].spans.buffer else {
            return dispatch(self.block(i, filters, x, y, pixels));
        };
        let stride = target.rows.count * pitch + SLACK;
        let len = y.len() / pixels * stride;
        buffer.resize(len.max(buffer.len()), 0.0);
        dispatch(self.block(i, filters, x, &mut buffer[..len], stride));
        for (from, y) in buffer.chunks_exact(stride).zip(y.chunks_exact_mut(pixels)) {
            put(target, from, pitch, y, self.sweep.size[1]);
        }
    }

    fn block<'a>(
        &'a self,
        i: usize,
        filters: &'a Filters,
        x: &'a [f32],
        y: &'a mut [f32],
        stride: usize,
    ) -> Block<'a> {
        let Filters { width, from: channels, start, .. } = *filters;
        let (plane, place, weights) = (self.sweep.planes.numbers(), &self.places[i], &filters.weights[i]);
        let (taps, tiles, origin, is_rectified) = (&place.taps, &place.spans.tiles, 0, false);
        Block { x, channels, plane, taps, weights, start, width, tiles, origin, stride, is_rectified, y }
    }
}

/// Puts the rows of a buffer in their places.
fn put(target: &Target, from: &[f32], pitch: usize, y: &mut [f32], row: usize) {
    let Target { rows, columns, .. } = target;
    for i in 0..rows.count {
        let from = &from[i * pitch..][..columns.count];
        let to = &mut y[(rows.first + i * rows.step) * row..][..row][columns.first..];
        match columns.step {
            1 => to[..columns.count].copy_from_slice(from),
            step => to.iter_mut().step_by(step).zip(from).for_each(|(to, from)| *to = *from),
        }
    }
}
