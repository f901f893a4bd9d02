//! Distance of the whole image to the nearest nominal one, in the features of a frozen network.
//!
//! score = ‖f(o′) − f_nearest‖, f standing for a whole image; with `metric = cosine` both have unit length first, and
//! the score is 1 − cos.
//!
//! Assumes: that what matters moves the features of a network trained on other images.
//! Blind to: everything that happens, as long as each image alone looks nominal; and small things.
//! Cost: fit O(n) passes through the network, score one pass and O(n d).
//! Reference: Anomaly-Gym, kNN-ResNet (k = 1, Euclidean) and CLIP-Sim (cosine similarity).

use super::bank::{Bank, unit};
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use offnominal_nets::vision::{Backbone, Encoder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How far two images are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The Euclidean distance.
    #[default]
    Euclidean,
    /// One minus the cosine of the angle.
    Cosine,
}

/// The recipe.
pub struct FrameKnn {
    /// Whose features they are.
    pub backbone: Arc<dyn Backbone>,
    /// The distance.
    pub metric: Metric,
}

impl ImageDetector for FrameKnn {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        _: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 1)?;
        let mut encoder = self.backbone.at(train[0].height, train[0].width);
        let mut points = Vec::new();
        let mut width = 1;
        for (i, video) in train.iter().enumerate() {
            let progress = progress.part(i, train.len());
            for t in 1..=video.len() {
                progress.at(t, video.len())?;
                let row = self.metric.of(&encoder.encode(video.frame(t)).whole);
                width = row.len();
                points.extend(row);
            }
        }
        Ok(Box::new(Fitted { encoder, metric: self.metric, bank: Bank::new(points, width) }))
    }
}

impl Metric {
    fn of(self, whole: &[f32]) -> Vec<f32> {
        let mut row = whole.to_vec();
        if self == Metric::Cosine {
            unit(&mut row);
        }
        row
    }
}

#[derive(Clone)]
struct Fitted {
    encoder: Box<dyn Encoder>,
    metric: Metric,
    bank: Bank,
}

impl ImageScorer for Fitted {
    fn reset(&mut self) {}

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        let row = self.metric.of(&self.encoder.encode(transition.next_frame).whole);
        let distance = f64::from(self.bank.nearest(&row)[0].0);
        match self.metric {
            Metric::Euclidean => distance,
            // ‖a − b‖² = 2 − 2 cos for vectors of unit length.
            Metric::Cosine => 0.5 * distance * distance,
        }
    }
}
