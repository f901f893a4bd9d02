//! Whether calibration recordings are like those that were learned from. A threshold promises something about recordings
//! that are exchangeable with the calibration recordings: drift between the two parts, and copies of one in the other,
//! are signs that new ones will not be.

use offnominal_core::detector::Signals;
use offnominal_core::{Rng, Seed};
use offnominal_stats::tally;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

/// Random divisions that tell how far two parts differ by chance.
const DIVISIONS: usize = 999;
/// A difference that chance makes more rarely than this is told.
const RARE: f64 = 0.01;
/// Recordings of each part below which nothing can be said.
const FEWEST: usize = 5;
/// A share of copied steps above this is told.
const COPIED: f64 = 0.5;

/// What is to be said about two parts, in words; `names` are those of the observation's channels.
pub fn warnings(
    train: &[Signals<'_>],
    calibration: &[Signals<'_>],
    names: &[String],
    seed: Seed,
) -> Vec<String> {
    let mut said = Vec::new();
    let learned: HashSet<u64> = train.iter().flat_map(rows).collect();
    let copies = calibration.iter().filter(|episode| is_copied(&learned, episode)).count();
    if copies > 0 {
        said.push(format!(
            "{copies} of {} calibration recordings hold mostly steps that the detector learned from; the threshold is too low",
            calibration.len()
        ));
    }
    if let Some(Drift { channel, what, p }) = drift(train, calibration, seed) {
        said.push(format!(
            "the calibration recordings differ from those that were learned from (p = {p:.3}), most in the {what} of {}; \
             if recordings drift, the promise does not hold for later ones",
            names[channel]
        ));
    }
    said
}

/// A digest of each observation, of its bits.
fn rows(episode: &Signals<'_>) -> Vec<u64> {
    let digest = |row: &[f32]| {
        let mut hasher = DefaultHasher::new();
        row.iter().for_each(|x| hasher.write_u32(x.to_bits()));
        hasher.finish()
    };
    episode.observations().chunks_exact(episode.obs_width()).map(digest).collect()
}

/// Whether most observations of an episode are among those that were learned from, bit for bit.
fn is_copied(learned: &HashSet<u64>, episode: &Signals<'_>) -> bool {
    let own = rows(episode);
    let different: HashSet<&u64> = own.iter().collect();
    // A signal that stands still repeats itself everywhere; only what changes can be a copy.
    let copied = different.iter().filter(|row| learned.contains(row)).count();
    different.len() * 2 >= own.len() && copied as f64 > COPIED * different.len() as f64
}

/// In what two parts differ most.
struct Drift {
    channel: usize,
    what: &'static str,
    p: f64,
}

/// A permutation test of the largest difference in rank, over the mean and the spread of each channel. As the largest one
/// is compared with the largest ones of random divisions, many channels do not make a false alarm likelier.
fn drift(train: &[Signals<'_>], calibration: &[Signals<'_>], seed: Seed) -> Option<Drift> {
    if train.len().min(calibration.len()) < FEWEST {
        return None;
    }
    let rows: Vec<Vec<f64>> = train.iter().chain(calibration).map(features).collect();
    let mut is_later: Vec<bool> = (0..rows.len()).map(|i| i >= train.len()).collect();
    let columns: Vec<Vec<f64>> =
        (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    let (found, at) = largest(&columns, &is_later);
    let mut rng: Rng = seed.child("exchangeability").rng();
    let as_large = (0..DIVISIONS)
        .filter(|_| {
            rng.shuffle(&mut is_later);
            largest(&columns, &is_later).0 >= found
        })
        .count();
    let p = (1 + as_large) as f64 / (1 + DIVISIONS) as f64;
    let what = ["mean", "spread"][at % 2];
    (p < RARE).then_some(Drift { channel: at / 2, what, p })
}

/// The largest distance of a Mann-Whitney statistic from one half, and in which column.
fn largest(columns: &[Vec<f64>], is_later: &[bool]) -> (f64, usize) {
    let distance = |column: &Vec<f64>| tally(column, is_later).map_or(0.0, |tally| (tally.auroc - 0.5).abs());
    columns.iter().map(distance).zip(0..).fold((0.0, 0), |most, new| if new.0 > most.0 { new } else { most })
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
