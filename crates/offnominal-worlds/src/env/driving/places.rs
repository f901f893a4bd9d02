//! A track as the places that a lap leads past: how it turns there, and how far it is from the start and to the finish.
//!
//! Whether a car comes round a bend depends on what lies before it, and hardly on the rest of the lap. A predictor that
//! reads the same few numbers at every place can learn that from all bends of all tracks at once.

use super::track::{STEP_M, Track};
use offnominal_core::failure_search::Places;

/// Centre points from one place to the next.
const SPACING: usize = 2;
/// Numbers at a place.
const WIDTH: usize = 3;

/// At every place the turn of the centre line to the next in rad, positive to the left, and the ways from the start
/// and to the finish in km.
pub fn of(track: &Track) -> Places {
    let n = track.len();
    let km = |points: usize| points as f64 * STEP_M / 1000.0;
    let at = |i: usize| [track.turn(i, (i + SPACING) % n), km(i), km(n - i)];
    Places { width: WIDTH, numbers: (0..n).step_by(SPACING).flat_map(at).collect() }
}

/// The place at or before a centre point.
pub fn nearest(centre: usize) -> usize {
    centre / SPACING
}

#[cfg(test)]
mod tests {
    use super::super::track::{NUMBERS, draw};
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn a_lap_turns_once_and_ends_where_it_began() {
        let mut rng = Rng::new(1);
        for x in [draw(&mut rng), draw(&mut rng), vec![0.5; NUMBERS]] {
            let track = Track::of(&x);
            let Places { width, numbers } = of(&track);
            let places: Vec<&[f64]> = numbers.chunks_exact(width).collect();
            assert_eq!(places.len(), track.len().div_ceil(SPACING));
            assert_eq!((nearest(0), nearest(track.len() - 1)), (0, places.len() - 1));
            // A lap of an odd number of points counts the turn at its last one twice.
            let turns: f64 = places.iter().map(|p| p[0]).sum();
            assert!((turns - std::f64::consts::TAU).abs() < 0.32, "{turns}");
            assert!(places.iter().all(|p| (p[1] + p[2] - track.len() as f64 * STEP_M / 1000.0).abs() < 1e-9));
        }
    }
}
