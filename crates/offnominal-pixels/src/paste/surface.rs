//! What pasted things look like.

use offnominal_core::Rng;

/// Brightness of a surface, in that of its surroundings.
const LIGHT: [f64; 2] = [0.45, 1.6];
/// Deviation of the noise of a surface, in levels of 256.
const NOISE: f64 = 4.0;

/// A surface.
pub struct Surface<'a> {
    pattern: Pattern<'a>,
    /// What colours are multiplied by.
    tint: [f32; 3],
}

enum Pattern<'a> {
    /// One colour that gets darker downwards by this share per row.
    Plain { colour: [f32; 3], fall: f32 },
    /// Two colours in stripes across a direction, or checks.
    Stripes { colours: [[f32; 3]; 2], period: f32, across: [f32; 2], are_checks: bool },
    /// Two colours in blotches, by waves of some lengths.
    Blotches { colours: [[f32; 3]; 2], waves: [[f32; 3]; 5] },
    /// A piece of an image, moved by so many rows and columns.
    Piece { rgb: &'a [u8], width: usize, offset: [usize; 2] },
}

fn colour(rng: &mut Rng) -> [f32; 3] {
    // Half of all things are nearly grey, as most things are.
    let saturation = if rng.uniform() < 0.5 { 0.25 } else { 1.0 };
    let grey = rng.range(20.0, 235.0);
    std::array::from_fn(|_| (grey + saturation * (rng.range(20.0, 235.0) - grey)) as f32)
}

impl<'a> Surface<'a> {
    /// A surface as bright as its surroundings, about; `pieces` is another image and its width.
    pub fn draw((rgb, width): (&'a [u8], usize), light: f32, rng: &mut Rng) -> Surface<'a> {
        let colours = [colour(rng), colour(rng)];
        let pattern = match rng.below(5) {
            0 => Pattern::Plain { colour: colours[0], fall: rng.range(0.0, 0.02) as f32 },
            1 => {
                let turn = rng.range(0.0, std::f64::consts::PI);
                let across = [turn.sin() as f32, turn.cos() as f32];
                let (period, are_checks) = (rng.range(2.0, 14.0) as f32, rng.uniform() < 0.4);
                Pattern::Stripes { colours, period, across, are_checks }
            }
            2 => {
                let wave = |rng: &mut Rng| [rng.range(-0.8, 0.8), rng.range(-0.8, 0.8), rng.range(0.0, 6.3)];
                Pattern::Blotches { colours, waves: std::array::from_fn(|_| wave(rng).map(|x| x as f32)) }
            }
            _ => Pattern::Piece { rgb, width, offset: [rng.below(rgb.len() / 3 / width), rng.below(width)] },
        };
        let mean = match &pattern {
            Pattern::Plain { colour, .. } => brightness(*colour),
            Pattern::Piece { .. } => light.max(10.0),
            Pattern::Stripes { colours, .. } | Pattern::Blotches { colours, .. } => {
                0.5 * (brightness(colours[0]) + brightness(colours[1]))
            }
        };
        let wanted = light * rng.range(LIGHT[0].ln(), LIGHT[1].ln()).exp() as f32;
        let tint = std::array::from_fn(|_| rng.range(0.85, 1.15) as f32 * wanted / mean);
        Surface { pattern, tint }
    }

    /// Its colour at a pixel, 0 to 255.
    pub fn at(&self, row: usize, column: usize, rng: &mut Rng) -> [f32; 3] {
        let (y, x) = (row as f32, column as f32);
        let colour = match &self.pattern {
            Pattern::Plain { colour, fall } => colour.map(|c| c * (1.0 - fall * (y % 24.0))),
            Pattern::Stripes { colours, period, across, are_checks } => {
                let band = |at: f32| (at / period).floor() as i32;
                let along = if *are_checks { band(y * across[1] - x * across[0]) } else { 0 };
                colours[(band(y * across[0] + x * across[1]) + along).rem_euclid(2) as usize]
            }
            Pattern::Blotches { colours, waves } => {
                let sum: f32 = waves.iter().map(|[a, b, phase]| (a * y + b * x + phase).sin()).sum();
                let share = (0.5 + 0.4 * sum).clamp(0.0, 1.0);
                std::array::from_fn(|i| colours[0][i] + share * (colours[1][i] - colours[0][i]))
            }
            Pattern::Piece { rgb, width, offset } => {
                let (r, c) = ((row + offset[0]) % (rgb.len() / 3 / width), (column + offset[1]) % width);
                let at = 3 * (r * width + c);
                [0, 1, 2].map(|i| f32::from(rgb[at + i]))
            }
        };
        let noise = (NOISE * rng.normal()) as f32;
        std::array::from_fn(|i| (colour[i] * self.tint[i] + noise).clamp(0.0, 255.0))
    }
}

/// Brightness of a pixel of an image, from 0 to 255.
pub fn light(rgb: &[u8], pixel: usize) -> f32 {
    brightness([0, 1, 2].map(|channel| f32::from(rgb[3 * pixel + channel])))
}

fn brightness(colour: [f32; 3]) -> f32 {
    colour.iter().sum::<f32>() / 3.0
}
