//! A segmentation network that looks at the frames of a camera, and a pixel method fitted on nominal ones.
//!
//! Videos have no labels, so methods that are fitted see classes as the network predicts them. Methods that learn from
//! unknown things see frames into which something was pasted.

use crate::data_set::Labels;
use crate::level::Scored;
use crate::network::Network;
use crate::output::NetworkOutput;
use crate::paste::paste;
use anyhow::Context;
use offnominal_core::fit_progress::FitProgress;
use offnominal_core::image_detector::hold_out;
use offnominal_core::prelude::*;
use offnominal_detectors::pixel::patches::Band;
use offnominal_detectors::pixel::{PixelMethod, PixelScorer, methods};
use offnominal_engine::data;
use offnominal_engine::device::Device;
use offnominal_stats::pixel::Truth;
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// Pastes something into an image, its labels are changed with it; the other is an image to take pieces from, and its
/// width.
pub type Paste = dyn Fn(&mut [u8], &mut Labels, (&[u8], usize), &mut Rng) + Send + Sync;

/// A network for frames of one width.
pub struct FrameNetwork {
    model: Network,
    width: usize,
    /// The rows that are looked at; all, if none.
    band: Option<Band>,
    paste: Box<Paste>,
}

impl FrameNetwork {
    /// A model of `pixels train`; a shipped one, from the data folder, if none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(model: Option<&Path>, shipped: &str, width: usize) -> anyhow::Result<FrameNetwork> {
        let model = match model {
            Some(path) => Network::model(path, 1, Seed(0), Device::Cpu),
            None => Network::read(&data::read(shipped)?, Path::new(shipped), 1, Seed(0), Device::Cpu),
        };
        let model = model?;
        anyhow::ensure!(
            !model.classes().is_empty(),
            "expected a network whose file names its classes, found none"
        );
        Ok(FrameNetwork { model, width, band: None, paste: Box::new(paste) })
    }

    /// Names of the classes that it knows.
    pub fn classes(&self) -> &[String] {
        self.model.classes()
    }

    /// The same that looks only at some rows, and learns from things that are pasted in another way.
    pub fn within(self, band: Band, paste: Box<Paste>) -> FrameNetwork {
        FrameNetwork { band: Some(band), paste, ..self }
    }

    /// A method with its parameters that is fitted on frames of nominal videos, and the scores of those held out, for their level.
    ///
    /// # Errors
    /// If the method needs what the network does not have, cannot be fitted, or is to stop.
    pub fn fit(
        self,
        method: (&str, &Value),
        videos: &[Video],
        most: NonZeroUsize,
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<(FrameScorer, Vec<Scored>), FitError> {
        let (seen, held_out) = hold_out(videos);
        let apart = if held_out.is_empty() { &seen } else { &held_out };
        let scorer = self.learn(method, &spread(&seen, most), rng, progress.between(0.0, 0.5))?;
        let (progress, frames) = (progress.between(0.5, 1.0), spread(apart, most));
        let mut nominal = Vec::with_capacity(frames.len());
        for (i, rgb) in frames.iter().enumerate() {
            progress.at(i, frames.len())?;
            nominal.push(self.scores(scorer.as_ref(), rgb));
        }
        Ok((FrameScorer { network: Arc::new(self), scorer: Arc::from(scorer) }, nominal))
    }

    fn learn(
        &self,
        (id, params): (&str, &Value),
        nominal: &[&[u8]],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn PixelScorer>, FitError> {
        let missing = |e: anyhow::Error| FitError::Missing(format!("{e:#}"));
        let method = self.method(id, params, nominal[0]).map_err(missing)?;
        let mut fitting = method.begin();
        let rounds = fitting.rounds();
        for (i, (round, rgb)) in (0..rounds).flat_map(|r| nominal.iter().map(move |rgb| (r, rgb))).enumerate()
        {
            progress.at(i, rounds * nominal.len())?;
            let (output, labels) = match method.needs().outliers {
                false => self.labelled(rgb),
                true => self.pasted(rgb, nominal[rng.below(nominal.len())], rng),
            };
            fitting.see(round, &output.view(), &labels);
        }
        fitting.finish().with_context(|| id.to_string()).map_err(missing)
    }

    /// The method, if the network has what it needs.
    fn method(&self, id: &str, params: &Value, rgb: &[u8]) -> anyhow::Result<Box<dyn PixelMethod>> {
        let method = methods().build(id, params)?;
        method.needs().check(&self.try_forward(rgb)?.view()).with_context(|| id.to_string())?;
        Ok(method)
    }

    /// The output for a frame like those that the method was fitted to.
    fn forward(&self, rgb: &[u8]) -> NetworkOutput {
        self.try_forward(rgb).expect("a frame of the size of the nominal ones")
    }

    fn try_forward(&self, rgb: &[u8]) -> anyhow::Result<NetworkOutput> {
        // One pass without dropped units draws nothing.
        let (width, mut rng) = (self.width, Rng::new(0));
        match &self.band {
            None => self.model.forward(rgb, width, &mut rng),
            Some(band) => self.model.forward_band(rgb, width, band, &mut rng),
        }
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
        let (mut rgb, known) = (rgb.to_vec(), self.labelled(rgb).1);
        let (pixels, height) = (rgb.len() / 3, rgb.len() / 3 / self.width);
        let first = self.width * self.band.as_ref().map_or(0, |band| band.rows.start);
        let mut ids = vec![0; pixels];
        ids[first..first + known.len()].copy_from_slice(&known);
        let mut labels = Labels { width: self.width, height, ids, truth: vec![Truth::Known; pixels] };
        (self.paste)(&mut rgb, &mut labels, (other, self.width), rng);
        (self.forward(&rgb), labels.ids[first..first + known.len()].to_vec())
    }

    /// The scores of the pixels that are looked at, and their predicted classes.
    fn scores(&self, scorer: &dyn PixelScorer, rgb: &[u8]) -> Scored {
        let (output, classes) = self.labelled(rgb);
        let mut scores = vec![0.0; classes.len()];
        scorer.score(&output.view(), &mut scores);
        (scores, classes)
    }
}

/// A fitted method on the output of a network; copies share both.
#[derive(Clone)]
pub struct FrameScorer {
    network: Arc<FrameNetwork>,
    scorer: Arc<dyn PixelScorer>,
}

impl FrameScorer {
    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.network.width
    }

    /// The scores of the pixels that are looked at, and their predicted classes.
    pub fn scores(&self, rgb: &[u8]) -> Scored {
        self.network.scores(self.scorer.as_ref(), rgb)
    }
}

/// Frames spread evenly over videos.
fn spread<'a>(videos: &[&'a Video], most: NonZeroUsize) -> Vec<&'a [u8]> {
    let all: Vec<(usize, usize)> =
        videos.iter().enumerate().flat_map(|(i, video)| (0..=video.len()).map(move |t| (i, t))).collect();
    let n = most.get().min(all.len());
    (0..n).map(|k| all[k * all.len() / n]).map(|(i, t)| videos[i].frame(t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
