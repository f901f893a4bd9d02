//! A statistic of three frames in a row as an image monitor.

use super::encoding::{FrameEncoder, FrameTriple, FrameWindow};
use super::memory::{Past, Scales};
use offnominal_core::prelude::*;
use std::sync::OnceLock;

/// What an image detector measures of a step.
pub(super) trait FrameStatistic: Clone + Send + Sync + 'static {
    /// Forgets the episode before.
    fn reset(&mut self) {}

    /// How little a step is like nominal ones.
    fn statistic(&mut self, frames: FrameTriple<'_>, action: &[f32]) -> f64;

    /// Where the last step is unlike nominal ones.
    fn heat(&self) -> Heat;

    /// The features of the patches that were expected after the last step.
    fn expected(&self) -> &[f32];
}

/// The monitor of a statistic: its score is the largest of the statistic and of its running means.
#[derive(Clone)]
pub(super) struct Fitted<S> {
    encoder: FrameEncoder,
    window: FrameWindow,
    statistic: S,
    scales: Scales,
    past: Past,
    /// Decoded when it is asked for.
    expected: OnceLock<Option<Vec<u8>>>,
}

impl<S: FrameStatistic> Fitted<S> {
    pub fn new(encoder: FrameEncoder, statistic: S, scales: Scales) -> Fitted<S> {
        let (window, past, expected) = (FrameWindow::default(), Past::default(), OnceLock::new());
        Fitted { encoder, window, statistic, scales, past, expected }
    }
}

impl<S: FrameStatistic> ImageScorer for Fitted<S> {
    fn reset(&mut self) {
        self.window.reset();
        self.statistic.reset();
        self.past = Past::default();
    }

    fn score(&mut self, transition: FrameTransition<'_>) -> f64 {
        self.expected.take();
        let frames = self.window.see(&mut self.encoder, &transition);
        let q = self.statistic.statistic(frames, transition.action);
        self.scales.score(q, &mut self.past)
    }

    fn heat(&self) -> Option<Heat> {
        Some(self.statistic.heat())
    }

    fn expected(&self) -> Option<&[u8]> {
        let decode = || self.encoder.clone().decode(self.statistic.expected());
        self.expected.get_or_init(decode).as_deref()
    }
}
