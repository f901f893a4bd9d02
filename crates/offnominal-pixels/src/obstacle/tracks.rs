//! Things followed over frames, and when the car reaches them.
//!
//! A detection is what is in the way or unusual on the path in a frame at some distance. It continues the track whose
//! prediction it lies next to, in rows of the image and in metres across, or begins one. The closing speed is the slope of
//! the distances of a track by least squares, so that a car which drives ahead as fast as ours is never reached; time to contact
//! is distance over closing speed (Lee, Perception 1976).
//!
//! A distance is read from a row of pixels: far ahead, a row more or less is metres. So a closing speed counts only if it is
//! surely large enough, and not if it is larger than that to a thing which lies still: then parts of several things were taken
//! for one.

use std::collections::VecDeque;

/// Frames from which a track's speed and evidence are taken.
const WINDOW: usize = 14;
/// Fewest detections of a track that counts.
const FEWEST: usize = 4;
/// Largest distance between the rows in which it is predicted and seen: so many, and a share of those below the horizon.
const NEAR: [f64; 2] = [1.2, 0.05];
/// Largest distance across between detections, m.
const BESIDE_M: f64 = 1.5;
/// Least standard deviation of the row in which a thing meets the road, pixels.
const ROW_ERROR: f64 = 0.6;
/// Frames in which it is in error together: the outline of a thing stays in its row until it jumps.
const TOGETHER: f64 = 3.0;
/// Standard errors by which a closing speed must exceed the slowest that counts.
const SURE: f64 = 2.5;
/// Largest difference of the logarithms of distances of parts of one thing.
const JOINED: f64 = 0.12;
/// Frames without a detection after which a track ends.
const LOST: usize = 4;

/// A thing of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// Distance ahead of the camera, m.
    pub ahead: f64,
    /// Middle, metres to the right of the path.
    pub beside: f64,
    /// How much of it lies on the path, 0 or more: excess of its pixels times their size in square metres.
    pub excess: f64,
}

impl Detection {
    /// Whether both can be parts of one thing.
    pub fn is_beside(&self, other: &Detection) -> bool {
        let apart = (self.ahead / other.ahead).ln().abs();
        apart < JOINED && (self.beside - other.beside).abs() < BESIDE_M
    }
}

/// Which things count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// Frames within which the car reaches them.
    pub within: f64,
    /// Metres that they come nearer in a frame, at least and at most.
    pub slowest_m: f64,
    pub fastest_m: f64,
    /// Distance from the front of the car at most, m.
    pub furthest_m: f64,
    /// From the camera to the front of the car, m.
    pub nose_m: f64,
    /// Metres that a row of pixels is worth at a distance of one metre; elsewhere times the square of the distance.
    pub row_m: f64,
}

/// How a thing moves.
struct Motion {
    /// Distance ahead of the camera, m.
    ahead: f64,
    /// Metres nearer per frame, and the standard error.
    closing: f64,
    error: f64,
}

/// A thing as it was seen in frames.
#[derive(Debug, Clone, Default)]
struct Track {
    /// The frame and what was seen, the latest last.
    seen: VecDeque<(usize, Detection)>,
}

/// All things that are followed.
#[derive(Debug, Clone)]
pub struct Tracks {
    criteria: Criteria,
    frame: usize,
    tracks: Vec<Track>,
}

impl Tracks {
    /// None yet.
    pub fn new(criteria: Criteria) -> Tracks {
        Tracks { criteria, frame: 0, tracks: Vec::new() }
    }

    /// Adds the things of the next frame, the most unusual first.
    pub fn add(&mut self, detections: &[Detection]) {
        self.frame += 1;
        let (frame, row_m) = (self.frame, self.criteria.row_m);
        let mut is_free = vec![true; self.tracks.len()];
        for detection in detections {
            let free = (0..is_free.len()).filter(|&i| is_free[i]);
            let nearest = free
                .filter_map(|i| Some((i, self.tracks[i].distance(frame, detection, row_m)?)))
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
    pub fn evidence(&self) -> f64 {
        let near = self.tracks.iter().filter(|track| track.counts(self.frame, &self.criteria));
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

    /// Where it is in a frame and how it moves, where a row is worth so much. A distance is as uncertain as its square is
    /// large, so a detection weighs one over its fourth power.
    fn motion(&self, frame: usize, row_m: f64) -> Motion {
        let weight = |s: &Detection| s.ahead.max(1.0).powi(-4);
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
        let off = |(frame, s): &(usize, Detection)| s.ahead - z - slope * (*frame as f64 - t);
        let squares: f64 = self.seen.iter().map(|s| weight(&s.1) * off(s).powi(2)).sum();
        let deviation = (squares / self.seen.len().saturating_sub(2).max(1) as f64).sqrt();
        let error = deviation.max(ROW_ERROR * row_m) * (TOGETHER / square).sqrt();
        Motion { ahead: z + slope * (frame as f64 - t), closing: -slope, error }
    }

    /// How far a thing lies from where the track should be, if it can be the same.
    fn distance(&self, frame: usize, detection: &Detection, row_m: f64) -> Option<f64> {
        let row = |ahead: f64| 1.0 / (row_m * ahead.max(0.5));
        let seen = row(detection.ahead);
        let apart = (seen - row(self.motion(frame, row_m).ahead)).abs() / (NEAR[0] + NEAR[1] * seen);
        let across = (detection.beside - self.latest().1.beside).abs() / BESIDE_M;
        (apart < 1.0 && across < 1.0).then_some(apart + across)
    }

    /// Whether it was seen often enough, is near, and will be reached soon.
    fn counts(&self, frame: usize, criteria: &Criteria) -> bool {
        let Motion { ahead, closing, error } = self.motion(frame, criteria.row_m);
        let left = ahead - criteria.nose_m;
        self.seen.len() >= FEWEST
            && left <= criteria.furthest_m
            && closing <= criteria.fastest_m
            && closing - SURE * error >= criteria.slowest_m
            && left <= criteria.within * closing
    }

    fn evidence(&self) -> f64 {
        self.seen.iter().map(|(_, s)| s.excess.ln_1p()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A camera with a focal length of 128 pixels, 1.5 m above the road.
    const ROW_M: f64 = 1.0 / 192.0;

    fn within(within: f64) -> Criteria {
        Criteria { within, slowest_m: 0.25, fastest_m: 1.1, furthest_m: 100.0, nose_m: 0.0, row_m: ROW_M }
    }

    fn detection(ahead: f64, beside: f64) -> Detection {
        Detection { ahead, beside, excess: std::f64::consts::E - 1.0 }
    }

    /// The tracks after frames in which these things were seen.
    fn after(criteria: Criteria, frames: impl IntoIterator<Item = Vec<Detection>>) -> Tracks {
        let mut tracks = Tracks::new(criteria);
        frames.into_iter().for_each(|things| tracks.add(&things));
        tracks
    }

    #[test]
    fn what_comes_nearer_counts_and_what_drives_ahead_does_not() {
        let found = |criteria: Criteria| {
            let frames = (0..10).map(|f| vec![detection(21.0 - f64::from(f), 0.0), detection(26.0, 0.2)]);
            let tracks = after(criteria, frames);
            assert_eq!(tracks.tracks.len(), 2);
            tracks.evidence().round()
        };
        // 12 m at 1 m per frame; the other keeps its distance.
        assert_eq!((found(within(11.5)), found(within(12.5))), (0.0, 10.0));
        assert_eq!(found(Criteria { slowest_m: 1.1, ..within(60.0) }), 0.0);
        assert_eq!(found(Criteria { fastest_m: 0.9, ..within(60.0) }), 0.0);
        assert_eq!(found(Criteria { furthest_m: 11.0, ..within(60.0) }), 0.0);
    }

    #[test]
    fn what_jumps_between_rows_far_ahead_does_not_come_nearer() {
        // A car that keeps its distance of 27 m is seen in the seventh row, and sometimes in the sixth or the eighth.
        let rows = [6.0, 6.0, 6.0, 7.0, 7.0, 7.0, 7.0, 8.0, 8.0];
        let jumping =
            |n: usize| after(within(40.0), rows[..n].iter().map(|row| vec![detection(192.0 / row, 0.0)]));
        (1..=rows.len()).for_each(|n| assert_eq!(jumping(n).evidence(), 0.0, "{n}"));
        // A crate that the car comes nearer to by 0.7 m a frame counts twenty frames before contact.
        let seen = |frame: i32| 192.0 / (192.0 / (28.0 - 0.7 * f64::from(frame))).round();
        assert!(after(within(40.0), (0..20).map(|f| vec![detection(seen(f), 0.0)])).evidence() > 10.0);
    }

    #[test]
    fn a_track_bridges_frames_in_which_nothing_is_seen_and_then_ends() {
        let seen = |frame: i32| vec![detection(20.0 - f64::from(frame), 1.0)];
        let frames = (0..8).map(|frame| if [5, 6].contains(&frame) { vec![] } else { seen(frame) });
        let mut tracks = after(within(60.0), frames);
        assert_eq!((tracks.tracks.len(), tracks.evidence().round()), (1, 6.0));
        (0..4).for_each(|_| tracks.add(&[]));
        assert_eq!((tracks.tracks.len(), tracks.evidence()), (0, 0.0));
    }

    #[test]
    fn things_side_by_side_are_followed_apart() {
        let frames = (0..20).map(|f| {
            let ahead = 30.0 - f64::from(f);
            vec![detection(ahead, -1.0), detection(ahead - 1.0, 1.0)]
        });
        let tracks = after(within(60.0), frames);
        assert_eq!(tracks.tracks.len(), 2);
        // Older detections than the window are forgotten.
        assert_eq!(tracks.evidence().round(), WINDOW as f64);
    }
}
