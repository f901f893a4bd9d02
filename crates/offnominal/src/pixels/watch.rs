//! The score of pixels as an image detector: what a segmentation network says of a frame, scored by a pixel method, and
//! what all pixels of the frame come to.
//!
//! | `pool`      | score of a frame                                                                                |
//! |-------------|-------------------------------------------------------------------------------------------------|
//! | `max`       | the largest score of a pixel                                                                    |
//! | `component` | of the pixels above the level, the component with the largest Σ (score − level) / deviation     |
//!
//! The level is the score that one nominal pixel in a thousand exceeds, the deviation that of nominal pixels. Where no
//! pixel is above the level, `component` is by how much the largest falls short of it, and so below zero.
//!
//! Methods whose scores end at 1 lose the order of a frame's largest pixels to rounding (`max-softmax`, and the sigmoid of
//! `mahalanobis`); the default, `feature-knn`, does not.
//!
//! Assumes: a network that was trained on the camera's nominal pictures. Methods that are fitted see classes as the
//! network predicts them, for films have no labels.
//! Blind to: whatever leaves every pixel looking like its class, such as a car that is where it should not be.
//! Cost: a pass of the network for each frame.

use super::choice::Device;
use super::network::{Network, Said};
use anyhow::{Context, Result};
use offnominal_core::entry;
use offnominal_core::image_detector::check_films;
use offnominal_core::prelude::*;
use offnominal_detectors::pixel::{Fitting, PixelScorer, methods};
use offnominal_stats::pixel::components::Components;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// `pixel-score`.
pub const ENTRY: Entry<dyn ImageDetector> = entry!(
    PixelScore as dyn ImageDetector,
    "pixel-score",
    "how unknown the pixels of a frame are to a segmentation network"
);

/// The baseline for car-lanekeep's camera: `agents/pixels/car-lanekeep.py`.
const SHIPPED: &[u8] = include_bytes!("../../../../agents/pixels/car-lanekeep.safetensors");

/// Rows and columns of pixels for each field of the heat.
const FIELD: usize = 8;
/// Share of nominal pixels above the level.
const ABOVE: f64 = 1e-3;

/// What the pixels of a frame come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The largest.
    Max,
    /// The largest component.
    Component,
}

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PixelScore {
    /// A model of `pixels train`; the one for the camera of car-lanekeep, if none.
    pub model: Option<PathBuf>,
    /// A method of `list pixel-methods` that needs one pass.
    pub method: String,
    /// What the pixels come to.
    pub pool: Pool,
    /// Nominal frames on which the method is fitted and the level found, at most.
    pub frames: NonZeroUsize,
}

impl Default for PixelScore {
    fn default() -> PixelScore {
        PixelScore {
            model: None,
            method: "feature-knn".into(),
            pool: Pool::Component,
            frames: const { NonZeroUsize::new(120).unwrap() },
        }
    }
}

impl ImageDetector for PixelScore {
    fn fit(
        &self,
        train: &[Film],
        validation: &[Film],
        _: &mut Rng,
    ) -> Result<Box<dyn ImageMonitor>, FitError> {
        check_films(train, 2)?;
        let missing = |e: anyhow::Error| FitError::Missing(format!("pixel-score: {e:#}"));
        let eye = Eye { network: self.network().map_err(missing)?, width: train[0].width };
        let scorer = self.scorer(&eye, &spread(train, self.frames)).map_err(missing)?;
        let apart = if validation.is_empty() { train } else { validation };
        let nominal: Vec<f32> =
            spread(apart, self.frames).iter().flat_map(|rgb| eye.scores(scorer.as_ref(), rgb)).collect();
        Ok(Box::new(Watch { level: Level::of(nominal), pool: self.pool, eye, scorer, scores: Vec::new() }))
    }
}

impl PixelScore {
    fn network(&self) -> Result<Network> {
        match &self.model {
            Some(path) => Network::model(path, 1, Seed(0), Device::Cpu),
            None => Network::read(SHIPPED, Path::new("shipped with car-lanekeep"), 1, Seed(0), Device::Cpu),
        }
    }

    /// The method, fitted.
    fn scorer(&self, eye: &Eye, nominal: &[&[u8]]) -> Result<Box<dyn PixelScorer>> {
        let method = methods().build(&self.method, &json!({}))?;
        let needs = method.needs();
        let first = eye.said(nominal[0]);
        needs.check(&first.output()).with_context(|| self.method.clone())?;
        let mut fitting: Box<dyn Fitting> = method.begin();
        for (round, rgb) in (0..fitting.rounds()).flat_map(|r| nominal.iter().map(move |rgb| (r, rgb))) {
            let said = eye.said(rgb);
            fitting.see(round, &said.output(), &said.output().prediction());
        }
        fitting.finish().with_context(|| self.method.clone())
    }
}

/// Frames spread evenly over films.
fn spread(films: &[Film], most: NonZeroUsize) -> Vec<&[u8]> {
    let all: Vec<(usize, usize)> =
        films.iter().enumerate().flat_map(|(i, film)| (0..=film.len()).map(move |t| (i, t))).collect();
    let n = most.get().min(all.len());
    (0..n).map(|k| all[k * all.len() / n]).map(|(i, t)| films[i].frame(t)).collect()
}

/// A network that looks at frames of one width.
struct Eye {
    network: Network,
    width: usize,
}

impl Eye {
    fn said(&self, rgb: &[u8]) -> Said {
        // One sure pass draws nothing.
        self.network.look(rgb, self.width, &mut Rng::new(0)).expect("a model, not files")
    }

    fn scores(&self, scorer: &dyn PixelScorer, rgb: &[u8]) -> Vec<f32> {
        let mut scores = vec![0.0; rgb.len() / 3];
        scorer.score(&self.said(rgb).output(), &mut scores);
        scores
    }
}

/// What is usual for a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    score: f64,
    deviation: f64,
}

impl Level {
    fn of(mut scores: Vec<f32>) -> Level {
        let n = scores.len() as f64;
        let mean = scores.iter().map(|&s| f64::from(s)).sum::<f64>() / n;
        let variance = scores.iter().map(|&s| (f64::from(s) - mean).powi(2)).sum::<f64>() / n;
        let at = ((n - 1.0) * (1.0 - ABOVE)) as usize;
        let score = f64::from(*scores.select_nth_unstable_by(at, f32::total_cmp).1);
        Level { score, deviation: variance.sqrt().max(1e-9) }
    }

    /// The excess of the component that has most of it; below zero where no pixel exceeds the level.
    fn excess(&self, scores: &[f32], width: usize) -> f64 {
        let above = |&s: &f32| (f64::from(s) - self.score) / self.deviation;
        let found = Components::of(&scores.iter().map(|s| above(s) > 0.0).collect::<Vec<_>>(), width);
        let mut sums = vec![0.0; found.sizes.len() + 1];
        found.labels.iter().zip(scores).for_each(|(&label, s)| sums[label as usize] += above(s));
        match sums[1..].iter().copied().reduce(f64::max) {
            Some(most) => most,
            None => scores.iter().map(above).fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The fitted detector.
struct Watch {
    eye: Eye,
    scorer: Box<dyn PixelScorer>,
    level: Level,
    pool: Pool,
    /// Of the last frame.
    scores: Vec<f32>,
}

impl ImageMonitor for Watch {
    fn reset(&mut self) {
        self.scores.clear();
    }

    fn score(&mut self, sight: Sight<'_>) -> f64 {
        self.scores = self.eye.scores(self.scorer.as_ref(), sight.next_frame);
        match self.pool {
            Pool::Max => f64::from(self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max)),
            Pool::Component => self.level.excess(&self.scores, self.eye.width),
        }
    }

    fn heat(&self) -> Option<Heat> {
        let width = self.eye.width;
        let height = self.scores.len() / width;
        let (rows, columns) = (height.div_ceil(FIELD), width.div_ceil(FIELD));
        let mut values = vec![f32::NEG_INFINITY; rows * columns];
        for (at, &score) in self.scores.iter().enumerate() {
            let field = &mut values[at / width / FIELD * columns + at % width / FIELD];
            *field = field.max(score);
        }
        (!self.scores.is_empty()).then(|| Heat::new(rows, columns, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_counts_for_what_exceeds_the_level() {
        let level = Level { score: 1.0, deviation: 0.5 };
        // Two components of 3 and 1 pixels above the level in two rows of five.
        let scores = [2.0, 2.0, 0.0, 0.0, 4.0, 1.5, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(level.excess(&scores, 5), 6.0);
        assert_eq!(level.excess(&[0.0, 0.5], 2), -1.0);
        let nominal: Vec<f32> = (0..2000).map(|i| i as f32).collect();
        let found = Level::of(nominal);
        assert!((found.score - 1997.0).abs() <= 1.0 && (found.deviation - 577.35).abs() < 0.01);
    }

    #[test]
    fn frames_are_spread_over_all_films() {
        let film = |n: usize, of: u8| Film::new((1, 1), vec![of; 3 * (n + 1)], vec![0.0; n], 1);
        let films = [film(9, 1), film(9, 2)];
        let found: Vec<u8> = spread(&films, NonZeroUsize::new(4).unwrap()).iter().map(|f| f[0]).collect();
        assert_eq!(found, [1, 1, 2, 2]);
        assert_eq!(spread(&films, NonZeroUsize::new(99).unwrap()).len(), 20);
    }
}
