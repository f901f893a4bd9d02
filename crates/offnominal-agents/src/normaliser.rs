//! Brings observations to a common scale while their distribution is still being discovered.

use serde::{Deserialize, Serialize};

/// Normalised observations are cut at this magnitude.
pub(crate) const CLIP: f32 = 10.0;
/// Grey levels that count one in a picture whose mean is taken out: a part of what things there stand out by.
const CONTRAST: f32 = 32.0;
/// Channels that vary less than this are only centred.
const FLOOR: f64 = 1e-6;

/// An affine map per channel, cut at ±10: what a policy carries with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalisation {
    /// Subtracted.
    pub mean: Vec<f32>,
    /// Divided by.
    pub scale: Vec<f32>,
}

impl Normalisation {
    /// Normalises rows in place.
    pub fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.mean.len()) {
            for ((v, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *v = ((*v - mean) / scale).clamp(-CLIP, CLIP);
            }
        }
    }
}

/// Mean and variance of each channel, updated one observation at a time (Welford 1962).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningMoments {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl RunningMoments {
    /// Nothing seen yet.
    pub fn new(width: usize) -> RunningMoments {
        RunningMoments { count: 0.0, mean: vec![0.0; width], squares: vec![0.0; width] }
    }

    /// Number of channels.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// Whether every number is finite and the parts fit together.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = self.mean.iter().chain(&self.squares).chain([&self.count]);
        self.mean.len() == self.squares.len() && numbers.into_iter().all(|v| v.is_finite())
    }

    /// Takes an observation into account.
    pub fn push(&mut self, obs: &[f32]) {
        self.count += 1.0;
        for ((mean, square), &v) in self.mean.iter_mut().zip(&mut self.squares).zip(obs) {
            let before = f64::from(v) - *mean;
            *mean += before / self.count;
            *square += before * (f64::from(v) - *mean);
        }
    }

    /// Writes the map that the observations so far suggest.
    pub fn write(&self, into: &mut Normalisation) {
        let deviation = |square: f64| (square / self.count.max(1.0)).sqrt();
        for (out, &mean) in into.mean.iter_mut().zip(&self.mean) {
            *out = mean as f32;
        }
        for (out, &square) in into.scale.iter_mut().zip(&self.squares) {
            *out = if deviation(square) > FLOOR { deviation(square) as f32 } else { 1.0 };
        }
    }

    /// Writes the map that takes the mean picture out, in whole grey levels.
    pub fn write_centred(&self, into: &mut Normalisation) {
        into.mean.iter_mut().zip(&self.mean).for_each(|(out, mean)| *out = mean.round() as f32);
        into.scale.fill(CONTRAST);
    }

    /// The map that the observations so far suggest.
    pub fn normalisation(&self) -> Normalisation {
        let mut map = Normalisation { mean: vec![0.0; self.width()], scale: vec![1.0; self.width()] };
        self.write(&mut map);
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_moments_are_the_moments() {
        let mut moments = RunningMoments::new(2);
        for v in [1.0, 2.0, 6.0, 3.0] {
            moments.push(&[v, 5.0]);
        }
        let map = moments.normalisation();
        assert_eq!((map.mean.clone(), map.scale[1]), (vec![3.0, 5.0], 1.0));
        assert!((map.scale[0] - 3.5_f32.sqrt()).abs() < 1e-6);
        let mut row = [1e9, 5.0];
        map.apply(&mut row);
        assert_eq!(row, [10.0, 0.0]);
    }

    #[test]
    fn a_centred_picture_is_what_differs_from_its_mean() {
        let mut moments = RunningMoments::new(2);
        [[87.0, 60.0], [87.0, 81.0]].iter().for_each(|picture| moments.push(picture));
        let (mut map, mut picture) = (moments.normalisation(), [87.0, 103.0]);
        moments.write_centred(&mut map);
        assert_eq!(map.mean, [87.0, 71.0], "whole levels of 70.5");
        map.apply(&mut picture);
        assert_eq!(picture, [0.0, 1.0]);
    }
}
