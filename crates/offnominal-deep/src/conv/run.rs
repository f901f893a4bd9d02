//! A sweep over the images of a batch, on all threads.

use super::spans::{SLACK, Spans};
use super::sweep::{Sweep, Target};
use super::tile::{Block, lanes, width};
use pulp::Arch;
use rayon::prelude::*;
use std::borrow::Cow;

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
    channels: usize,
    width: usize,
    /// Of each target.
    weights: Vec<Vec<f32>>,
    start: [f32; 8],
}

/// The taps and places of a target.
struct Place<'a> {
    target: &'a Target,
    taps: Vec<usize>,
    spans: Spans,
}

/// Sweeps over x `[images, from, …]` and returns `[images, to, …]`.
pub fn run(sweep: &Sweep, x: &[f32], kernel: Kernel<'_>, bias: Option<&[f32]>) -> Vec<f32> {
    let (lanes, pixels) = (lanes(), sweep.size[0] * sweep.size[1]);
    let images = x.len() / (kernel.from * sweep.planes.pixels()).max(1);
    let mut y = vec![0.0; images * kernel.to * pixels];
    let most = width(lanes, kernel.to);
    let blocks: Vec<Packed> = (0..kernel.to.div_ceil(most))
        .into_par_iter()
        .map(|block| Packed::new(sweep, kernel, bias, block * most, width(lanes, kernel.to - block * most)))
        .collect();
    let place = |target| Place::new(sweep, target, lanes);
    let places: Vec<Place<'_>> = sweep.targets.iter().map(place).collect();
    let is_plain = sweep.planes.is_plain() && sweep.planes.len() >= lanes;
    let is_few = images < rayon::current_num_threads();
    y.par_chunks_mut(kernel.to * pixels).zip(x.par_chunks(x.len() / images)).for_each_init(
        || (Vec::new(), Vec::new()),
        |(planes, buffer), (y, image)| {
            let x = if is_plain { Cow::Borrowed(image) } else { Cow::Borrowed(fill(sweep, image, planes)) };
            let step = |buffer: &mut Vec<f32>, y: &mut [f32], block: &Packed| {
                places.iter().enumerate().for_each(|(i, place)| {
                    block.run(i, place, sweep, &x, y, buffer);
                });
            };
            if is_few {
                let y = y.par_chunks_mut(most * pixels).zip(&blocks);
                y.for_each_init(Vec::new, |buffer, (y, block)| step(buffer, y, block));
            } else {
                y.chunks_mut(most * pixels).zip(&blocks).for_each(|(y, block)| step(buffer, y, block));
            }
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
        Packed { channels: kernel.from, width, weights: sweep.targets.iter().map(pack).collect(), start }
    }

    fn run(
        &self,
        i: usize,
        place: &Place<'_>,
        sweep: &Sweep,
        x: &[f32],
        y: &mut [f32],
        buffer: &mut Vec<f32>,
    ) {
        let (pixels, pitch) = (sweep.size[0] * sweep.size[1], place.spans.buffer);
        let block = |y: &mut [f32], stride| {
            let (plane, taps, weights, tiles) =
                (sweep.planes.len(), &place.taps[..], &self.weights[i][..], &place.spans.tiles[..]);
            let Packed { channels, width, start, .. } = *self;
            Arch::new().dispatch(Block { x, channels, plane, taps, weights, start, width, tiles, stride, y });
        };
        let Some(pitch) = pitch else { return block(y, pixels) };
        let stride = place.target.rows.count * pitch + SLACK;
        buffer.resize((y.len() / pixels * stride).max(buffer.len()), 0.0);
        let buffer = &mut buffer[..y.len() / pixels * stride];
        block(buffer, stride);
        for (from, y) in buffer.chunks_exact(stride).zip(y.chunks_exact_mut(pixels)) {
            put(place.target, from, pitch, y, sweep.size[1]);
        }
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
