//! Our default for images: patches that change as they should, a whole that moves as it should, actions that fit.
//!
//! score = the largest of s and its running means over about three and thirty steps, each in units of held-out nominal
//! steps, with s = Σ_k −ln p_k over four parts; p_k is the share of held-out nominal steps that part k scores at least as
//! high, continued as an exponential.
//!
//! | part    | what it says                                                                           |
//! |---------|----------------------------------------------------------------------------------------|
//! | patches | [`PatchDynamics`](super::PatchDynamics)                                                |
//! | whole   | the detector `residual-views` on where colours are in whole images                     |
//! | actions | a model of the action, from where colours are                                          |
//! | actions | another, from the principal components of the image, which also tell what has no colour |
//! |         | of its own                                                                             |
//!
//! The fourth part was chosen in sap-goal0, sap-goal1 and mjc-cartpole-swingup, among fifteen sums and maxima of nine parts;
//! a model of how the components change, the energy that they leave and the mean energy of all patches did not help. The sum
//! without the patches has a higher AUROC there; they stay, so that the score reacts to what the heat shows.
//!
//! Assumes: as its parts; every fourth episode is held out.
//! Blind to: an environment that looks and moves as ever while the policy acts as it always does there.
//! Cost: the sum of its parts, about 3 ms an image.
//! Reference: this project's.

use super::commands::Commands;
use super::dynamics::{Dynamics, DynamicsShape};
use super::encoding::{EncodedVideo, FrameEncoder, FrameTriple, Split};
use super::latent::{Coordinates, Latent, Reading};
use super::memory::Scales;
use super::monitor::{Fitted, FrameStatistic};
use crate::shared::self_information::SelfInformation;
use offnominal_core::image_detector::check_videos;
use offnominal_core::prelude::*;
use offnominal_nets::vision::Backbone;
use std::sync::Arc;

/// Number of parts.
const PARTS: usize = 4;

/// The recipe.
pub struct PatchFusion {
    /// Whose features they are.
    pub backbone: Arc<dyn Backbone>,
    /// The model of the patches.
    pub shape: DynamicsShape,
}

impl ImageDetector for PatchFusion {
    fn fit(
        &self,
        train: &[Video],
        _: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError> {
        check_videos(train, 2)?;
        let mut encoder = FrameEncoder::fit(&self.backbone, train, rng, progress.between(0.0, 0.1))?;
        let videos = Split::of(&mut encoder, train, progress.between(0.1, 0.4))?;
        let of = |reading| Coordinates::fit(&videos.seen, reading);
        let [moments, components] = [of(Reading::Moments), of(Reading::Components)];
        let mut parts = Parts {
            dynamics: Dynamics::fit(&self.shape, encoder.grid(), &videos, rng, progress.between(0.4, 0.8))?,
            latent: Latent::fit(&moments, &videos.seen, rng, progress.between(0.8, 0.9))?,
            commands: [
                Commands::fit(&moments, &videos.seen, rng, progress.between(0.9, 0.95))?,
                Commands::fit(&components, &videos.seen, rng, progress.between(0.95, 1.0))?,
            ],
        };
        let scored: Vec<Vec<[f64; PARTS]>> =
            videos.nominal().iter().map(|video| parts.video(video)).collect();
        let of = |k: usize| scored.iter().flatten().map(|s| s[k]).collect::<Vec<f64>>();
        let self_information = std::array::from_fn(|k| SelfInformation::of_nominal(of(k)));
        let sums = |video: &Vec<[f64; PARTS]>| {
            video.iter().map(|s| total(&self_information, s)).collect::<Vec<f64>>()
        };
        let scales = Scales::fit(&scored.iter().map(sums).collect::<Vec<_>>());
        Ok(Box::new(Fitted::new(encoder, Summed { parts, self_information }, scales)))
    }
}

#[derive(Clone)]
struct Parts {
    dynamics: Dynamics,
    latent: Option<Latent>,
    /// From the moments, and from the components.
    commands: [Option<Commands>; 2],
}

impl Parts {
    fn reset(&mut self) {
        self.latent.iter_mut().for_each(Latent::reset);
    }

    fn score(&mut self, frames: FrameTriple<'_>, action: &[f32]) -> [f64; PARTS] {
        let [from_moments, from_components] = self
            .commands
            .each_mut()
            .map(|model| model.as_mut().map_or(0.0, |commands| commands.statistic(frames, action)));
        [
            self.dynamics.statistic(frames, action),
            self.latent.as_mut().map_or(0.0, |l| l.score(frames, action)),
            from_moments,
            from_components,
        ]
    }

    fn video(&mut self, video: &EncodedVideo) -> Vec<[f64; PARTS]> {
        self.reset();
        (0..video.len()).map(|t| self.score(video.step(t), video.action(t))).collect()
    }
}

/// The sum of the self-information.
fn total(self_information: &[SelfInformation; PARTS], scores: &[f64; PARTS]) -> f64 {
    self_information.iter().zip(scores).map(|(self_information, &score)| self_information.of(score)).sum()
}

/// The parts and how their scores are added.
#[derive(Clone)]
struct Summed {
    parts: Parts,
    self_information: [SelfInformation; PARTS],
}

impl FrameStatistic for Summed {
    fn reset(&mut self) {
        self.parts.reset();
    }

    fn statistic(&mut self, frames: FrameTriple<'_>, action: &[f32]) -> f64 {
        total(&self.self_information, &self.parts.score(frames, action))
    }

    fn heat(&self) -> Heat {
        self.parts.dynamics.heat()
    }

    fn expected(&self) -> &[f32] {
        &self.parts.dynamics.expected
    }
}
