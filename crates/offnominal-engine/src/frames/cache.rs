//! Videos that were made before, packed: in a benchmark one detector after another looks at the same ones.
//!
//! An image is kept as its difference from the one before, compressed. A video that does not fit any more is made anew
//! each time it is needed: all detectors look at all videos in the same order, so one that made room for it would be
//! missed just as much.

use crate::frames as replaying;
use crate::frames::FrameSize;
use crate::memory;
use anyhow::Result;
use lz4_flex::block::{compress, decompress_into};
use offnominal_core::image_detector::Video;
use offnominal_core::prelude::*;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The videos of one environment and policy.
#[derive(Default)]
pub struct VideoCache {
    cached: Mutex<Option<Cached>>,
}

/// The packed images of videos by what distinguishes these, and bytes of memory that are left for more.
struct Cached {
    videos: HashMap<String, Arc<Packed>>,
    room: u64,
}

/// Images one after the other; where each is the same as the one before, it takes some two hundred bytes.
type Packed = Vec<Vec<u8>>;

/// Memory for videos where the system does not say what is free, bytes.
const ROOM: u64 = 1 << 30;

impl VideoCache {
    /// The video of an episode, from the cache if it is there.
    ///
    /// # Errors
    /// As [`replaying::video`].
    pub fn video(&self, trial: &Trial<'_>, episode: &Episode, frame_size: FrameSize) -> Result<Video> {
        let key = key(episode, frame_size);
        if let Some(packed) = self.find(&key) {
            let frames = unpacked(&packed, frame_size.side * frame_size.side * 3);
            let size = (frame_size.side, frame_size.side);
            return Ok(Video::new(size, frames, episode.actions.clone(), episode.act_width));
        }
        let video = replaying::video(trial, episode, frame_size)?;
        self.insert(key, &video);
        Ok(video)
    }

    fn find(&self, key: &str) -> Option<Arc<Packed>> {
        let kept = self.cached.lock().expect("no thread panics while it holds the lock");
        kept.as_ref()?.videos.get(key).cloned()
    }

    /// Keeps a video if there is room; half of the memory that is free at first may be used.
    fn insert(&self, key: String, video: &Video) {
        let packed = packed(video);
        let bytes: u64 = packed.iter().map(|p| p.len() as u64).sum();
        let mut kept = self.cached.lock().expect("no thread panics while it holds the lock");
        let room = || memory::available().map_or(ROOM, |bytes| bytes / 2);
        let kept = kept.get_or_insert_with(|| Cached { videos: HashMap::new(), room: room() });
        if bytes <= kept.room && kept.videos.insert(key, packed.into()).is_none() {
            kept.room -= bytes;
        }
    }
}

/// What makes a video another one: where it was seen from, how the episode began, and what was done in it.
fn key(episode: &Episode, frame_size: FrameSize) -> String {
    let commands: Vec<u8> = episode.actions.iter().flat_map(|a| a.to_le_bytes()).collect();
    let what =
        json!([frame_size, episode.env, episode.seed, episode.initial, episode.anomaly_spec, episode.onset]);
    offnominal_files::store::address(&[what.to_string().as_bytes(), &commands].concat())
}

fn packed(video: &Video) -> Packed {
    let n = video.frame_len();
    let mut change = vec![0; n];
    let mut pack = |t: usize| {
        change.copy_from_slice(video.frame(t));
        if t > 0 {
            change.iter_mut().zip(video.frame(t - 1)).for_each(|(c, &before)| *c ^= before);
        }
        compress(&change)
    };
    (0..=video.len()).map(&mut pack).collect()
}

fn unpacked(packed: &Packed, n: usize) -> Vec<u8> {
    let mut frames = vec![0; packed.len() * n];
    for (t, bytes) in packed.iter().enumerate() {
        let (before, rest) = frames.split_at_mut(t * n);
        decompress_into(bytes, &mut rest[..n]).expect("what was packed here can be unpacked");
        if let Some(last) = before.rchunks_exact(n).next() {
            rest[..n].iter_mut().zip(last).for_each(|(f, &before)| *f ^= before);
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;
    use offnominal_core::schedule::{Extent, Onset};

    fn episodes(subject: &Subject, anomaly: &str) -> [Episode; 2] {
        let schedule = Schedule { onset: Onset::At(3), extent: Extent::ToEnd };
        let anomaly_spec =
            AnomalySpec { anomaly: anomaly.into(), params: json!({"magnitude": 0.4}), schedule };
        let (episode, twin) =
            subject.trial().with_twin(Seed(5), &anomaly_spec, &crate::catalogues::anomalies()).unwrap();
        [episode, twin]
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let frame_size = FrameSize { side: 48 };
        // A camera fault changes nothing but the images: the commands of both are the same.
        for episode in episodes(&subject, "cam-noise") {
            let fresh = replaying::video(&subject.trial(), &episode, frame_size).unwrap();
            let cache = VideoCache::default();
            for _ in 0..2 {
                assert_eq!(cache.video(&subject.trial(), &episode, frame_size).unwrap(), fresh);
            }
            let kept = cache.cached.lock().unwrap();
            assert_eq!(kept.as_ref().unwrap().videos.len(), 1);
        }
    }

    #[test]
    fn videos_that_differ_in_anything_are_kept_apart() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let [noisy, twin] = episodes(&subject, "cam-noise");
        let keys = [
            key(&noisy, FrameSize { side: 48 }),
            key(&twin, FrameSize { side: 48 }),
            key(&twin, FrameSize { side: 32 }),
            key(&Episode { onset: Some(4), ..noisy.clone() }, FrameSize { side: 48 }),
        ];
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), 4);
    }

    #[test]
    fn what_does_not_fit_is_made_anew() {
        let subject = Subject::new("sap-goal0", "tqc").unwrap();
        let [episode, twin] = episodes(&subject, "act-offset");
        let cache = VideoCache { cached: Mutex::new(Some(Cached { videos: HashMap::new(), room: 0 })) };
        let frame_size = FrameSize { side: 24 };
        let video = cache.video(&subject.trial(), &episode, frame_size).unwrap();
        assert_ne!(video, cache.video(&subject.trial(), &twin, frame_size).unwrap());
        assert_eq!(video, cache.video(&subject.trial(), &episode, frame_size).unwrap());
        assert!(cache.cached.lock().unwrap().as_ref().unwrap().videos.is_empty());
    }
}
