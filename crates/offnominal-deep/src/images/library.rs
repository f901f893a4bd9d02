//! The videos of a fit, ready to be cut into batches.

use super::frames::{Commands, Scaling, Shrink};
use super::network::View;
use super::window::Window;
use crate::weights::tensor;
use burn_tensor::{Device, Tensor};
use offnominal_core::prelude::*;
use std::borrow::Cow;

/// Videos in a network's size.
pub struct Library<'a> {
    videos: &'a [Video],
    frames: Vec<Cow<'a, [u8]>>,
    view: View,
}

/// Windows side by side, step by step: row t n + i is step t of window i.
pub struct Batch {
    /// Windows.
    pub n: usize,
    /// Steps of the longest.
    pub steps: usize,
    /// Images before and after every step, `[(steps + 1) n, 3, rows, columns]`; a window that ended stands still.
    pub frames: Tensor<4>,
    /// Actions, `[steps n, act_width]`.
    pub actions: Tensor<2>,
    /// What each step counts, `[steps n, 1]`, 1 in sum; nothing where a window has ended.
    pub shares: Tensor<2>,
}

impl<'a> Library<'a> {
    /// Of these videos.
    pub fn new(videos: &'a [Video], view: View, shrink: &Shrink) -> Library<'a> {
        Library { videos, frames: videos.iter().map(|video| shrink.video(video)).collect(), view }
    }

    /// The images of each video.
    pub fn frames(&self) -> &[Cow<'a, [u8]>] {
        &self.frames
    }

    /// Steps of each video.
    pub fn lengths(&self) -> Vec<usize> {
        self.videos.iter().map(Video::len).collect()
    }

    fn frame(&self, video: usize, t: usize) -> &[u8] {
        let len = self.view.len();
        &self.frames[video][t * len..(t + 1) * len]
    }

    /// Windows as numbers on a device.
    pub fn batch(&self, windows: &[Window], scaling: &Scaling, commands: &Commands, on: &Device) -> Batch {
        let (n, steps) = (windows.len(), windows.iter().map(|w| w.len).max().unwrap_or(0));
        let total: usize = windows.iter().map(|w| w.len).sum();
        let mut frames = Vec::with_capacity((steps + 1) * n * self.view.len());
        let (mut actions, mut shares) = (Vec::new(), Vec::new());
        for t in 0..=steps {
            windows
                .iter()
                .for_each(|w| scaling.put(self.frame(w.video, w.start + t.min(w.len)), &mut frames));
        }
        for (t, w) in (0..steps).flat_map(|t| windows.iter().map(move |w| (t, w))) {
            commands.put(self.videos[w.video].action(w.start + t.min(w.len - 1)), &mut actions);
            shares.push(if t < w.len { 1.0 / total as f32 } else { 0.0 });
        }
        let View { rows, columns, act_width } = self.view;
        Batch {
            n,
            steps,
            frames: tensor(frames, [(steps + 1) * n, 3, rows, columns], on),
            actions: tensor(actions, [steps * n, act_width], on),
            shares: tensor(shares, [steps * n, 1], on),
        }
    }
}

impl Batch {
    /// What was seen before each step.
    pub fn before(&self) -> Tensor<4> {
        self.frames.clone().narrow(0, 0, self.steps * self.n)
    }

    /// What was seen after each step.
    pub fn after(&self) -> Tensor<4> {
        self.frames.clone().narrow(0, self.n, self.steps * self.n)
    }

    /// The rows of step `t`.
    pub fn at(&self, all: &Tensor<2>, t: usize) -> Tensor<2> {
        all.clone().narrow(0, t * self.n, self.n)
    }

    /// The mean over steps of a number of each, `[steps n, 1]`.
    pub fn mean(&self, each: Tensor<2>) -> Tensor<1> {
        (each * self.shares.clone()).sum()
    }

    /// The mean squared difference of images of all steps.
    pub fn squared(&self, expected: Tensor<4>, seen: Tensor<4>) -> Tensor<1> {
        let difference: Tensor<2> = (expected - seen).flatten::<2>(1, 3);
        self.mean((difference.clone() * difference).mean_dim(1))
    }
}
