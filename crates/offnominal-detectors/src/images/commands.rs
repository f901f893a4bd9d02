//! Does the policy do what it does when the environment looks like this? The action predicted from the images.
//!
//! A network predicts a normal distribution of the action from the coordinates of the image and their change. A fault
//! of the sensors that the policy reads leaves every image nominal: only the actions no longer fit what is seen.

use super::encoding::{EncodedVideo, FrameTriple};
use super::latent::{Coordinates, states};
use super::regression::{Regression, energy, log_energy};
use crate::shared::training::Training;
use offnominal_core::Rng;
use offnominal_core::detector::FitError;
use offnominal_core::fit_progress::FitProgress;
use offnominal_nets::Standardiser;

/// The model of the actions.
#[derive(Clone)]
pub(super) struct Commands {
    coordinates: Coordinates,
    scale: Standardiser,
    net: Regression,
}

impl Commands {
    pub fn fit(
        coordinates: &Coordinates,
        videos: &[EncodedVideo],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Option<Commands>, FitError> {
        let actions: Vec<f32> = videos.iter().flat_map(|f| f.actions.iter().copied()).collect();
        let scale = Standardiser::fit(&actions, videos[0].act_width);
        let width = coordinates.state(&videos[0].frames[0], &videos[0].frames[0]).len();
        if scale.outputs() == 0 || width == 0 {
            return Ok(None);
        }
        let mut targets = vec![0.0; actions.len() / videos[0].act_width * scale.outputs()];
        scale.apply(&actions, &mut targets);
        let mut inputs = Vec::new();
        for video in videos {
            let states = states(coordinates, video);
            inputs.extend_from_slice(&states[..video.len() * width]);
        }
        let sizes = [width, 64, 64, 2 * scale.outputs()];
        let net = Regression::fit([inputs, targets], &sizes, (&Training::brief(), 1), rng, progress)?;
        Ok(Some(Commands { coordinates: coordinates.clone(), scale, net }))
    }

    /// How little the action fits what was seen before it.
    pub fn statistic(&mut self, [before, now, _]: FrameTriple<'_>, action: &[f32]) -> f64 {
        let mut target = vec![0.0; self.scale.outputs()];
        self.scale.apply(action, &mut target);
        let prediction = self.net.predict(&self.coordinates.state(before, now));
        log_energy(f64::from(energy(prediction, &target)))
    }
}
