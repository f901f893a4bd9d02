//! Noise on every number of a frame: normal, Poisson, impulses, speckle.

use super::filter::Size;
use super::{Effect, between};
use offnominal_core::Rng;

/// x + 255 σ n.
pub(super) struct Gaussian {
    sd: f32,
    draws: Vec<f32>,
}

impl Gaussian {
    pub(super) fn new(severity: f64, size: Size) -> Gaussian {
        let [sd] = between(&[[0.08], [0.12], [0.18], [0.26], [0.38]], severity);
        Gaussian { sd: 255.0 * sd as f32, draws: vec![0.0; size.len()] }
    }
}

impl Effect for Gaussian {
    fn apply(&mut self, levels: &mut [f32], rng: &mut Rng) {
        rng.fill_normal(&mut self.draws);
        levels.iter_mut().zip(&self.draws).for_each(|(x, n)| *x += self.sd * n);
    }
}

/// x + x σ n.
pub(super) struct Speckle {
    sd: f32,
    draws: Vec<f32>,
}

impl Speckle {
    pub(super) fn new(severity: f64, size: Size) -> Speckle {
        let [sd] = between(&[[0.15], [0.2], [0.35], [0.45], [0.6]], severity);
        Speckle { sd: sd as f32, draws: vec![0.0; size.len()] }
    }
}

impl Effect for Speckle {
    fn apply(&mut self, levels: &mut [f32], rng: &mut Rng) {
        rng.fill_normal(&mut self.draws);
        levels.iter_mut().zip(&self.draws).for_each(|(x, n)| *x += *x * self.sd * n);
    }
}

/// Black or white with probability p/2 each; every number by itself, so that the colours of a pixel flip apart.
pub(super) struct Impulse {
    p: f64,
}

impl Impulse {
    pub(super) fn new(severity: f64, _: Size) -> Impulse {
        let [p] = between(&[[0.03], [0.06], [0.09], [0.17], [0.27]], severity);
        Impulse { p }
    }
}

impl Effect for Impulse {
    fn apply(&mut self, levels: &mut [f32], rng: &mut Rng) {
        for level in levels {
            let u = rng.uniform();
            if u < self.p {
                *level = if u < 0.5 * self.p { 0.0 } else { 255.0 };
            }
        }
    }
}

/// Photon counts: Poisson(x c / 255) · 255 / c, drawn by inversion of a table per grey level.
pub(super) struct Shot {
    /// Grey levels per photon.
    unit: f32,
    /// P(count ≤ k) of each of the 256 levels.
    cumulated: Vec<Vec<f64>>,
}

impl Shot {
    pub(super) fn new(severity: f64, _: Size) -> Shot {
        let [photons] = between(&[[60.0], [25.0], [12.0], [5.0], [3.0]], severity);
        let cumulated = (0..256).map(|x| cumulated(f64::from(x) / 255.0 * photons)).collect();
        Shot { unit: (255.0 / photons) as f32, cumulated }
    }
}

/// The distribution function of a Poisson count, up to where it is 1 in double precision.
fn cumulated(mean: f64) -> Vec<f64> {
    let (mut p, mut sum, mut all) = ((-mean).exp(), 0.0, Vec::new());
    for k in 1.. {
        sum += p;
        all.push(sum);
        if f64::from(k) > mean && p < 1e-16 {
            break;
        }
        p *= mean / f64::from(k);
    }
    all
}

impl Effect for Shot {
    fn apply(&mut self, levels: &mut [f32], rng: &mut Rng) {
        for level in levels {
            let (u, table) = (rng.uniform(), &self.cumulated[*level as usize]);
            let count = table.partition_point(|&p| p <= u).min(table.len() - 1);
            *level = count as f32 * self.unit;
        }
    }
}
