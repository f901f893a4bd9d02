//! Outlines of things that are pasted: one to three lobes, each a circle whose radius waves, or a box.

use offnominal_core::Rng;
use std::f32::consts::TAU;
use std::ops::Range;

/// Share of the height of an image at which the lowest and the highest thing stand.
const STANDS: [f32; 2] = [0.45, 1.02];
/// Heights of things at the lower edge of an image, in its height; they shrink towards the horizon.
const HEIGHTS: [f32; 2] = [0.12, 0.6];
/// Waves of an outline.
const WAVES: usize = 4;

/// A shape in pixels.
pub struct Shape {
    lobes: Vec<Lobe>,
    /// Middle of the place on which it stands: row, column.
    foot: [f32; 2],
    half_width: f32,
    half_height: f32,
}

/// A part of a shape, around a middle in units of half its width and height.
struct Lobe {
    middle: [f32; 2],
    radius: f32,
    /// A box has corners, else the radius waves by these shares with these phases.
    is_box: bool,
    waves: [[f32; 2]; WAVES],
    turn: f32,
}

fn between(rng: &mut Rng, [low, high]: [f32; 2]) -> f32 {
    rng.range(f64::from(low), f64::from(high)) as f32
}

impl Shape {
    /// A shape for an image of that size.
    pub fn draw(width: usize, height: usize, rng: &mut Rng) -> Shape {
        let (w, h) = (width as f32, height as f32);
        let stands = between(rng, STANDS);
        // Sizes are spread evenly over their logarithm, and shrink towards the horizon.
        let nearness = ((stands - 0.35) / 0.65).max(0.1);
        let size = between(rng, HEIGHTS.map(f32::ln)).exp() * nearness * h;
        let tall = between(rng, [0.5_f32.ln(), 2.2_f32.ln()]).exp();
        let (half_width, half_height) =
            ((size / tall.sqrt() / 2.0).max(1.5), (size * tall.sqrt() / 2.0).max(1.5));
        let foot = [stands * h, between(rng, [0.02, 0.98]) * w];
        Shape::standing(foot, [2.0 * half_height, 2.0 * half_width], rng)
    }

    /// A shape that stands at a row and column and has a height and width in pixels.
    pub fn standing(foot: [f32; 2], [height, width]: [f32; 2], rng: &mut Rng) -> Shape {
        let lobes = (0..1 + rng.below(3)).map(|i| Lobe::draw(i, rng)).collect();
        Shape { lobes, foot, half_width: 0.5 * width, half_height: 0.5 * height }
    }

    fn middle(&self) -> [f32; 2] {
        [self.foot[0] - self.half_height, self.foot[1]]
    }

    /// The pixels that it covers, and how much of each, 0 to 1, from four by four samples.
    pub fn pixels(&self, width: usize, height: usize) -> impl Iterator<Item = (usize, f32)> {
        let (rows, columns) = self.around(1.5, width, height);
        rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
            .map(move |(row, column)| (row * width + column, self.cover(row, column)))
            .filter(|(_, cover)| *cover > 0.0)
    }

    fn cover(&self, row: usize, column: usize) -> f32 {
        let inside = (0..16).filter(|i| {
            let at = |of: usize| (of as f32 + 0.5) / 4.0;
            self.contains(row as f32 + at(i / 4), column as f32 + at(i % 4))
        });
        inside.count() as f32 / 16.0
    }

    fn contains(&self, row: f32, column: f32) -> bool {
        let [r, c] = self.middle();
        let (y, x) = ((row - r) / self.half_height, (column - c) / self.half_width);
        self.lobes.iter().any(|lobe| lobe.contains(y, x))
    }

    /// Rows and columns within so many times its size.
    fn around(&self, times: f32, width: usize, height: usize) -> (Range<usize>, Range<usize>) {
        let [row, column] = self.middle();
        let range = |middle: f32, half: f32, n: usize| {
            let first = (middle - times * half).max(0.0) as usize;
            first.min(n)..((middle + times * half).ceil().max(0.0) as usize).min(n)
        };
        (range(row, self.half_height, height), range(column, self.half_width, width))
    }

    /// Rows and columns of what surrounds it.
    pub fn surroundings(&self, width: usize, height: usize) -> (Range<usize>, Range<usize>) {
        self.around(2.0, width, height)
    }

    /// The pixels of its shadow, and how dark each is, 0 to 1.
    pub fn shadow(&self, width: usize, height: usize) -> impl Iterator<Item = (usize, f32)> {
        let [row, column] = self.foot;
        let (tall, wide) = ((0.18 * self.half_height).max(1.0), 1.2 * self.half_width);
        let (rows, columns) = self.around(2.5, width, height);
        rows.flat_map(move |r| columns.clone().map(move |c| (r, c))).filter_map(move |(r, c)| {
            let (y, x) = ((r as f32 + 0.5 - row) / tall, (c as f32 + 0.5 - column) / wide);
            let dark = 1.0 - (y * y + x * x).sqrt();
            (dark > 0.0).then_some((r * width + c, dark.min(0.6) / 0.6))
        })
    }
}

impl Lobe {
    /// The first lobe fills the shape, others stick out of it.
    fn draw(number: usize, rng: &mut Rng) -> Lobe {
        let off = |rng: &mut Rng| if number == 0 { 0.0 } else { between(rng, [-0.6, 0.6]) };
        let wave =
            |rng: &mut Rng, i: usize| [between(rng, [0.0, 0.35]) / (i + 1) as f32, between(rng, [0.0, TAU])];
        Lobe {
            middle: [off(rng), off(rng)],
            radius: if number == 0 { 0.85 } else { between(rng, [0.3, 0.7]) },
            is_box: rng.uniform() < 0.3,
            waves: std::array::from_fn(|i| wave(rng, i)),
            turn: between(rng, [-0.5, 0.5]),
        }
    }

    fn contains(&self, y: f32, x: f32) -> bool {
        let (y, x) = (y - self.middle[0], x - self.middle[1]);
        if self.is_box {
            let (sin, cos) = self.turn.sin_cos();
            return (x * cos - y * sin).abs().max((x * sin + y * cos).abs()) < self.radius;
        }
        let angle = y.atan2(x);
        let wave = |(i, [share, phase]): (usize, &[f32; 2])| share * ((i + 2) as f32 * angle + phase).cos();
        let radius = self.radius * (1.0 + self.waves.iter().enumerate().map(wave).sum::<f32>());
        (y * y + x * x).sqrt() < radius
    }
}
