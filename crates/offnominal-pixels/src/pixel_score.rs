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

use crate::frame_network::{FrameNetwork, FrameScorer};
use crate::level::{Fields, Level, largest, largest_component};
use offnominal_core::entry;
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// `pixel-score`.
pub const ENTRY: Entry<dyn ImageDetector> = entry!(
    PixelScore as dyn ImageDetector,
    "pixel-score",
    "how unknown the pixels of a frame are to a segmentation network"
);

/// The baseline for frames of car-lanekeep's camera of 128 × 128 pixels, in the data folder;
/// `studies/pixels/car-lanekeep.sh` made it.
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
    /// Its parameters.
    pub params: Value,
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
            params: json!({}),
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
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 2)?;
        let network = FrameNetwork::open(self.model.as_deref(), SHIPPED, train[0].width).map_err(missing)?;
        let (scorer, nominal) =
            network.fit((&self.method, &self.params), train, self.frames, rng, progress)?;
        let nominal: Vec<Vec<f32>> = nominal.into_iter().map(|(scores, _)| scores).collect();
        let level = Arc::new(Level::of(&nominal, scorer.width()));
        Ok(Box::new(PixelMonitor { scorer, level, pool: self.pool, pooled: Vec::new() }))
    }
}

fn missing(e: anyhow::Error) -> FitError {
    FitError::Missing(format!("pixel-score: {e:#}"))
}

/// The fitted detector; copies share what was learned.
#[derive(Clone)]
struct PixelMonitor {
    scorer: FrameScorer,
    level: Arc<Level>,
    pool: Pool,
    /// What was pooled in the last frame.
    pooled: Vec<f32>,
}

impl ImageScorer for PixelMonitor {
    fn reset(&mut self) {
        self.pooled.clear();
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let (scores, _) = self.scorer.scores(transition.next_frame);
        match self.pool {
            Pool::Max => {
                self.pooled = scores;
                largest(&self.pooled)
            }
            Pool::Component => {
                self.pooled = self.level.above(&scores);
                largest_component(&self.pooled, self.scorer.width())
            }
        }
    }

    fn heat(&self) -> Option<Heat> {
        let fields = Fields::of(self.pooled.len(), self.scorer.width());
        let mut values = vec![f32::NEG_INFINITY; fields.count()];
        for (pixel, &score) in self.pooled.iter().enumerate() {
            let largest = &mut values[fields.at(pixel)];
            *largest = largest.max(score);
        }
        (!self.pooled.is_empty()).then(|| Heat::new(fields.rows, fields.columns, values))
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
            let detector = PixelScore { method: method.into(), pool, frames, ..PixelScore::default() };
            let of_things = (Law::SeesGrossFaults, "it looks for things, and noise all over is none");
            let exempt = [ENTRY.exempt, &[of_things][..usize::from(method == "outlier-head")]].concat();
            assert_lawful(method, &image_detector(&detector, &exempt));
        }
    }
}
