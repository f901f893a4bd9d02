//! What stands in a scene: known things, and the unknown ones that appear only in tests.

pub mod furniture;
pub mod people;
pub mod street;
pub mod unknown;
pub mod vehicles;

use crate::vec3::Vec3;
use offnominal_core::Rng;

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
pub fn varied(rng: &mut Rng, colour: Vec3, amount: f32) -> Vec3 {
    let bright = 1.0 + between(rng, -amount, amount);
    colour.map(|c| c * bright * (1.0 + 0.4 * between(rng, -amount, amount)))
}

/// One of several colours, changed a little.
pub fn shade(rng: &mut Rng, colours: &[Vec3], amount: f32) -> Vec3 {
    let colour = pick(rng, colours);
    varied(rng, colour, amount)
}
