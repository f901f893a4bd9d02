//! The range finder: nine beams from −90° to 90°, and how far each gets before a wall.
//!
//! The car stands between the walls, so that a beam meets the walls of its own stretch first and only the walls near the
//! car, along the track, have to be looked at.

use super::track::Track;
use crate::env::vec2::Vec2;
use std::f64::consts::PI;

/// Number of beams.
pub const N: usize = 9;
/// Farthest reading, m.
pub const RANGE_M: f64 = 60.0;
/// Centre points behind the car, and all, whose walls are looked at.
const WINDOW: (usize, usize) = (7, 32);

/// Bearing of a beam, rad, positive to the left; the first points to the right.
pub fn angle(i: usize) -> f64 {
    PI * (i as f64 / (N - 1) as f64 - 0.5)
}

/// Writes the distance that each beam gets.
pub fn cast(track: &Track, at: usize, from: Vec2, heading: f64, reading: &mut [f32]) {
    let directions: [Vec2; N] = std::array::from_fn(|i| Vec2::along(heading + angle(i)));
    let mut ranges = [RANGE_M; N];
    let first = at + track.len() - WINDOW.0;
    let mut last = track.walls(first).map(|w| w - from);
    for i in first + 1..first + WINDOW.1 {
        let next = track.walls(i).map(|w| w - from);
        for (a, b) in last.into_iter().zip(next) {
            for (range, direction) in ranges.iter_mut().zip(&directions) {
                *range = range.min(meets(*direction, a, b));
            }
        }
        last = next;
    }
    for (out, range) in reading.iter_mut().zip(ranges) {
        *out = range as f32;
    }
}

/// Distance at which a beam from the origin meets the segment from a to b; ∞ if it does not.
fn meets(direction: Vec2, a: Vec2, b: Vec2) -> f64 {
    let (to_a, to_b) = (direction.cross(a), direction.cross(b));
    if (to_a > 0.0) == (to_b > 0.0) {
        return f64::INFINITY;
    }
    let distance = a.cross(b) / (to_b - to_a);
    if distance >= 0.0 { distance } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::super::track::{HALF_WIDTH_M, NUMBERS};
    use super::*;

    #[test]
    fn a_segment_is_met_where_it_is() {
        let ahead = |a: (f64, f64), b: (f64, f64)| {
            meets(Vec2::new(1.0, 0.0), Vec2::new(a.0, a.1), Vec2::new(b.0, b.1))
        };
        assert_eq!(ahead((3.0, -1.0), (3.0, 2.0)), 3.0);
        assert_eq!(ahead((-3.0, -1.0), (-3.0, 2.0)), f64::INFINITY);
        assert_eq!(ahead((3.0, 1.0), (3.0, 2.0)), f64::INFINITY);
    }

    #[test]
    fn on_the_centre_line_both_sides_are_half_the_width_away() {
        let track = Track::of(&[0.5; NUMBERS]);
        let (from, heading) = track.start();
        let mut reading = [0.0; N];
        cast(&track, 0, from, heading, &mut reading);
        for side in [reading[0], reading[N - 1]] {
            // The walls are straight between points 3.5 m apart, in a bend.
            assert!((f64::from(side) - HALF_WIDTH_M).abs() < 0.5, "{reading:?}");
        }
    }
}
