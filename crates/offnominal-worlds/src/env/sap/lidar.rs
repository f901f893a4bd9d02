//! A pseudo-lidar: eight sectors around the agent, each with the closeness of what is in it.
//!
//! An entity at distance d and bearing φ (anticlockwise from east) has the closeness s = max(0, 1 − d / 1 m). Sector
//! ⌊φ / 45°⌋ reads s; with f the fractional part of φ / 45°, the sector after it reads f s and the one before it
//! (1 − f) s, so that readings change smoothly as things pass from sector to sector. Several entities: the largest.

use crate::env::vec2::Vec2;
use std::f64::consts::TAU;

/// Number of sectors.
pub const SECTORS: usize = 8;
/// Distance at which the reading reaches zero, m.
pub const RANGE_M: f64 = 1.0;

/// Writes the reading of each sector.
///
/// # Panics
/// If `reading` is not as long as there are sectors.
pub fn scan(from: Vec2, entities: impl Iterator<Item = Vec2>, reading: &mut [f32]) {
    let reading: &mut [f32; SECTORS] = reading.try_into().expect("one number per sector");
    reading.fill(0.0);
    for entity in entities {
        mark(entity - from, reading);
    }
}

fn mark(offset: Vec2, reading: &mut [f32; SECTORS]) {
    let squared = offset.norm_squared();
    if squared >= RANGE_M * RANGE_M {
        return;
    }
    let closeness = 1.0 - squared.sqrt() / RANGE_M;
    let (sector, fraction) = sector_of(offset);
    let mut raise = |sector: usize, value: f64| {
        let cell = &mut reading[sector % SECTORS];
        *cell = cell.max(value as f32);
    };
    raise(sector, closeness);
    raise(sector + 1, fraction * closeness);
    raise(sector + SECTORS - 1, (1.0 - fraction) * closeness);
}

/// The sector of a bearing, and how far into the sector it lies.
fn sector_of(offset: Vec2) -> (usize, f64) {
    let turns = offset.y.atan2(offset.x) / TAU;
    let position = (if turns < 0.0 { turns + 1.0 } else { turns }) * SECTORS as f64;
    // A bearing just below east may round up to a full turn.
    let sector = (position as usize).min(SECTORS - 1);
    (sector, position - sector as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entities: &[(f64, f64)], want: [f32; SECTORS]) {
        let mut found = [f32::NAN; SECTORS];
        scan(Vec2::new(3.0, -2.0), entities.iter().map(|&(x, y)| Vec2::new(3.0 + x, y - 2.0)), &mut found);
        assert!(
            found.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-6),
            "expected {want:?}, found {found:?}"
        );
    }

    fn polar(distance: f64, degrees: f64) -> (f64, f64) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        (distance * cos, distance * sin)
    }

    #[test]
    fn nothing_in_range_reads_zero() {
        check(&[], [0.0; 8]);
        check(&[(1.0, 0.0), (0.0, 5.0)], [0.0; 8]);
    }

    #[test]
    fn a_bearing_is_shared_with_both_neighbours() {
        // In the middle of sector 1: half of the closeness on either side.
        check(&[polar(0.5, 67.5)], [0.25, 0.5, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0]);
        // A fifth into sector 2: 0.6 there, 0.6 · 0.2 after it, 0.6 · 0.8 before it.
        check(&[polar(0.4, 99.0)], [0.0, 0.48, 0.6, 0.12, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn sectors_wrap_around_the_east() {
        check(&[(0.2, 0.0)], [0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.8]);
        check(&[polar(0.2, 337.5)], [0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4, 0.8]);
        check(&[(0.2, -1e-18)], [0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.8]);
    }

    #[test]
    fn the_nearest_entity_wins_in_each_sector() {
        check(&[polar(0.5, 22.5), polar(0.7, 67.5)], [0.5, 0.3, 0.15, 0.0, 0.0, 0.0, 0.0, 0.25]);
    }
}
