//! Fog and snow.

use super::camera::{enlarged, stretch};
use super::filter::{Size, Streak};
use super::{Effect, between};
use offnominal_core::Rng;

/// (x + c p) · max / (max + c) with a plasma fractal p in [0, 1].
pub(super) fn fog(severity: f64, size: Size) -> Effect {
    let [density, decay] = between(&[[1.5, 2.0], [2.0, 2.0], [2.5, 1.7], [2.5, 1.5], [3.0, 1.4]], severity);
    let (density, side) = (255.0 * density as f32, size.height.max(size.width).next_power_of_two());
    let mut plasma = Plasma { side, decay, heights: vec![0.0; side * side] };
    Box::new(move |levels, rng| {
        let (low, span) = plasma.draw(rng);
        let brightest = levels.iter().copied().fold(0.0, f32::max);
        let scale = brightest / (brightest + density);
        for (i, pixel) in levels.chunks_exact_mut(size.planes).enumerate() {
            let at = (i / size.width) * side + i % size.width;
            let haze = density * ((plasma.heights[at] - low) / span) as f32;
            pixel.iter_mut().for_each(|x| *x = (*x + haze) * scale);
        }
    })
}

/// A height map by the diamond-square algorithm on a torus whose side is a power of two.
struct Plasma {
    side: usize,
    decay: f64,
    heights: Vec<f64>,
}

impl Plasma {
    /// Draws the map; its lowest value and its span.
    fn draw(&mut self, rng: &mut Rng) -> (f64, f64) {
        let (mut step, mut wobble) = (self.side, 100.0_f64);
        self.heights[0] = 0.0;
        while step >= 2 {
            let half = step / 2;
            // Centres of squares from their corners, then centres of edges from their four neighbours.
            self.fill(step, (half, half), wobble, rng);
            self.fill(step, (0, half), wobble, rng);
            self.fill(step, (half, 0), wobble, rng);
            step = half;
            wobble /= self.decay;
        }
        let low = self.heights.iter().copied().fold(f64::INFINITY, f64::min);
        (low, self.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low)
    }

    /// Sets the points at an offset from each corner of the grid to the mean of their neighbours, and noise.
    fn fill(&mut self, step: usize, offset: (usize, usize), wobble: f64, rng: &mut Rng) {
        let (n, d) = (self.side, step / 2);
        // Steps back around the torus are steps of n − d forwards.
        let around = if offset == (d, d) {
            [(d, d), (d, n - d), (n - d, d), (n - d, n - d)]
        } else {
            [(d, 0), (n - d, 0), (0, d), (0, n - d)]
        };
        for row in (offset.0..n).step_by(step) {
            for column in (offset.1..n).step_by(step) {
                let at = |(r, c): (usize, usize)| self.heights[((row + r) % n) * n + (column + c) % n];
                let mean = around.map(at).iter().sum::<f64>() / 4.0;
                self.heights[row * n + column] = mean + wobble * rng.range(-wobble, wobble);
            }
        }
    }
}

/// A whitened image with streaks of flakes, once as drawn and once turned by half a turn.
pub(super) fn snow(severity: f64, size: Size) -> Effect {
    let table = [
        [0.1, 0.3, 3.0, 0.5, 10.0, 4.0, 0.8],
        [0.2, 0.3, 2.0, 0.5, 12.0, 4.0, 0.7],
        [0.55, 0.3, 4.0, 0.9, 12.0, 8.0, 0.7],
        [0.55, 0.3, 4.5, 0.85, 12.0, 8.0, 0.65],
        [0.55, 0.3, 2.5, 0.85, 12.0, 12.0, 0.55],
    ];
    let [mean, sd, zoom, threshold, radius, sigma, unwhitened] = between(&table, severity);
    let (Size { height, width, planes }, unwhitened) = (size, unwhitened as f32);
    let [down, across] = [height, width].map(|side| enlarged(side, zoom, usize::MAX));
    let layer_size = Size { height: down.len(), width: across.len(), planes: 1 };
    let mut streak = Streak::new(radius.round() as usize, sigma, layer_size);
    let (mut flakes, mut layer) = (vec![0.0; size.pixels()], vec![0.0; layer_size.len()]);
    // Draws flakes, enlarges them, keeps the strong ones, and lets them fall.
    let mut draw = move |layer: &mut [f32], rng: &mut Rng| {
        rng.fill_normal(&mut flakes);
        let strong = |flake: f32| {
            let value = mean + sd * f64::from(flake);
            if value < threshold { 0.0 } else { value.min(1.0) as f32 }
        };
        // Interpolation keeps the mean and scales deviations, so it commutes with adding the mean afterwards.
        stretch(&flakes, size.flat(), &down, &across, |at, value| layer[at] = strong(value));
        streak.apply(layer, rng.range(-135.0, -45.0));
        layer.iter_mut().for_each(|x| *x = (255.0 * *x).round());
    };
    Box::new(move |levels, rng| {
        draw(&mut layer, rng);
        for (i, pixel) in levels.chunks_exact_mut(planes).enumerate() {
            let (row, column) = (i / width, i % width);
            let snow = layer[row * layer_size.width + column]
                + layer[(height - 1 - row) * layer_size.width + width - 1 - column];
            let white = 1.5 * grey(pixel) + 127.5;
            pixel.iter_mut().for_each(|x| *x = unwhitened * *x + (1.0 - unwhitened) * x.max(white) + snow);
        }
    })
}

/// The brightness of a pixel.
fn grey(pixel: &[f32]) -> f32 {
    match pixel {
        [r, g, b] => 0.299 * r + 0.587 * g + 0.114 * b,
        _ => pixel[0],
    }
}
