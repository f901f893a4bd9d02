//! What a monitor remembers of the images of an episode: the last three, as patches in nominal units, as moments and as
//! components.

use super::components::Components;
use super::moments::Moments;
use offnominal_core::Rng;
use offnominal_core::fit_progress::{FitProgress, Stopped};
use offnominal_core::image_detector::{FrameTransition, Video, hold_out};
use offnominal_nets::Standardiser;
use offnominal_nets::vision::{Backbone, Encoder};
use std::sync::Arc;

/// Images of which the scale of the features is measured.
const SAMPLED: usize = 300;

/// Encodes images and brings each number of a patch to its nominal mean and deviation.
#[derive(Clone)]
pub(super) struct FrameEncoder {
    scale: Arc<Standardiser>,
    moments: Arc<Moments>,
    components: Arc<Components>,
    size: (usize, usize),
    encoder: Box<dyn Encoder>,
    row: Vec<f32>,
}

/// The grid of the patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub rows: usize,
    pub columns: usize,
    /// Numbers per patch that carry information.
    pub width: usize,
}

impl FrameEncoder {
    /// Measures the scale and the components on images spread evenly over the videos.
    pub fn fit(
        backbone: &Arc<dyn Backbone>,
        videos: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<FrameEncoder, Stopped> {
        let size = (videos[0].height, videos[0].width);
        let mut encoder = backbone.at(size.0, size.1);
        let total: usize = videos.iter().map(|f| f.len() + 1).sum();
        let stride = total.div_ceil(SAMPLED).max(1);
        let images = || videos.iter().flat_map(|f| (0..=f.len()).map(|t| f.frame(t))).step_by(stride);
        let moments = Arc::new(Moments::fit(images(), rng));
        let mut rows: Vec<f32> = Vec::new();
        let mut width = 1;
        for (i, image) in images().enumerate() {
            progress.at(i * stride, total)?;
            let features = encoder.encode(image);
            width = features.width;
            rows.extend_from_slice(&features.patches);
        }
        let scale = Arc::new(Standardiser::fit(&rows, width));
        let mut frames = vec![0.0; rows.len() / width * scale.outputs()];
        scale.apply(&rows, &mut frames);
        let components = Arc::new(Components::fit(&frames, frames.len() / images().count()));
        Ok(FrameEncoder { scale, moments, components, size, encoder, row: Vec::new() })
    }

    /// An image as it is remembered.
    pub fn encode(&mut self, image: &[u8]) -> EncodedFrame {
        let patches = self.patches(image);
        let (moments, components) = (self.moments.of(image, self.size.1), self.components.of(&patches));
        EncodedFrame { patches, moments, components }
    }

    /// The patches of an image, `[rows, columns, width]`, in nominal units.
    fn patches(&mut self, image: &[u8]) -> Vec<f32> {
        let features = self.encoder.encode(image);
        let mut out = Vec::with_capacity(features.n_patches() * self.scale.outputs());
        self.row.resize(self.scale.outputs(), 0.0);
        for patch in features.patches.chunks_exact(features.width) {
            self.scale.apply(patch, &mut self.row);
            out.extend_from_slice(&self.row);
        }
        out
    }

    /// The grid of the images that were encoded last.
    pub fn grid(&mut self) -> Grid {
        let (height, width) = self.size;
        let features = self.encoder.encode(&vec![0; height * width * 3]);
        Grid { rows: features.rows, columns: features.columns, width: self.scale.outputs() }
    }

    /// The image of patches in nominal units, if the encoder can decode one.
    pub fn decode(&mut self, patches: &[f32]) -> Option<Vec<u8>> {
        let (width, kept) = (self.scale.inputs(), self.scale.varying());
        let mut raw = vec![0.0; patches.len() / kept.len().max(1) * width];
        for (patch, raw) in patches.chunks_exact(kept.len()).zip(raw.chunks_exact_mut(width)) {
            for (j, &channel) in kept.iter().enumerate() {
                raw[channel] = self.scale.mean()[j] + self.scale.scale()[j] * patch[j];
            }
        }
        self.encoder.decode(&raw)
    }
}

/// An image as it is remembered.
#[derive(Debug, Clone)]
pub(super) struct EncodedFrame {
    /// `[rows, columns, width]`, in nominal units.
    pub patches: Vec<f32>,
    /// Where its colours are.
    pub moments: Vec<f32>,
    /// Its principal components.
    pub components: Vec<f32>,
}

/// The images before, at and after an action.
pub(super) type FrameTriple<'a> = [&'a EncodedFrame; 3];

/// A video as it is remembered, with its actions.
pub(super) struct EncodedVideo {
    /// Each of the T + 1 images.
    pub frames: Vec<EncodedFrame>,
    pub actions: Vec<f32>,
    pub act_width: usize,
}

impl EncodedVideo {
    pub fn of(
        encoder: &mut FrameEncoder,
        video: &Video,
        progress: FitProgress<'_>,
    ) -> Result<EncodedVideo, Stopped> {
        let frame = |t: usize| {
            progress.at(t, video.len())?;
            Ok(encoder.encode(video.frame(t)))
        };
        let frames = (0..=video.len()).map(frame).collect::<Result<_, Stopped>>()?;
        Ok(EncodedVideo { frames, actions: video.actions.clone(), act_width: video.act_width })
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.actions.len() / self.act_width
    }

    /// The images before, at and after a step.
    pub fn step(&self, t: usize) -> FrameTriple<'_> {
        [t.saturating_sub(1), t, t + 1].map(|t| &self.frames[t])
    }

    /// The action of a step.
    pub fn action(&self, t: usize) -> &[f32] {
        &self.actions[t * self.act_width..(t + 1) * self.act_width]
    }
}

/// Videos to learn from, and videos held out: every fourth, or none where there are too few.
pub(super) struct Split {
    pub seen: Vec<EncodedVideo>,
    pub held_out: Vec<EncodedVideo>,
}

impl Split {
    pub fn of(
        encoder: &mut FrameEncoder,
        videos: &[Video],
        progress: FitProgress<'_>,
    ) -> Result<Split, Stopped> {
        let (seen, held_out) = hold_out(videos);
        let mut i = 0;
        let mut replayed = |videos: Vec<&Video>, n: usize| {
            let of = |video| {
                i += 1;
                EncodedVideo::of(encoder, video, progress.part(i - 1, n))
            };
            videos.into_iter().map(of).collect::<Result<Vec<_>, Stopped>>()
        };
        Ok(Split { seen: replayed(seen, videos.len())?, held_out: replayed(held_out, videos.len())? })
    }

    /// What is usual is seen in the videos held out; in the others where there are none.
    pub fn nominal(&self) -> &[EncodedVideo] {
        if self.held_out.is_empty() { &self.seen } else { &self.held_out }
    }
}

/// The image before, the one that the action met, and the one that followed.
#[derive(Debug, Clone, Default)]
pub(super) struct FrameWindow {
    /// Oldest first; the first image of an episode counts as its own predecessor.
    seen: Vec<EncodedFrame>,
}

impl FrameWindow {
    pub fn reset(&mut self) {
        self.seen.clear();
    }

    /// Takes in a step.
    pub fn see(&mut self, encoder: &mut FrameEncoder, transition: &FrameTransition<'_>) -> FrameTriple<'_> {
        if self.seen.is_empty() {
            let first = encoder.encode(transition.frame);
            self.seen = vec![first.clone(), first];
        } else if self.seen.len() == 3 {
            self.seen.remove(0);
        }
        self.seen.push(encoder.encode(transition.next_frame));
        [&self.seen[0], &self.seen[1], &self.seen[2]]
    }
}
