//! A track as a predictor of failure reads it: how sharp its bends are, wherever they are.
//!
//! The checkpoints say where the bends lie, and many tracks differ only in that. Sorted, the turns of all stretches say
//! how hard the hardest are and how much of the track is as hard.

use super::track::Track;

/// Lengths of stretches over which the turn is measured, in centre points 3.5 m apart.
const STRETCHES: [usize; 4] = [3, 6, 12, 24];
/// Ranks of the sorted turns, from the sharpest.
const RANKS: [usize; 5] = [0, 8, 20, 45, 90];
/// The stretch that is compared with the one before it.
const BEND: usize = 8;
/// Centre points before a bend that tell how fast one gets there.
const APPROACH: usize = 30;

/// How many features there are.
#[cfg(test)]
const N: usize = STRETCHES.len() * RANKS.len() + 2 * RANKS.len() + 3;

/// Turns in rad: sorted, of stretches of several lengths; of bends after opposite bends and after straight approaches;
/// the sharpest to either side; and the number of centre points.
pub fn of(track: &Track) -> Vec<f64> {
    let n = track.len();
    let turn = |from: usize, over: usize| track.turn(from % n, (from + over) % n);
    let mut features = Vec::new();
    for over in STRETCHES {
        ranked((0..n).map(|i| turn(i, over).abs()), &mut features);
    }
    // From one side to the other.
    ranked((0..n).map(|i| (turn(i, BEND) - turn(i + BEND, BEND)).abs()), &mut features);
    // Sharp after straight.
    let straightness = |i: usize| 1.0 - (turn(i + n - APPROACH.min(n), APPROACH).abs() / 1.5).min(1.0);
    ranked((0..n).map(|i| turn(i, BEND).abs() * straightness(i)), &mut features);
    let sharpest = |side: f64| (0..n).map(|i| side * turn(i, BEND)).fold(0.0, f64::max);
    features.extend([sharpest(1.0), sharpest(-1.0), n as f64]);
    features
}

/// Adds the values at the wanted ranks, the largest first.
fn ranked(values: impl Iterator<Item = f64>, into: &mut Vec<f64>) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    into.extend(RANKS.map(|rank| sorted[rank.min(sorted.len() - 1)]));
}

#[cfg(test)]
mod tests {
    use super::super::track::{NUMBERS, draw};
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn sharp_bends_stand_first_and_every_track_has_as_many_features() {
        let mut rng = Rng::new(1);
        for x in [draw(&mut rng), draw(&mut rng), vec![f64::NAN; NUMBERS]] {
            let found = of(&Track::of(&x));
            assert!(found.len() == N && found.iter().all(|v| v.is_finite()), "{found:?}");
            assert!(found[..RANKS.len()].is_sorted_by(|a, b| a >= b), "{found:?}");
        }
    }

    #[test]
    fn a_checkpoint_that_stands_out_makes_a_sharper_track() {
        let smooth = [0.5; NUMBERS];
        let mut pinched = smooth;
        pinched[NUMBERS / 2 + 4] = 0.0;
        // Short stretches are as sharp on any track, where the generator's own limit on turning acts.
        let sharpest = |x: &[f64]| of(&Track::of(x))[3 * RANKS.len()];
        assert!(sharpest(&pinched) > sharpest(&smooth), "{} {}", sharpest(&pinched), sharpest(&smooth));
    }
}
