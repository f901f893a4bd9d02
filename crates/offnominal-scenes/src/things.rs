//! What stands in a scene: known things, and the unknown ones that appear only in tests.

pub mod cycles;
pub mod furniture;
pub mod heavy;
pub mod houses;
pub mod people;
pub mod plants;
pub mod poles;
pub mod unknown;
pub mod vehicles;

use crate::material::srgb;
use offnominal_core::Rng;
use offnominal_core::vec3::Vec3;

/// One of several, each as likely.
pub fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

/// Uniform between two numbers.
pub fn between(rng: &mut Rng, low: f32, high: f32) -> f32 {
    rng.range(f64::from(low), f64::from(high)) as f32
}

/// Whether something of probability p happens.
pub fn chance(rng: &mut Rng, p: f32) -> bool {
    rng.uniform() < f64::from(p)
}

/// A colour changed a little in brightness and hue.
pub fn varied(rng: &mut Rng, colour: impl Into<Vec3>, amount: f32) -> Vec3 {
    let bright = 1.0 + between(rng, -amount, amount);
    colour.into().map(|c| c * bright * (1.0 + 0.4 * between(rng, -amount, amount)))
}

/// One of several colours of sRGB numbers, changed a little.
pub fn dye(rng: &mut Rng, colours: &[[u8; 3]], amount: f32) -> Vec3 {
    let [r, g, b] = pick(rng, colours);
    varied(rng, srgb(r, g, b), amount)
}

/// One of several colours in linear light, changed a little.
pub fn shade(rng: &mut Rng, colours: &[impl Copy + Into<Vec3>], amount: f32) -> Vec3 {
    let colour = pick(rng, colours);
    varied(rng, colour, amount)
}
