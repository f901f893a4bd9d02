//! Blurs: a bell, a disc, frosted glass, motion.

use super::filter::{Border, Separable, Size, Streak, bell};
use super::{Effect, between};
use offnominal_core::Rng;

/// A bell of σ pixels.
pub(super) fn gaussian(severity: f64, size: Size) -> Effect {
    let [sigma] = between(&[[1.0], [2.0], [3.0], [4.0], [6.0]], severity);
    let mut bell = Separable::bell([sigma; 2], 4.0, Border::Nearest, size);
    Box::new(move |levels, _| bell.apply(levels))
}

/// Half a bell along a direction within 45° of the rows.
pub(super) fn motion(severity: f64, size: Size) -> Effect {
    let table = [[10.0, 3.0], [15.0, 5.0], [15.0, 8.0], [15.0, 12.0], [20.0, 15.0]];
    let [radius, sigma] = between(&table, severity);
    let mut streak = Streak::new(radius.round() as usize, sigma, size);
    Box::new(move |levels, rng| streak.apply(levels, rng.range(-45.0, 45.0)))
}

/// A disc of radius r, its edge softened by a small bell.
pub(super) fn defocus(severity: f64, size: Size) -> Effect {
    let table = [[3.0, 0.1], [4.0, 0.5], [6.0, 0.5], [8.0, 0.5], [10.0, 0.5]];
    let [radius, softness] = between(&table, severity);
    let (kernel, mut sum) = (disc(radius, softness), vec![0.0; size.len()]);
    Box::new(move |levels, _| {
        sum.fill(0.0);
        kernel.iter().for_each(|&part| add_moved(&mut sum, levels, size, part));
        levels.copy_from_slice(&sum);
    })
}

/// Adds the image, moved up and left by a part of a kernel, times its weight.
fn add_moved(sum: &mut [f32], levels: &[f32], size: Size, (down, across, weight): (isize, isize, f32)) {
    let Size { height, width, planes } = size;
    let stride = size.stride();
    for (row, out) in sum.chunks_exact_mut(stride).enumerate() {
        let source = &levels[Border::Reflect.index(row as isize + down, height) * stride..][..stride];
        for (column, pixel) in out.chunks_exact_mut(planes).enumerate() {
            let from = Border::Reflect.index(column as isize + across, width) * planes;
            pixel.iter_mut().zip(&source[from..]).for_each(|(p, s)| *p += weight * s);
        }
    }
}

/// The disc on a grid of 17 × 17, or as wide as a larger disc, convolved with a bell of 3 × 3 or 5 × 5: rows down,
/// columns across, and weight of every entry that is not zero.
fn disc(radius: f64, softness: f64) -> Vec<(isize, isize, f32)> {
    let (reach, soft) =
        if radius <= 8.0 { (8, bell(softness, 1)) } else { (radius.round() as isize, bell(softness, 2)) };
    let side = (2 * reach + 1) as usize;
    let inside = |y: usize, x: usize| {
        let from_centre = |i: usize| (i as isize - reach) as f64;
        from_centre(y).powi(2) + from_centre(x).powi(2) <= radius * radius
    };
    let area = (0..side * side).filter(|i| inside(i / side, i % side)).count() as f64;
    let softened = |y: isize, x: isize| {
        let at = |shift: usize, i: isize| {
            Border::Reflect.index(i + reach + shift as isize - (soft.len() / 2) as isize, side)
        };
        let term = |(j, wy): (usize, &f64)| -> f64 {
            let covered = soft.iter().enumerate().filter(|&(k, _)| inside(at(j, y), at(k, x)));
            wy * covered.map(|(_, wx)| wx).sum::<f64>()
        };
        soft.iter().enumerate().map(term).sum::<f64>() / area
    };
    let all = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (y, x)));
    all.map(|(y, x)| (y, x, softened(y, x) as f32)).filter(|k| k.2 > 0.0).collect()
}

/// A bell, pixels taken from random neighbours, and the bell again.
pub(super) fn glass(severity: f64, size: Size) -> Effect {
    let table = [[0.7, 1.0, 2.0], [0.9, 2.0, 1.0], [1.0, 2.0, 3.0], [1.1, 3.0, 2.0], [1.5, 4.0, 2.0]];
    let [sigma, reach, rounds] = between(&table, severity);
    let (reach, rounds) = (reach.round() as usize, rounds.round() as usize);
    let mut bell = Separable::bell([sigma; 2], 4.0, Border::Nearest, size);
    Box::new(move |levels, rng| {
        bell.apply(levels);
        levels.iter_mut().for_each(|x| *x = (*x + 1e-3).floor());
        (0..rounds).for_each(|_| displace(levels, size, reach, rng));
        bell.apply(levels);
    })
}

/// Takes every pixel from a neighbour at most `reach` away, from the last to the first. The package means to swap the
/// two, but its arrays share memory, so it copies.
fn displace(levels: &mut [f32], Size { height, width, planes }: Size, reach: usize, rng: &mut Rng) {
    for row in (reach + 1..=height - reach).rev() {
        for column in (reach + 1..=width - reach).rev() {
            let across = column + rng.below(2 * reach) - reach;
            let down = row + rng.below(2 * reach) - reach;
            let from = (down * width + across) * planes;
            levels.copy_within(from..from + planes, (row * width + column) * planes);
        }
    }
}
