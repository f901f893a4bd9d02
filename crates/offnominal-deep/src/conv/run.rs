//! A sweep over the images of a batch, on all threads.

use super::spans::{SLACK, Spans};
use super::sweep::{Sweep, Target};
use super::tile::{Block, lanes, width};
use pulp::Arch;
use rayon::prelude::*;

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

/// Some output channels and the kernel that leads to them, ready to be read in order.
struct Packed {
    width: usize,
    /// Of each target.
    weights: Vec<Vec<f32>>,
    start: [f32; 8],
}

/// The taps and tiles of a target.
struct Place<'a> {
    target: &'a Target,
    taps: Vec<usize>,
    spans: Spans,
}

/// What is the same for all images.
struct Work<'a, D> {
    sweep: &'a Sweep,
    places: Vec<Place<'a>>,
    blocks: Vec<Packed>,
    /// Input channels.
    from: usize,
    /// Numbers in an output channel, and in all of a block but the last.
    pixels: usize,
    block: usize,
    dispatch: D,
}

/// Sweeps over x `[images, from, …]` and returns `[images, to, …]`.
pub fn run(sweep: &Sweep, x: &[f32], kernel: Kernel<'_>, bias: Option<&[f32]>) -> Vec<f32> {
    run_by(lanes(), |block| Arch::new().dispatch(block), sweep, x, kernel, bias)
}

/// Sweeps by vectors of so many numbers.
pub(super) fn run_by(
    lanes: usize,
    dispatch: impl Fn(Block<'_>) + Sync,
    sweep: &Sweep,
    x: &[f32],
    kernel: Kernel<'_>,
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let (pixels, most) = (sweep.size[0] * sweep.size[1], width(lanes, kernel.to));
    let pack = |first| Packed::new(sweep, kernel, bias, first, width(lanes, kernel.to - first));
    let blocks = (0..kernel.to.div_ceil(most)).into_par_iter().map(|i| pack(i * most)).collect();
    let places = sweep.targets.iter().map(|target| Place::new(sweep, target, lanes)).collect();
    let work = Work { sweep, places, blocks, from: kernel.from, pixels, block: most * pixels, dispatch };
    let image = kernel.from * sweep.planes.pixels();
    let mut y = vec![0.0; x.len() / image * kernel.to * pixels];
    // What is read in its own place has to have a whole vector.
    let is_plain = sweep.planes.is_plain() && sweep.planes.len() >= lanes;
    let is_few = x.len() / image < rayon::current_num_threads();
    y.par_chunks_mut(kernel.to * pixels).zip(x.par_chunks(image)).for_each_init(
        || (Vec::new(), Vec::new()),
        |(planes, buffer), (y, image)| {
            let x = if is_plain { image } else { fill(sweep, image, planes) };
            if is_few { work.share(x, y) } else { work.image(x, y, buffer) }
        },
    );
    y
}

/// Lays out the channels of an image in a buffer, whose padding stays as it is from image to image.
fn fill<'a>(sweep: &Sweep, image: &[f32], planes: &'a mut Vec<f32>) -> &'a [f32] {
    let (from, to) = (sweep.planes.pixels(), sweep.planes.len());
    planes.resize(image.len() / from * to + SLACK, 0.0);
    image.chunks_exact(from).zip(planes.chunks_exact_mut(to)).for_each(|(c, to)| sweep.planes.fill(c, to));
    planes
}

impl<'a> Place<'a> {
    fn new(sweep: &Sweep, target: &'a Target, lanes: usize) -> Place<'a> {
        let taps = target.taps.iter().map(|&(_, at)| at).collect();
        Place { target, taps, spans: Spans::new(target, &sweep.planes, sweep.size[1], lanes) }
    }
}

impl Packed {
    fn new(sweep: &Sweep, kernel: Kernel<'_>, bias: Option<&[f32]>, first: usize, width: usize) -> Packed {
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
        Packed { width, weights: sweep.targets.iter().map(pack).collect(), start }
    }
}

impl<D: Fn(Block<'_>) + Sync> Work<'_, D> {
    /// An image on this thread.
    fn image(&self, x: &[f32], y: &mut [f32], buffer: &mut Vec<f32>) {
        y.chunks_mut(self.block).zip(&self.blocks).for_each(|(y, block)| self.channels(block, x, y, buffer));
    }

    /// An image on all threads.
    fn share(&self, x: &[f32], y: &mut [f32]) {
        let blocks = y.par_chunks_mut(self.block).zip(&self.blocks);
        blocks.for_each_init(Vec::new, |buffer, (y, block)| self.channels(block, x, y, buffer));
    }

    /// Some output channels of an image.
    fn channels(&self, block: &Packed, x: &[f32], y: &mut [f32], buffer: &mut Vec<f32>) {
        for (place, weights) in self.places.iter().zip(&block.weights) {
            let Some(pitch) = place.spans.buffer else {
                self.tiles(block, place, weights, x, y, self.pixels);
                continue;
            };
            let stride = place.target.rows.count * pitch + SLACK;
            let len = y.len() / self.pixels * stride;
            buffer.resize(len.max(buffer.len()), 0.0);
            self.tiles(block, place, weights, x, &mut buffer[..len], stride);
            for (from, y) in buffer.chunks_exact(stride).zip(y.chunks_exact_mut(self.pixels)) {
                put(place.target, from, pitch, y, self.sweep.size[1]);
            }
        }
    }

    fn tiles(
        &self,
        block: &Packed,
        place: &Place<'_>,
        weights: &[f32],
        x: &[f32],
        y: &mut [f32],
        stride: usize,
    ) {
        let (plane, taps, tiles) = (self.sweep.planes.len(), &place.taps[..], &place.spans.tiles[..]);
        let Packed { width, start, .. } = *block;
        (self.dispatch)(Block {
            x,
            channels: self.from,
            plane,
            taps,
            weights,
            start,
            width,
            tiles,
            stride,
            y,
        });
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
