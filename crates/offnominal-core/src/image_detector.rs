//! What scores images: an image detector is fitted on videos of nominal episodes and becomes a scorer of one
//! transition after another.
//!
//! As with [`crate::detector`], unfitted and fitted are different types, and neither reward nor label nor clock can be
//! reached: a scorer sees what the camera saw before and after a step, and the action in between.

use crate::Rng;
use crate::detector::FitError;
use crate::fit_progress::FitProgress;

/// What a camera saw in one episode of T steps, with the actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Video {
    /// Pixels per row.
    pub width: usize,
    /// Rows of an image.
    pub height: usize,
    /// Red, green and blue, `[T + 1, height, width, 3]`.
    pub frames: Vec<u8>,
    /// The policy's actions, `[T, act_width]`.
    pub actions: Vec<f32>,
    /// Numbers per action.
    pub act_width: usize,
}

/// One step as an image scorer sees it; images are `[height, width, 3]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameTransition<'a> {
    /// What the camera saw before the step.
    pub frame: &'a [u8],
    /// The policy's action.
    pub action: &'a [f32],
    /// What it saw after the step.
    pub next_frame: &'a [u8],
}

/// Where in an image a score comes from, on any coarse grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub columns: usize,
    /// One number per field, row by row; larger is more anomalous.
    pub values: Vec<f32>,
}

/// The recipe of an image detector: plain data that can be fitted.
pub trait ImageDetector: Send + Sync {
    /// Learns what is nominal.
    ///
    /// # Errors
    /// If there is no data, the videos differ in size, what the detector needs (weights, memory, a device) is missing, or
    /// `progress` says that it is to stop.
    fn fit(
        &self,
        train: &[Video],
        validation: &[Video],
        rng: &mut Rng,
        progress: FitProgress<'_>,
    ) -> Result<Box<dyn ImageScorer>, FitError>;
}

/// A fitted image detector, scoring one episode at a time. It is [`Clone`], from which [`ForkImages`] follows.
///
/// The steps of an episode come in their order, so the frame of a step is the next frame of the step before; a scorer
/// may keep what it made of it.
pub trait ImageScorer: ForkImages + Send + Sync {
    /// Forgets the episode before; nothing, where nothing is remembered.
    fn reset(&mut self) {}

    /// How anomalous this step is: larger is more anomalous, and always finite.
    ///
    /// # Panics
    /// If the images do not have the size of those that the detector was fitted on.
    fn score(&mut self, transition: FrameTransition<'_>) -> f64;

    /// Where in the last image the score comes from, where the scorer knows.
    fn heat(&self) -> Option<Heat> {
        None
    }

    /// What the scorer expected to see in the last image, `[height, width, 3]`, where it knows.
    fn expected(&self) -> Option<&[u8]> {
        None
    }

    /// Scores a whole episode, from a reset.
    fn score_video(&mut self, video: &Video) -> Vec<f64> {
        self.reset();
        video.transitions().map(|transition| self.score(transition)).collect()
    }
}

/// What can be copied without its type being known; every [`ImageScorer`] that is [`Clone`].
pub trait ForkImages {
    /// An independent copy, for another thread; copies share what is large and never changes.
    fn fork(&self) -> Box<dyn ImageScorer>;
}

impl<S: ImageScorer + Clone + 'static> ForkImages for S {
    fn fork(&self) -> Box<dyn ImageScorer> {
        Box::new(self.clone())
    }
}

impl Video {
    /// The video of an episode.
    ///
    /// # Panics
    /// If the lengths do not fit together, or a size is zero.
    pub fn new(
        (width, height): (usize, usize),
        frames: Vec<u8>,
        actions: Vec<f32>,
        act_width: usize,
    ) -> Video {
        assert!(width > 0 && height > 0 && act_width > 0, "a video needs pixels and actions");
        let steps = actions.len() / act_width;
        assert_eq!(actions.len(), steps * act_width, "actions do not fill whole rows");
        assert_eq!(frames.len(), (steps + 1) * width * height * 3, "expected one more frame than actions");
        Video { width, height, frames, actions, act_width }
    }

    /// Number of steps T.
    pub fn len(&self) -> usize {
        self.actions.len() / self.act_width
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Numbers per image.
    pub fn frame_len(&self) -> usize {
        self.width * self.height * 3
    }

    /// Image `t`, of 0 to T.
    ///
    /// # Panics
    /// If there is none.
    pub fn frame(&self, t: usize) -> &[u8] {
        &self.frames[t * self.frame_len()..(t + 1) * self.frame_len()]
    }

    /// The action of step `t`.
    ///
    /// # Panics
    /// If there is none.
    pub fn action(&self, t: usize) -> &[f32] {
        &self.actions[t * self.act_width..(t + 1) * self.act_width]
    }

    /// Step `t`.
    ///
    /// # Panics
    /// If `t` is not below `len()`.
    pub fn transition(&self, t: usize) -> FrameTransition<'_> {
        FrameTransition { frame: self.frame(t), action: self.action(t), next_frame: self.frame(t + 1) }
    }

    /// The steps in order.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = FrameTransition<'_>> {
        (0..self.len()).map(|t| self.transition(t))
    }
}

impl Heat {
    /// A grid of numbers.
    ///
    /// # Panics
    /// If they do not fill it.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Heat {
        assert_eq!(values.len(), rows * columns, "expected one number per field");
        Heat { rows, columns, values }
    }
}

/// Videos to learn from, and videos held out: every fourth, or none where there are too few. What is usual belongs
/// found in the latter, and not in the videos of the validation, from which alarms get their thresholds.
pub fn hold_out(videos: &[Video]) -> (Vec<&Video>, Vec<&Video>) {
    let (mut seen, mut held_out) = (Vec::new(), Vec::new());
    for (i, video) in videos.iter().enumerate() {
        let is_out = i % 4 == 3 && videos.len() >= 4;
        if is_out { held_out.push(video) } else { seen.push(video) }
    }
    (seen, held_out)
}

/// Checks what every image detector requires of its videos: enough steps, one size, finite actions.
///
/// # Errors
/// The first violation found.
pub fn check_videos(videos: &[Video], needed: usize) -> Result<(), FitError> {
    let found = videos.iter().map(Video::len).sum();
    if found < needed.max(1) {
        return Err(FitError::TooFewSteps { needed: needed.max(1), found });
    }
    let size = |f: &Video| format!("images of {} x {} and {} actions", f.width, f.height, f.act_width);
    for (episode, video) in videos.iter().enumerate() {
        if size(video) != size(&videos[0]) {
            return Err(FitError::Video { episode, expected: size(&videos[0]), found: size(video) });
        }
        if let Some(at) = video.actions.iter().position(|a| !a.is_finite()) {
            let (step, found) = (at / video.act_width, video.actions[at]);
            return Err(FitError::NotFinite { episode, step, found });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn video(side: usize, actions: Vec<f32>) -> Video {
        let frames = (0..(actions.len() + 1) * side * side * 3).map(|i| i as u8).collect();
        Video::new((side, side), frames, actions, 1)
    }

    #[test]
    fn transitions_overlap_by_one_frame() {
        let video = video(2, vec![7.0, 8.0]);
        let all: Vec<_> = video.transitions().collect();
        assert_eq!((all.len(), all[0].next_frame), (2, all[1].frame));
        assert_eq!((all[1].action, all[1].next_frame[0]), (&[8.0][..], 24));
    }

    #[test]
    fn bad_videos_are_named() {
        let found = |videos: &[Video], needed| check_videos(videos, needed).unwrap_err().to_string();
        assert!(found(&[], 1).contains("at least 1 nominal steps"));
        let nan = [video(2, vec![0.0]), video(2, vec![0.0, f32::NAN])];
        assert!(found(&nan, 1).starts_with("episode 1: expected finite numbers, found NaN at step 1"));
        let sizes = [video(2, vec![0.0]), video(3, vec![0.0])];
        let want = "video 1: expected images of 2 x 2 and 1 actions, found images of 3 x 3 and 1 actions";
        assert_eq!(found(&sizes, 1), want);
    }
}
