//! The whole image as a few numbers, and the detector `residual-views` on them as if they were sensors.
//!
//! o(t) = (y(t), y(t) − y(t−1)), where y are the [moments](super::moments) of the image in nominal units, or its
//! [components](super::components). What is seen of the environment as a whole then has the same model as a vector of
//! sensors.

use super::encoding::{EncodedFrame, EncodedVideo, FrameTriple};
use crate::ResidualViews;
use offnominal_core::prelude::*;
use offnominal_nets::Standardiser;

/// A deviation below which a number says nothing: things that stand still are seen with errors of rounding.
const LEAST: f32 = 1e-5;

/// Which numbers of an image are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// Where its colours are.
    Moments,
    /// Its principal components.
    Components,
}

impl Reading {
    fn of(self, frame: &EncodedFrame) -> &[f32] {
        match self {
            Reading::Moments => &frame.moments,
            Reading::Components => &frame.components,
        }
    }
}

/// The numbers that vary, in nominal units.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    reading: Reading,
    scale: Standardiser,
}

impl Coordinates {
    pub fn fit(videos: &[EncodedVideo], reading: Reading) -> Coordinates {
        let frames = || videos.iter().flat_map(|f| &f.frames);
        let rows: Vec<f32> = frames().flat_map(|f| reading.of(f).iter().copied()).collect();
        let all = Standardiser::fit(&rows, rows.len() / frames().count());
        let kept = || all.varying().iter().enumerate().filter(|(j, _)| all.scale()[*j] > LEAST);
        let of = |numbers: &[f32]| kept().map(|(j, _)| numbers[j]).collect::<Vec<f32>>();
        let channels = kept().map(|(_, &channel)| channel).collect();
        let fewer = Standardiser::from_parts(all.inputs(), channels, of(all.mean()), of(all.scale()));
        Coordinates { reading, scale: fewer.unwrap_or(all) }
    }

    fn of(&self, frame: &EncodedFrame) -> Vec<f32> {
        let mut out = vec![0.0; self.scale.outputs()];
        self.scale.apply(self.reading.of(frame), &mut out);
        out
    }

    /// Where the environment is and how it moves.
    pub fn state(&self, before: &EncodedFrame, now: &EncodedFrame) -> Vec<f32> {
        let (old, mut new) = (self.of(before), self.of(now));
        let moved: Vec<f32> = new.iter().zip(&old).map(|(n, o)| n - o).collect();
        new.extend(moved);
        new
    }
}

/// A vector detector on the coordinates.
pub(super) struct Latent {
    coordinates: Coordinates,
    monitor: Box<dyn Scorer>,
    state: Vec<f32>,
}

impl Clone for Latent {
    fn clone(&self) -> Latent {
        Latent {
            coordinates: self.coordinates.clone(),
            monitor: self.monitor.fork(),
            state: self.state.clone(),
        }
    }
}

impl Latent {
    /// Learns from videos; nothing, where no number of the images varies.
    pub fn fit(
        coordinates: &Coordinates,
        videos: &[EncodedVideo],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Option<Latent>, FitError> {
        let states: Vec<Vec<f32>> = videos.iter().map(|f| states(coordinates, f)).collect();
        let width = states[0].len() / (videos[0].len() + 1);
        if width == 0 {
            return Ok(None);
        }
        let signals = videos.iter().zip(&states);
        let signals: Vec<Signals<'_>> =
            signals.map(|(f, s)| Signals::new(s, &f.actions, width, f.act_width)).collect();
        let monitor =
            ResidualViews::default().fit(Nominal::new(&signals, &[]).with_progress(progress), rng)?;
        Ok(Some(Latent { coordinates: coordinates.clone(), monitor, state: Vec::new() }))
    }

    pub fn reset(&mut self) {
        self.monitor.reset();
        self.state.clear();
    }

    /// The score of a step.
    pub fn score(&mut self, [before, now, next]: FrameTriple<'_>, action: &[f32]) -> f64 {
        if self.state.is_empty() {
            self.state = self.coordinates.state(before, now);
        }
        let next = self.coordinates.state(now, next);
        let score = self.monitor.score(&Transition { obs: &self.state, action, next_obs: &next });
        self.state = next;
        score
    }
}

/// The states of all images of a video.
pub(super) fn states(coordinates: &Coordinates, video: &EncodedVideo) -> Vec<f32> {
    let at = |t: usize| coordinates.state(&video.frames[t.saturating_sub(1)], &video.frames[t]);
    (0..=video.len()).flat_map(at).collect()
}
