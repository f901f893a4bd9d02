//! Brings observations to a common scale while their distribution is still being discovered.

use crate::config::{Normalise, TrainConfig};
use serde::{Deserialize, Serialize};

/// Normalised observations are cut at this magnitude.
pub(crate) const CLIP: f32 = 10.0;
/// Grey levels that count one in an image whose mean is taken out: a part of what things there stand out by.
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
pub(crate) struct RunningMoments {
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
}

/// Moments of the observations so far, and the normalisation that follows from them.
pub(crate) struct Scaling {
    pub(crate) moments: RunningMoments,
    /// What observations go through.
    pub(crate) map: Normalisation,
    centred: bool,
}

impl Scaling {
    /// What a recipe asks for, if it does.
    pub(crate) fn of(config: &TrainConfig, width: usize) -> Option<Scaling> {
        let centred = config.normalise == Normalise::Centred;
        (config.normalise != Normalise::None).then(|| Scaling::new(width, centred))
    }

    fn new(width: usize, centred: bool) -> Scaling {
        let map = Normalisation { mean: vec![0.0; width], scale: vec![1.0; width] };
        Scaling { moments: RunningMoments::new(width), map, centred }
    }

    /// Takes an observation into account.
    pub(crate) fn push(&mut self, obs: &[f32]) {
        self.moments.push(obs);
        self.write();
    }

    /// Brings the map up to date; of images the mean is taken out, in whole grey levels.
    pub(crate) fn write(&mut self) {
        let (RunningMoments { count, mean, squares }, map) = (&self.moments, &mut self.map);
        if self.centred {
            map.mean.iter_mut().zip(mean).for_each(|(out, mean)| *out = mean.round() as f32);
            map.scale.fill(CONTRAST);
            return;
        }
        let deviation = |square: f64| (square / count.max(1.0)).sqrt();
        map.mean.iter_mut().zip(mean).for_each(|(out, &mean)| *out = mean as f32);
        for (out, &square) in map.scale.iter_mut().zip(squares) {
            *out = if deviation(square) > FLOOR { deviation(square) as f32 } else { 1.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_moments_are_the_moments() {
        let mut scaling = Scaling::new(2, false);
        for v in [1.0, 2.0, 6.0, 3.0] {
            scaling.push(&[v, 5.0]);
        }
        let map = scaling.map;
        assert_eq!((map.mean.clone(), map.scale[1]), (vec![3.0, 5.0], 1.0));
        assert!((map.scale[0] - 3.5_f32.sqrt()).abs() < 1e-6);
        let mut row = [1e9, 5.0];
        map.apply(&mut row);
        assert_eq!(row, [10.0, 0.0]);
    }

    #[test]
    fn a_centred_image_is_what_differs_from_its_mean() {
        let (mut scaling, mut image) = (Scaling::new(2, true), [87.0, 103.0]);
        [[87.0, 60.0], [87.0, 81.0]].iter().for_each(|image| scaling.push(image));
        let map = scaling.map;
        assert_eq!(map.mean, [87.0, 71.0], "whole levels of 70.5");
        map.apply(&mut image);
        assert_eq!(image, [0.0, 1.0]);
    }
}
