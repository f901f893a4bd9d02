//! An episode played again before a camera.

use crate::catalogues;
use anyhow::Result;
use offnominal_core::prelude::*;
use offnominal_files::gif::Video;
use offnominal_files::png::shrunk;
use offnominal_worlds::anomaly::CAMERA;
use std::collections::BTreeSet;

/// Frames from which the colours of a video are chosen.
const N_SAMPLES: usize = 12;

/// How many times larger videos are drawn before they are shrunk, so that edges are smooth.
const SMOOTH_VIDEO: usize = 2;

/// Who plays where, seen by which camera, in which size.
pub struct Show<'a> {
    /// Environment and policy.
    pub trial: Trial<'a>,
    /// One of the environment's cameras.
    pub camera: Camera,
    /// Width and height in pixels.
    pub size: usize,
}

impl Show<'_> {
    /// Plays an episode again and shows its wanted states (0 is the first, before any step). Colours are drawn
    /// `smooth` times larger and shrunk; classes are those of the pixels' centres.
    ///
    /// # Errors
    /// If the fault cannot be built for this environment, or `show` fails.
    pub fn watch(
        &self,
        episode: &Episode,
        smooth: usize,
        wanted: impl Fn(usize) -> bool,
        mut show: impl FnMut(usize, &mut Frame) -> Result<()>,
    ) -> Result<()> {
        let mut large = Frame::new(self.size * smooth, self.size * smooth);
        let mut frame = Frame::new(self.size, self.size);
        let (mut t, mut outcome) = (0, Ok(()));
        // A camera fault may depend on images from before, so it must see all of them.
        let all = episode.anomaly_spec.as_ref().is_some_and(|f| f.anomaly.starts_with(CAMERA));
        self.trial.replay_before(episode, &catalogues::anomalies(), &mut |env, rollout| {
            if outcome.is_ok() && (all || wanted(t)) {
                env.render(self.camera, &mut large);
                env.render(self.camera, &mut frame);
                frame.rgb = shrunk(&large, smooth).rgb;
                rollout.disturb(&mut frame);
            }
            if outcome.is_ok() && wanted(t) {
                outcome = show(t, &mut frame);
            }
            t += 1;
        })?;
        outcome
    }

    /// The video of an episode as GIF, in the environment's own time, with at most so many frames per second of it.
    /// Each frame is given to `retouch` with its state's number before it is shown.
    ///
    /// # Errors
    /// If the fault cannot be built for this environment, or the size is none that GIF allows.
    pub fn video(
        &self,
        episode: &Episode,
        most_frames_per_sec: f64,
        retouch: impl Fn(usize, &mut Frame),
    ) -> Result<Vec<u8>> {
        let dt_secs = self.trial.env.spec().dt_secs;
        let stride = (1.0 / (most_frames_per_sec * dt_secs)).ceil().max(1.0) as usize;
        let mut video = Video::new(&self.samples(episode, &retouch)?, stride as f64 * dt_secs)?;
        self.watch(
            episode,
            SMOOTH_VIDEO,
            |t| t % stride == 0,
            |t, frame| {
                retouch(t, frame);
                video.push(frame)
            },
        )?;
        video.finish()
    }

    /// Frames spread evenly over the episode.
    fn samples(&self, episode: &Episode, retouch: impl Fn(usize, &mut Frame)) -> Result<Vec<Frame>> {
        let wanted: BTreeSet<_> = (0..N_SAMPLES).map(|i| i * episode.len() / (N_SAMPLES - 1)).collect();
        let mut samples = Vec::new();
        self.watch(
            episode,
            SMOOTH_VIDEO,
            |t| wanted.contains(&t),
            |t, frame| {
                retouch(t, frame);
                samples.push(frame.clone());
                Ok(())
            },
        )?;
        Ok(samples)
    }
}
