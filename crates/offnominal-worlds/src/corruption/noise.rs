//! Noise on every number of a frame: normal, Poisson, impulses, speckle.

use super::filter::Size;
use super::{Effect, between};

/// x + 255 σ n.
pub(super) fn gaussian(severity: f64, size: Size) -> Effect {
    let [sd] = between(&[[0.08], [0.12], [0.18], [0.26], [0.38]], severity);
    let (sd, mut draws) = (255.0 * sd as f32, vec![0.0; size.len()]);
    Box::new(move |levels, rng| {
        rng.fill_normal(&mut draws);
        levels.iter_mut().zip(&draws).for_each(|(x, n)| *x += sd * n);
    })
}

/// x + x σ n.
pub(super) fn speckle(severity: f64, size: Size) -> Effect {
    let [sd] = between(&[[0.15], [0.2], [0.35], [0.45], [0.6]], severity);
    let (sd, mut draws) = (sd as f32, vec![0.0; size.len()]);
    Box::new(move |levels, rng| {
        rng.fill_normal(&mut draws);
        levels.iter_mut().zip(&draws).for_each(|(x, n)| *x += *x * sd * n);
    })
}

/// Black or white with probability p/2 each; every number by itself, so that the colours of a pixel flip apart.
pub(super) fn impulse(severity: f64, _: Size) -> Effect {
    let [p] = between(&[[0.03], [0.06], [0.09], [0.17], [0.27]], severity);
    Box::new(move |levels, rng| {
        for level in levels {
            let u = rng.uniform();
            if u < p {
                *level = if u < 0.5 * p { 0.0 } else { 255.0 };
            }
        }
    })
}

/// Photon counts: Poisson(x c / 255) · 255 / c, drawn by inversion of a table per grey level.
pub(super) fn shot(severity: f64, _: Size) -> Effect {
    let [photons] = between(&[[60.0], [25.0], [12.0], [5.0], [3.0]], severity);
    let grey_levels_per_photon = (255.0 / photons) as f32;
    let tables: Vec<_> = (0..256).map(|x| cumulated(f64::from(x) / 255.0 * photons)).collect();
    Box::new(move |levels, rng| {
        for level in levels {
            let (u, table) = (rng.uniform(), &tables[*level as usize]);
            let count = table.partition_point(|&p| p <= u).min(table.len() - 1);
            *level = count as f32 * grey_levels_per_photon;
        }
    })
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
