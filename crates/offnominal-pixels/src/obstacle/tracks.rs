//! Things followed over frames, and when the car reaches them.
//!
//! A detection is what is unusual on the path in a frame at some distance. It continues the track whose prediction it lies next
//! to, in the ratio of distances and in metres across, or begins one. The closing speed is the slope of the distances of a
//! track by least squares, so that a car which drives ahead as fast as ours is never reached; time to contact is distance over
//! closing speed (Lee, Perception 1976).

use std::collections::VecDeque;

/// Frames from which a track's speed and evidence are taken.
const WINDOW: usize = 12;
/// Fewest detections of a track that counts.
const FEWEST: usize = 4;
/// Largest difference of the logarithms of predicted and seen distance.
const NEAR: f64 = 0.3;
/// Largest distance across between detections, m.
const BESIDE_M: f64 = 1.5;
/// Added to a distance from the front of a car, so that it is about one from its camera, m.
const CAMERA_M: f64 = 2.0;
/// Largest difference of the logarithms of distances of parts of one thing.
const JOINED: f64 = 0.12;
/// Frames without a detection after which a track ends.
const LOST: usize = 4;

/// A thing of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// Distance ahead of the car, m.
    pub ahead: f64,
    /// Middle, metres to the right of the path.
    pub beside: f64,
    /// How unusual it is as far as it lies on the path, 0 or more: excess of its pixels times their size in square metres.
    pub excess: f64,
}

impl Detection {
    /// Whether both can be parts of one thing.
    pub fn is_beside(&self, other: &Detection) -> bool {
        let apart = ((self.ahead + CAMERA_M) / (other.ahead + CAMERA_M)).ln().abs();
        apart < JOINED && (self.beside - other.beside).abs() < BESIDE_M
    }
}

/// Which things count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// Frames within which the car reaches them.
    pub within: f64,
    /// Metres that they come nearer in a frame, at least.
    pub slowest_m: f64,
    /// Distance from the front of the car at most, m.
    pub furthest_m: f64,
}

/// A thing as it was seen in frames.
#[derive(Debug, Clone, Default)]
struct Track {
    /// The frame and what was seen, the latest last.
    seen: VecDeque<(usize, Detection)>,
}

/// All things that are followed.
#[derive(Debug, Clone, Default)]
pub struct Tracks {
    frame: usize,
    tracks: Vec<Track>,
}

impl Tracks {
    /// Adds the things of the next frame, the most unusual first.
    pub fn add(&mut self, detections: &[Detection]) {
        self.frame += 1;
        let frame = self.frame;
        let mut is_free = vec![true; self.tracks.len()];
        for detection in detections {
            let free = (0..is_free.len()).filter(|&i| is_free[i]);
            let nearest = free
                .filter_map(|i| Some((i, self.tracks[i].distance(frame, detection)?)))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            match nearest {
                Some((i, _)) => {
                    is_free[i] = false;
                    self.tracks[i].push(frame, *detection);
                }
                None => self.tracks.push(Track { seen: [(frame, *detection)].into() }),
            }
        }
        self.tracks.retain(|track| frame - track.latest().0 < LOST);
    }

    /// The most evidence Σ ln(1 + excess) of a thing that counts; 0 if there is none.
    pub fn evidence(&self, counts: &Criteria) -> f64 {
        let near = self.tracks.iter().filter(|track| track.counts(self.frame, counts));
        near.map(Track::evidence).fold(0.0, f64::max)
    }
}

impl Track {
    fn latest(&self) -> (usize, Detection) {
        *self.seen.back().expect("a track has a detection")
    }

    fn push(&mut self, frame: usize, detection: Detection) {
        self.seen.push_back((frame, detection));
        while self.seen.front().is_some_and(|(first, _)| first + WINDOW <= frame) {
            self.seen.pop_front();
        }
    }

    /// Distance ahead in a frame, and metres nearer per frame. A distance is as uncertain as its square is large, for it is
    /// read from a row of pixels, so a detection weighs one over its fourth power.
    fn motion(&self, frame: usize) -> (f64, f64) {
        let weight = |s: &Detection| (s.ahead + CAMERA_M).max(1.0).powi(-4);
        let total: f64 = self.seen.iter().map(|(_, s)| weight(s)).sum();
        let mean = |of: fn(&(usize, Detection)) -> f64| {
            self.seen.iter().map(|s| weight(&s.1) * of(s)).sum::<f64>() / total
        };
        let (t, z) = (mean(|s| s.0 as f64), mean(|s| s.1.ahead));
        let (mut square, mut cross) = (0.0, 0.0);
        for (frame, s) in &self.seen {
            let (t, z, w) = (*frame as f64 - t, s.ahead - z, weight(s));
            (square, cross) = (square + w * t * t, cross + w * t * z);
        }
        let slope = if square > 0.0 { cross / square } else { 0.0 };
        (z + slope * (frame as f64 - t), -slope)
    }

    /// How far a thing lies from where the track should be, if it can be the same.
    fn distance(&self, frame: usize, detection: &Detection) -> Option<f64> {
        let (ahead, _) = self.motion(frame);
        let apart = (detection.ahead.max(0.5) / ahead.max(0.5)).ln().abs() / NEAR;
        let across = (detection.beside - self.latest().1.beside).abs() / BESIDE_M;
        (apart < 1.0 && across < 1.0).then_some(apart + across)
    }

    /// Whether it was seen often enough, is near, and will be reached soon.
    fn counts(&self, frame: usize, criteria: &Criteria) -> bool {
        let (ahead, closing) = self.motion(frame);
        self.seen.len() >= FEWEST
            && ahead <= criteria.furthest_m
            && closing >= criteria.slowest_m
            && ahead <= criteria.within * closing
    }

    fn evidence(&self) -> f64 {
        self.seen.iter().map(|(_, s)| s.excess.ln_1p()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(within: f64) -> Criteria {
        Criteria { within, slowest_m: 0.1, furthest_m: 100.0 }
    }

    fn detection(ahead: f64, beside: f64) -> Detection {
        Detection { ahead, beside, excess: std::f64::consts::E - 1.0 }
    }

    #[test]
    fn what_comes_nearer_counts_and_what_drives_ahead_does_not() {
        let mut tracks = Tracks::default();
        for frame in 0..10 {
            tracks.add(&[detection(30.0 - f64::from(frame), 0.0), detection(15.0, 0.2)]);
        }
        // 21 m at 1 m per frame; the other keeps its distance.
        assert_eq!(tracks.tracks.len(), 2);
        let found = |criteria: &Criteria| tracks.evidence(criteria).round();
        assert_eq!((found(&within(20.5)), found(&within(21.5))), (0.0, 10.0));
        assert_eq!(found(&Criteria { slowest_m: 1.1, ..within(60.0) }), 0.0);
        assert_eq!(found(&Criteria { furthest_m: 20.0, ..within(60.0) }), 0.0);
    }

    #[test]
    fn a_track_bridges_frames_in_which_nothing_is_seen_and_then_ends() {
        let mut tracks = Tracks::default();
        let seen = |frame: usize| detection(40.0 - frame as f64, 1.0);
        (0..5).for_each(|frame| tracks.add(&[seen(frame)]));
        (5..7).for_each(|_| tracks.add(&[]));
        tracks.add(&[seen(7)]);
        assert_eq!((tracks.tracks.len(), tracks.evidence(&within(60.0)).round()), (1, 6.0));
        (0..4).for_each(|_| tracks.add(&[]));
        assert_eq!((tracks.tracks.len(), tracks.evidence(&within(60.0))), (0, 0.0));
    }

    #[test]
    fn things_side_by_side_are_followed_apart() {
        let mut tracks = Tracks::default();
        (0..20).for_each(|f| {
            tracks.add(&[detection(40.0 - f64::from(f), -1.0), detection(39.0 - f64::from(f), 1.0)])
        });
        assert_eq!(tracks.tracks.len(), 2);
        // Older detections than the window are forgotten.
        assert_eq!(tracks.evidence(&within(60.0)).round(), WINDOW as f64);
    }
}
