//! Whether calibration recordings are like those that were learned from. A threshold promises something about recordings
//! that are exchangeable with the calibration recordings: drift between the two parts, and copies of one in the other,
//! are signs that new ones will not be.

use offnominal_core::Seed;
use offnominal_core::detector::Signals;
use offnominal_stats::drift::{Drift, drift};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// A difference that chance makes more rarely than this is told.
const RARE: f64 = 0.01;
/// A share of copied runs of steps above this is told.
const COPIED: f64 = 0.5;
/// Lengths of runs of steps that are compared: the first at which independent recordings hardly ever coincide.
const RUNS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// A share of coincidences between different training recordings that is taken for chance.
const CHANCE: f64 = 0.05;

/// What is to be said about two parts, in words; `names` are those of the observation's channels.
pub fn warnings(
    train: &[Signals<'_>],
    calibration: &[Signals<'_>],
    names: &[String],
    seed: Seed,
) -> Vec<String> {
    let mut said = Vec::new();
    let length = length_of_runs(train);
    let learned: HashSet<u64> = train.iter().flat_map(|episode| runs(episode, length)).collect();
    let copies = calibration.iter().filter(|episode| is_copied(&learned, episode, length)).count();
    if copies > 0 {
        said.push(format!(
            "{copies} of {} calibration recordings mostly repeat training rows; the threshold is too low",
            calibration.len()
        ));
    }
    let rows: Vec<Vec<f64>> = train.iter().chain(calibration).map(features).collect();
    if let Some(Drift { column, is_gradual, p }) = drift(&rows, train.len(), seed)
        && p < RARE
    {
        let how = match is_gradual {
            false => "the calibration recordings differ from those that were learned from",
            true => "the recordings drift slowly from the first to the last",
        };
        said.push(format!(
            "{how} (p = {p:.3}), most in the {} of {}; if recordings drift, the promise does not hold for later ones",
            ["mean", "spread"][column % 2],
            names[column / 2]
        ));
    }
    said
}

/// A digest of each run of so many observations in their order, of their bits; of the whole episode if it is shorter.
fn runs(episode: &Signals<'_>, length: usize) -> Vec<u64> {
    let digest = |rows: &[f32]| {
        let mut hasher = DefaultHasher::new();
        rows.iter().for_each(|x| hasher.write_u32(x.to_bits()));
        hasher.finish()
    };
    let (all, width) = (episode.observations(), episode.obs_width());
    let length = length.min(all.len() / width).max(1);
    all.windows(length * width).step_by(width).map(digest).collect()
}

/// How many observations in a row tell a copy from a coincidence. Sensors that give whole numbers have the same values in
/// independent recordings, but not for long in the same order; how long is read from the training recordings themselves.
fn length_of_runs(train: &[Signals<'_>]) -> usize {
    let coincide_by_chance = |length: usize| {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let own: Vec<HashSet<u64>> =
            train.iter().map(|episode| runs(episode, length).into_iter().collect()).collect();
        own.iter().flatten().for_each(|run| *seen.entry(*run).or_default() += 1);
        let (shared, all) = (seen.values().filter(|n| **n > 1).count(), seen.len());
        shared as f64 <= CHANCE * all as f64
    };
    RUNS.into_iter().find(|&length| coincide_by_chance(length)).unwrap_or(RUNS[RUNS.len() - 1])
}

/// Whether most runs of an episode are among those that were learned from, bit for bit.
fn is_copied(learned: &HashSet<u64>, episode: &Signals<'_>, length: usize) -> bool {
    let own = runs(episode, length);
    let different: HashSet<&u64> = own.iter().collect();
    // A signal that stands still repeats itself everywhere; only what changes can be a copy.
    let copied = different.iter().filter(|run| learned.contains(run)).count();
    different.len() * 2 >= own.len() && copied as f64 > COPIED * different.len() as f64
}

/// Mean and standard deviation of each channel of the observations.
fn features(episode: &Signals<'_>) -> Vec<f64> {
    let (width, n) = (episode.obs_width(), (episode.len() + 1) as f64);
    let of = |channel: usize| {
        let values = || episode.observations().iter().skip(channel).step_by(width).map(|&x| f64::from(x));
        let mean = values().sum::<f64>() / n;
        [mean, (values().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()]
    };
    (0..width).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recordings of two channels that wander, rounded to whole numbers of `unit`.
    fn recordings(n: usize, unit: f64, seed: u64) -> Vec<Vec<f32>> {
        let one = |i| {
            let (mut rng, mut x) = (Seed(seed).child(i).rng(), [0.0; 2]);
            let mut row = || {
                x = x.map(|x| 0.9 * x + 0.4359 * rng.normal());
                x.map(|x| ((x / unit).round() * unit) as f32)
            };
            (0..150).flat_map(|_| row()).collect()
        };
        (0..n).map(one).collect()
    }

    fn signals(all: &[Vec<f32>]) -> Vec<Signals<'_>> {
        all.iter().map(|x| Signals::new(x, &[], 2, 0)).collect()
    }

    fn said(train: &[Vec<f32>], calibration: &[Vec<f32>]) -> Vec<String> {
        let names = ["a".into(), "b".into()];
        let said = warnings(&signals(train), &signals(calibration), &names, Seed(1));
        said.into_iter().filter(|said| said.contains("training rows; the threshold is too low")).collect()
    }

    /// What is said of recordings whose first channel has a mean of its own.
    fn said_of(means: impl Iterator<Item = f64>) -> Vec<String> {
        let mut all = recordings(40, 1e-4, 7);
        for (recording, mean) in all.iter_mut().zip(means) {
            recording.iter_mut().step_by(2).for_each(|x| *x += mean as f32);
        }
        let (train, calibration) = all.split_at(20);
        warnings(&signals(train), &signals(calibration), &["a".into(), "b".into()], Seed(1))
    }

    #[test]
    fn a_slow_drift_over_all_recordings_is_told_and_so_is_a_step_between_the_parts() {
        let drifts = said_of((0..40).map(|i| 0.03 * f64::from(i)));
        assert!(drifts[0].starts_with("the recordings drift slowly from the first to the last (p = 0.001)"));
        assert!(drifts[0].contains("most in the mean of a;"), "{drifts:?}");
        let step = said_of((0..40).map(|i| if i < 20 { 0.0 } else { 1.0 }));
        assert!(step[0].starts_with("the calibration recordings differ"), "{step:?}");
        // What goes up and down again within each part, and what does nothing, is no drift.
        assert!(said_of((0..40).map(|i| f64::from(i % 4))).is_empty());
        assert!(said_of(std::iter::repeat(0.0)).is_empty());
    }

    #[test]
    fn coarse_sensors_are_no_copies_and_copies_are_told_at_any_resolution() {
        for unit in [1e-4, 0.1, 0.5, 1.0, 2.0] {
            let (train, calibration) = (recordings(20, unit, 1), recordings(20, unit, 2));
            assert_eq!(said(&train, &calibration), Vec::<String>::new(), "{unit}");
            let some = [&train[..3], &calibration[..]].concat();
            assert!(said(&train, &some)[0].starts_with("3 of 23"), "{unit}");
        }
    }
}
