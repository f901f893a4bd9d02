//! The loss of JPEG, without the file.
//!
//! Entropy coding loses nothing, so writing and reading a file amounts to this: colours to luma and chroma, chroma at
//! half the resolution, 8 × 8 cosine transforms, coefficients rounded to multiples of a table, and all of it back.
//!
//! Reference: ITU-T T.81, Annex K (tables), and the quality scale and chroma interpolation of the Independent JPEG
//! Group's library, which the package uses through Pillow.

use super::filter::Size;
use super::{Effect, between};

const LUMA: [u8; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17,
    22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78,
    87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];

const CHROMA: [u8; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
];

/// The round trip through a file of a quality.
pub(super) fn jpeg(severity: f64, size: Size) -> Effect {
    let [quality] = between(&[[25.0], [18.0], [15.0], [10.0], [7.0]], severity);
    let half = [size.height.div_ceil(2), size.width.div_ceil(2)];
    let chroma = || Plane::new(half[0], half[1], &CHROMA, quality.round());
    let luma = Plane::new(size.height, size.width, &LUMA, quality.round());
    let mut planes = Planes { size, luma, chroma: [chroma(), chroma()] };
    Box::new(move |levels, _| if size.planes == 1 { planes.grey(levels) } else { planes.coloured(levels) })
}

/// The planes of an image in a file.
struct Planes {
    size: Size,
    luma: Plane,
    chroma: [Plane; 2],
}

impl Planes {
    fn grey(&mut self, levels: &mut [f32]) {
        let width = self.size.width;
        self.luma.fill(|row, column| levels[row * width + column.min(width - 1)]);
        self.luma.lose();
        for (i, x) in levels.iter_mut().enumerate() {
            *x = self.luma.at(i / width, i % width);
        }
    }

    fn coloured(&mut self, levels: &mut [f32]) {
        let Size { height, width, .. } = self.size;
        let pixel = |r: usize, c: usize| -> [i32; 3] {
            let at = 3 * (r.min(height - 1) * width + c.min(width - 1));
            std::array::from_fn(|i| levels[at + i] as i32)
        };
        self.luma.fill(|r, c| weigh(LUMA_WEIGHTS, pixel(r, c), 1 << 15));
        for (plane, weights) in self.chroma.iter_mut().zip(CHROMA_WEIGHTS) {
            let full = |r: usize, c: usize| weigh(weights, pixel(r, c), (128 << 16) + (1 << 15) - 1);
            plane.fill(|r, c| mean_of_four(2 * r, 2 * c, full));
            plane.lose();
        }
        self.luma.lose();
        for (i, out) in levels.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let (r, c) = (i / width, i % width);
            let [y, blue, red] =
                [self.luma.at(r, c), self.chroma[0].between(r, c), self.chroma[1].between(r, c)];
            let (blue, red) = (blue - 128.0, red - 128.0);
            *out =
                [y + 1.402 * red, y - 0.344_136 * blue - 0.714_136 * red, y + 1.772 * blue].map(f32::round);
        }
    }
}

/// Weights of red, green and blue in luma and in the two chromas, in units of 2⁻¹⁶.
const LUMA_WEIGHTS: [i32; 3] = [19595, 38470, 7471];
const CHROMA_WEIGHTS: [[i32; 3]; 2] = [[-11059, -21709, 32768], [32768, -27439, -5329]];

/// A weighted sum with an offset, in whole levels.
fn weigh(weights: [i32; 3], pixel: [i32; 3], offset: i32) -> f32 {
    let sum: i32 = weights.iter().zip(pixel).map(|(w, x)| w * x).sum();
    ((sum + offset) >> 16) as f32
}

/// The mean of 2 × 2 pixels in whole levels; halves go up and down in turn, so that they cancel.
fn mean_of_four(row: usize, column: usize, at: impl Fn(usize, usize) -> f32) -> f32 {
    let sum = at(row, column) + at(row, column + 1) + at(row + 1, column) + at(row + 1, column + 1);
    let bias = if (column / 2).is_multiple_of(2) { 1.0 } else { 2.0 };
    ((sum + bias) / 4.0).floor()
}

/// One plane, padded to whole blocks.
struct Plane {
    height: usize,
    width: usize,
    stride: usize,
    levels: Vec<f32>,
    steps: [f64; 64],
    /// The cosine transform of eight numbers, by rows.
    cosines: [[f64; 8]; 8],
}

impl Plane {
    fn new(height: usize, width: usize, table: &[u8; 64], quality: f64) -> Plane {
        let stride = width.next_multiple_of(8);
        let levels = vec![0.0; stride * height.next_multiple_of(8)];
        Plane { height, width, stride, levels, steps: scaled(table, quality), cosines: cosines() }
    }

    /// Sets every number. Beyond the last row it is repeated; columns beyond the last one are asked for, because there
    /// the library repeats pixels before it averages them.
    fn fill(&mut self, at: impl Fn(usize, usize) -> f32) {
        for (i, x) in self.levels.iter_mut().enumerate() {
            *x = at((i / self.stride).min(self.height - 1), i % self.stride);
        }
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.levels[row * self.stride + column]
    }

    /// The number at a place of the image of twice the size: three quarters of the nearer one, along each axis.
    fn between(&self, row: usize, column: usize) -> f32 {
        let other = |i: usize, n: usize| {
            if i.is_multiple_of(2) { (i / 2).saturating_sub(1) } else { (i / 2 + 1).min(n - 1) }
        };
        let (near, far) = (row / 2, other(row, self.height));
        let across = |r: usize| 3.0 * self.at(r, column / 2) + self.at(r, other(column, self.width));
        let bias = if column.is_multiple_of(2) { 8.0 } else { 7.0 };
        ((3.0 * across(near) + across(far) + bias) / 16.0).floor()
    }

    /// Rounds the coefficients of every block.
    fn lose(&mut self) {
        for top in (0..self.levels.len()).step_by(8 * self.stride) {
            for left in (0..self.stride).step_by(8) {
                self.lose_block(top + left);
            }
        }
    }

    fn lose_block(&mut self, from: usize) {
        let place = |i: usize| from + (i / 8) * self.stride + i % 8;
        let centred: [f64; 64] = std::array::from_fn(|i| f64::from(self.levels[place(i)]) - 128.0);
        let coefficients = forward(&centred, &self.cosines);
        let kept = std::array::from_fn(|i| away(coefficients[i] / self.steps[i]) * self.steps[i]);
        let back = across(&down(&kept, |n, k| self.cosines[k][n]), |n, k| self.cosines[k][n]);
        for (i, x) in back.iter().enumerate() {
            self.levels[place(i)] = (x + 128.0).round().clamp(0.0, 255.0) as f32;
        }
    }
}

/// The cosine transform of a block. The library computes in whole numbers: rows in units of 1 / (4 √8), then columns in
/// units of 1 / 8, rounded in between, which decides where a coefficient lies half-way between two steps.
fn forward(block: &[f64; 64], cosines: &[[f64; 8]; 8]) -> [f64; 64] {
    let unit = 4.0 * 8.0_f64.sqrt();
    let whole = |x: f64| (x + 0.5 + 1e-6).floor();
    let rows = across(block, |k, n| cosines[k][n]).map(|x| whole(x * unit) / unit);
    down(&rows, |k, n| cosines[k][n]).map(|x| whole(8.0 * x) / 8.0)
}

/// The nearest whole number, halves away from zero.
fn away(x: f64) -> f64 {
    (x.abs() + 0.5 + 1e-9).floor().copysign(x)
}

/// A matrix applied to the columns of a block.
fn down(block: &[f64; 64], matrix: impl Fn(usize, usize) -> f64) -> [f64; 64] {
    std::array::from_fn(|i| (0..8).map(|n| matrix(i / 8, n) * block[8 * n + i % 8]).sum())
}

/// A matrix applied to the rows of a block.
fn across(block: &[f64; 64], matrix: impl Fn(usize, usize) -> f64) -> [f64; 64] {
    std::array::from_fn(|i| (0..8).map(|n| matrix(i % 8, n) * block[8 * (i / 8) + n]).sum())
}

fn cosines() -> [[f64; 8]; 8] {
    std::array::from_fn(|k| {
        let scale = if k == 0 { 0.125_f64.sqrt() } else { 0.5 };
        std::array::from_fn(|n| scale * (std::f64::consts::PI / 16.0 * ((2 * n + 1) * k) as f64).cos())
    })
}

/// The table at a quality below 50, in whole steps from 1 to 255.
fn scaled(table: &[u8; 64], quality: f64) -> [f64; 64] {
    let percent = (5000.0 / quality).floor();
    std::array::from_fn(|i| ((f64::from(table[i]) * percent + 50.0) / 100.0).floor().clamp(1.0, 255.0))
}
