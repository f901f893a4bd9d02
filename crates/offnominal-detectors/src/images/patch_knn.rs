//! Distance of each patch to the nearest nominal patch, in the features of a frozen network.
//!
//! score = max_p ‖f_p(o′) − f_nearest‖ (`pooling = max`), or the mean of the largest per cent of these distances
//! (`pooling = top`).
//!
//! Assumes: that an anomaly puts something into the image that no nominal image has anywhere.
//! Blind to: what moves wrongly while looking as ever.
//! Cost: fit O(n) passes through the network, score one pass and O(patches · bank · d).
//! Reference: Anomaly-Gym, DINO-Patch (max); AnomalyDINO, Damm et al., WACV 2025 (mean of the largest per cent).
//! Deviates: a bank of at most `most` different patches, drawn at random.

use super::bank::{Bank, different};
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use offnominal_nets::vision::resize::Resize;
use offnominal_nets::vision::{Backbone, Encoder, Features};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// How the distances of the patches become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The largest.
    #[default]
    Max,
    /// The mean of the largest per cent.
    Top,
}

/// The recipe.
pub struct PatchKnn {
    /// Whose features they are.
    pub backbone: Arc<dyn Backbone>,
    /// From patches to a score.
    pub pooling: Pooling,
    /// Nominal patches that are kept.
    pub most: NonZeroUsize,
}

/// Pixels on a side of a nominal patch as it is shown.
const SHOWN: usize = 8;

impl ImageDetector for PatchKnn {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 1)?;
        let size = (train[0].height, train[0].width);
        let mut encoder = self.backbone.at(size.0, size.1);
        let mut pool = Pool::default();
        let images: usize = train.iter().map(Video::len).sum();
        for (i, image) in train.iter().flat_map(|f| (1..=f.len()).map(|t| f.frame(t))).enumerate() {
            progress.at(i, images)?;
            pool.add(encoder.encode(image), image, size, self.most.get(), images, rng);
        }
        let Pool { points, looks, width, grid, .. } = pool.thinned(self.most.get(), rng);
        let bank = Bank::new(points, width);
        let back = Resize::new((grid.0 * SHOWN, grid.1 * SHOWN), size);
        let pooling = self.pooling;
        Ok(Box::new(Fitted {
            encoder,
            pooling,
            bank,
            looks: looks.into(),
            grid,
            back,
            last: vec![],
            expected: OnceLock::new(),
        }))
    }
}

/// Nominal patches with what they look like.
#[derive(Default)]
struct Pool {
    width: usize,
    grid: (usize, usize),
    points: Vec<f32>,
    looks: Vec<u8>,
}

impl Pool {
    /// Adds the patches of an image, or as many of them at random as keep the pool at twice what is wanted.
    fn add(
        &mut self,
        features: &Features,
        image: &[u8],
        size: (usize, usize),
        most: usize,
        images: usize,
        rng: &mut Rng,
    ) {
        (self.width, self.grid) = (features.width, (features.rows, features.columns));
        let side = (features.rows * SHOWN, features.columns * SHOWN);
        let shown = Resize::new(size, side).bytes(image);
        let share = (8 * most) as f64 / (images * features.n_patches()) as f64;
        for (patch, row) in features.patches.chunks_exact(features.width).enumerate() {
            if rng.uniform() >= share {
                continue;
            }
            self.points.extend_from_slice(row);
            let (top, left) = (patch / features.columns * SHOWN, patch % features.columns * SHOWN);
            for line in top..top + SHOWN {
                let from = (line * side.1 + left) * 3;
                self.looks.extend_from_slice(&shown[from..from + SHOWN * 3]);
            }
        }
    }

    /// Different patches, at most so many.
    fn thinned(self, most: usize, rng: &mut Rng) -> Pool {
        let mut kept = different(&self.points, self.width);
        rng.shuffle(&mut kept);
        kept.truncate(most);
        let (w, look) = (self.width, SHOWN * SHOWN * 3);
        let points = kept.iter().flat_map(|&i| &self.points[i * w..(i + 1) * w]).copied().collect();
        let looks = kept.iter().flat_map(|&i| &self.looks[i * look..(i + 1) * look]).copied().collect();
        Pool { points, looks, ..self }
    }
}

#[derive(Clone)]
struct Fitted {
    encoder: Box<dyn Encoder>,
    pooling: Pooling,
    bank: Bank,
    looks: Arc<[u8]>,
    grid: (usize, usize),
    back: Resize,
    /// Distance and nearest patch of each patch of the last image.
    last: Vec<(f32, usize)>,
    /// Put together when it is asked for.
    expected: OnceLock<Vec<u8>>,
}

impl ImageScorer for Fitted {
    fn reset(&mut self) {}

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        self.expected.take();
        let features = self.encoder.encode(transition.next_frame);
        self.last.clear();
        self.last.extend_from_slice(self.bank.nearest(&features.patches));
        let mut distances: Vec<f32> = self.last.iter().map(|l| l.0).collect();
        distances.sort_unstable_by(|a, b| b.total_cmp(a));
        let n = match self.pooling {
            Pooling::Max => 1,
            Pooling::Top => distances.len().div_ceil(100),
        };
        distances[..n].iter().map(|&d| f64::from(d)).sum::<f64>() / n as f64
    }

    fn heat(&self) -> Option<Heat> {
        let values = self.last.iter().map(|l| l.0).collect();
        (!self.last.is_empty()).then(|| Heat::new(self.grid.0, self.grid.1, values))
    }

    /// The nearest nominal patch in the place of each patch.
    fn expected(&self) -> Option<&[u8]> {
        self.last.first()?;
        Some(self.expected.get_or_init(|| self.back.clone().bytes(&self.mosaic())))
    }
}

impl Fitted {
    fn mosaic(&self) -> Vec<u8> {
        let (columns, look) = (self.grid.1, SHOWN * SHOWN * 3);
        let mut image = vec![0; self.last.len() * look];
        for (patch, &(_, nearest)) in self.last.iter().enumerate() {
            let shown = &self.looks[nearest * look..(nearest + 1) * look];
            for (line, row) in shown.chunks_exact(SHOWN * 3).enumerate() {
                let at = (patch / columns * SHOWN + line) * columns * SHOWN + patch % columns * SHOWN;
                image[at * 3..at * 3 + SHOWN * 3].copy_from_slice(row);
            }
        }
        image
    }
}
