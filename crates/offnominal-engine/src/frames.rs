//! Videos by replay: an episode is played again from its seed before the environment's first camera.
//!
//! The replay is checked against the record: if an observation, a command or a reward differs, the video would show
//! something else than what was recorded, and there is none.

pub mod cache;

use crate::catalogues;
use anyhow::{Result, ensure};
use offnominal_core::image_detector::Video;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};

/// The camera before which episodes are played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameSize {
    /// Width and height of an image in pixels.
    pub side: usize,
}

/// Bytes of memory that the videos of so many steps in so many episodes take.
pub fn bytes_for(frame_size: FrameSize, episodes: usize, steps: usize) -> u64 {
    ((steps + episodes) * frame_size.side * frame_size.side * 3) as u64
}

/// Checks that an environment can be seen.
///
/// # Errors
/// If it has no camera.
pub fn check(spec: &EnvSpec) -> Result<()> {
    ensure!(
        !spec.cameras.is_empty(),
        "environment {}: expected an environment with a camera, found one without",
        spec.id
    );
    Ok(())
}

/// The video of an episode.
///
/// # Errors
/// If its fault cannot be built for the environment, or the replay is not what was recorded.
pub fn video(trial: &Trial<'_>, episode: &Episode, frame_size: FrameSize) -> Result<Video> {
    let mut frame = Frame::new(frame_size.side, frame_size.side);
    let mut frames = Vec::with_capacity(bytes_for(frame_size, 1, episode.len()) as usize);
    let mut left = episode.len() + 1;
    let again = trial.replay_before(episode, &catalogues::anomalies(), &mut |env, rollout| {
        if left > 0 {
            env.render(Camera(0), &mut frame);
            rollout.disturb(&mut frame);
            frames.extend_from_slice(&frame.rgb);
            left -= 1;
        }
    })?;
    same(episode, &again)?;
    Ok(Video::new((frame_size.side, frame_size.side), frames, episode.actions.clone(), episode.act_width))
}

/// Insists on the same record, as far as it goes: it may have been cut where a simulator broke.
fn same(recorded: &Episode, again: &Episode) -> Result<()> {
    let bits = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
    let n = recorded.len();
    let is_same = again.len() >= n
        && bits(&recorded.observations, &again.observations)
        && bits(&recorded.actions, &again.actions)
        && recorded.rewards.iter().zip(&again.rewards).all(|(x, y)| x.to_bits() == y.to_bits());
    ensure!(
        is_same,
        "episode with seed {} in {}: expected the replay to be what was recorded, found another course of events; \
         images can be had only of environments that repeat themselves",
        recorded.seed.0,
        recorded.env
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;
    use offnominal_core::schedule::{Extent, Onset};

    fn anomaly_spec(anomaly: &str) -> AnomalySpec {
        let schedule = Schedule { onset: Onset::At(3), extent: Extent::ToEnd };
        AnomalySpec { anomaly: anomaly.into(), params: serde_json::json!({"magnitude": 0.4}), schedule }
    }

    #[test]
    fn a_video_is_the_episode_again() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let all = catalogues::anomalies();
        let (episode, twin) = subject.trial().with_twin(Seed(5), &anomaly_spec("act-offset"), &all).unwrap();
        let frame_size = FrameSize { side: 48 };
        let (one, other) = (
            video(&subject.trial(), &episode, frame_size).unwrap(),
            video(&subject.trial(), &twin, frame_size).unwrap(),
        );
        assert_eq!((one.len(), one.actions.as_slice()), (episode.len(), episode.actions.as_slice()));
        assert_eq!(one.frame(3), other.frame(3), "until the onset they are the same");
        assert_ne!(one.frame(5), other.frame(5));
        assert_eq!(one, video(&subject.trial(), &episode, frame_size).unwrap());
    }

    #[test]
    fn a_record_that_does_not_repeat_itself_has_no_video() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let mut episode = subject.trial().nominal(Seed(5));
        episode.rewards[2] += 1e-9;
        let error = video(&subject.trial(), &episode, FrameSize { side: 16 }).unwrap_err().to_string();
        assert!(error.contains("expected the replay to be what was recorded"), "{error}");
    }
}
