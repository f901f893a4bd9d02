//! The score of pixels as an image detector: the output of a segmentation network for a frame, scored by a pixel
//! method, and what all pixels of the frame come to.
//!
//! | `pool`      | score of a frame                                                                                |
//! |-------------|-------------------------------------------------------------------------------------------------|
//! | `max`       | the largest score of a pixel                                                                    |
//! | `component` | of the pixels above the level, the component with the largest Σ (score − level) / deviation     |
//!
//! The level is the score that one nominal pixel in a hundred exceeds in that field of 8 × 8 pixels, the deviation
//! that of nominal pixels there. Where no pixel is above the level, `component` is by how much the nearest falls
//! short of it, and so at most zero.
//!
//! Methods whose scores end at 1 lose the order of a frame's largest pixels to rounding (`max-softmax`, and the
//! sigmoid of
//! `mahalanobis`); the default, `feature-knn`, does not.
//!
//! Assumes: a network that was trained on the camera's nominal images. Methods that are fitted see classes as the
//! network predicts them, for videos have no labels; `outlier-head` sees frames into which a thing was pasted.
//! Blind to: whatever leaves every pixel looking like its class, such as a car that is where it should not be.
//! Cost: a pass of the network for each frame.

use crate::data_set::Labels;
use crate::level::{Fields, Level, largest, largest_component};
use crate::network::Network;
use crate::output::NetworkOutput;
use crate::paste::paste;
use anyhow::{Context, Result};
use offnominal_core::entry;
use offnominal_core::image_detector::{check_videos, hold_out};
use offnominal_core::prelude::*;
use offnominal_detectors::pixel::{Fitting, PixelScorer, methods};
use offnominal_engine::data;
use offnominal_engine::device::Device;
use offnominal_stats::pixel::Truth;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `pixel-score`.
pub const ENTRY: Entry<dyn ImageDetector> = entry!(
    PixelScore as dyn ImageDetector,
    "pixel-score",
    "how unknown the pixels of a frame are to a segmentation network"
);

/// The baseline for car-lanekeep's camera, in the data folder; `agents/pixels/car-lanekeep.sh` made it.
const SHIPPED: &str = "pixels/car-lanekeep.safetensors";

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
            frames: const { NonZeroUsize::new(240).unwrap() },
        }
    }
}

impl ImageDetector for PixelScore {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageMonitor>, FitError> {
        check_videos(train, 2)?;
        let missing = |e: anyhow::Error| FitError::Missing(format!("pixel-score: {e:#}"));
        let network = FrameNetwork { model: self.model().map_err(missing)?, width: train[0].width };
        let (seen, held_out) = hold_out(train);
        let apart = if held_out.is_empty() { &seen } else { &held_out };
        let first = progress.between(0.0, 0.5);
        let scorer = self.scorer(&network, &spread(&seen, self.frames), rng, first).map_err(missing)?;
        let (last, frames) = (progress.between(0.5, 1.0), spread(apart, self.frames));
        let scores = |(i, rgb): (usize, &&[u8])| {
            last.at(i, frames.len())?;
            Ok(network.scores(scorer.as_ref(), rgb))
        };
        let nominal = frames.iter().enumerate().map(scores).collect::<Result<Vec<Vec<f32>>, FitError>>()?;
        let level = Arc::new(Level::of(&nominal, network.width));
        let (network, scorer) = (Arc::new(network), Arc::from(scorer));
        Ok(Box::new(PixelMonitor { level, pool: self.pool, network, scorer, pooled: Vec::new() }))
    }
}

impl PixelScore {
    fn model(&self) -> Result<Network> {
        match &self.model {
            Some(path) => Network::model(path, 1, Seed(0), Device::Cpu),
            None => {
                let tensors = data::read(SHIPPED)?;
                Network::read(&tensors, Path::new("shipped with car-lanekeep"), 1, Seed(0), Device::Cpu)
            }
        }
    }

    /// The method, fitted.
    fn scorer(
        &self,
        network: &FrameNetwork,
        nominal: &[&[u8]],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn PixelScorer>> {
        let method = methods().build(&self.method, &json!({}))?;
        let needs = method.needs();
        let first = network.forward(nominal[0]);
        needs.check(&first.view()).with_context(|| self.method.clone())?;
        let mut fitting: Box<dyn Fitting> = method.begin();
        let all = fitting.rounds() * nominal.len();
        for (i, (round, rgb)) in
            (0..fitting.rounds()).flat_map(|r| nominal.iter().map(move |rgb| (r, rgb))).enumerate()
        {
            progress.at(i, all)?;
            let (output, labels) = match needs.outliers {
                false => network.labelled(rgb),
                true => network.pasted(rgb, nominal[rng.below(nominal.len())], rng),
            };
            fitting.see(round, &output.view(), &labels);
        }
        fitting.finish().with_context(|| self.method.clone())
    }
}

/// Frames spread evenly over videos.
fn spread<'a>(videos: &[&'a Video], most: NonZeroUsize) -> Vec<&'a [u8]> {
    let all: Vec<(usize, usize)> =
        videos.iter().enumerate().flat_map(|(i, video)| (0..=video.len()).map(move |t| (i, t))).collect();
    let n = most.get().min(all.len());
    (0..n).map(|k| all[k * all.len() / n]).map(|(i, t)| videos[i].frame(t)).collect()
}

/// A network for frames of one width.
struct FrameNetwork {
    model: Network,
    width: usize,
}

impl FrameNetwork {
    fn forward(&self, rgb: &[u8]) -> NetworkOutput {
        // One pass without dropped units draws nothing.
        self.model.forward(rgb, self.width, &mut Rng::new(0)).expect("a model, not files")
    }

    /// What it says of a frame, and the classes that it predicts.
    fn labelled(&self, rgb: &[u8]) -> (NetworkOutput, Vec<u8>) {
        let output = self.forward(rgb);
        let labels = output.view().prediction();
        (output, labels)
    }

    /// The same after a thing was pasted into the frame, with the classes that were predicted before. `other` is another
    /// frame.
    fn pasted(&self, rgb: &[u8], other: &[u8], rng: &mut Rng) -> (NetworkOutput, Vec<u8>) {
        let (mut rgb, ids) = (rgb.to_vec(), self.labelled(rgb).1);
        let truth = vec![Truth::Known; ids.len()];
        let mut labels = Labels { width: self.width, height: ids.len() / self.width, ids, truth };
        paste(&mut rgb, &mut labels, (other, self.width), rng);
        (self.forward(&rgb), labels.ids)
    }

    fn scores(&self, scorer: &dyn PixelScorer, rgb: &[u8]) -> Vec<f32> {
        let mut scores = vec![0.0; rgb.len() / 3];
        scorer.score(&self.forward(rgb).view(), &mut scores);
        scores
    }
}

/// The fitted detector; copies share what was learned.
#[derive(Clone)]
struct PixelMonitor {
    network: Arc<FrameNetwork>,
    scorer: Arc<dyn PixelScorer>,
    level: Arc<Level>,
    pool: Pool,
    /// What was pooled in the last frame.
    pooled: Vec<f32>,
}

impl ImageMonitor for PixelMonitor {
    fn reset(&mut self) {
        self.pooled.clear();
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let scores = self.network.scores(self.scorer.as_ref(), transition.next_frame);
        match self.pool {
            Pool::Max => {
                self.pooled = scores;
                largest(&self.pooled)
            }
            Pool::Component => {
                self.pooled = self.level.above(&scores);
                largest_component(&self.pooled, self.network.width)
            }
        }
    }

    fn heat(&self) -> Option<Heat> {
        let fields = Fields::of(self.pooled.len(), self.network.width);
        let mut values = vec![f32::NEG_INFINITY; fields.count()];
        for (pixel, &score) in self.pooled.iter().enumerate() {
            let largest = &mut values[fields.at(pixel)];
            *largest = largest.max(score);
        }
        (!self.pooled.is_empty()).then(|| Heat::new(fields.rows, fields.columns, values))
    }

    fn fork(&self) -> Box<dyn ImageMonitor> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_core::law::Law;
    use offnominal_laws::{assert_lawful, image_detector};

    #[test]
    fn it_obeys_the_laws_of_image_detectors() {
        for (pool, method) in
            [(Pool::Max, "feature-knn"), (Pool::Component, "feature-knn"), (Pool::Max, "outlier-head")]
        {
            let frames = const { NonZeroUsize::new(20).unwrap() };
            let detector = PixelScore { model: None, method: method.into(), pool, frames };
            let of_things = (Law::SeesGrossFaults, "it looks for things, and noise all over is none");
            let exempt = [ENTRY.exempt, &[of_things][..usize::from(method == "outlier-head")]].concat();
            assert_lawful(method, &image_detector(&detector, &exempt));
        }
    }

    #[test]
    fn frames_are_spread_over_all_videos() {
        let video = |n: usize, of: u8| Video::new((1, 1), vec![of; 3 * (n + 1)], vec![0.0; n], 1);
        let videos = [video(9, 1), video(9, 2), video(9, 3), video(9, 4)];
        let (seen, held_out) = hold_out(&videos);
        let of = |videos: &[&Video], n: usize| {
            spread(videos, NonZeroUsize::new(n).unwrap()).iter().map(|f| f[0]).collect::<Vec<u8>>()
        };
        assert_eq!((of(&seen, 6), of(&held_out, 2)), (vec![1, 1, 2, 2, 3, 3], vec![4, 4]));
        assert_eq!(of(&seen, 99).len(), 30);
        assert!(hold_out(&videos[..3]).1.is_empty());
    }
}
