//! The initial condition of an episode.

use super::idm::DESIRED_MPS;
use super::track::{LANES, Track};
use offnominal_core::Rng;

/// Names of the entries, in order.
pub const NAMES: [&str; 7] = ["position", "lane", "offset", "heading", "speed", "gap", "speed_ahead"];

/// Range of the offset from the centre of the lane, m.
const OFFSET_M: f64 = 0.3;
/// Range of the heading relative to the road, rad.
const HEADING_RAD: f64 = 0.03;
/// Range of the car's speed, m/s (40 to 60 km/h).
const SPEED_MPS: (f64, f64) = (40.0 / 3.6, 60.0 / 3.6);
/// Range of the gap to the vehicle ahead, m.
const GAP_M: (f64, f64) = (25.0, 125.0);
/// Gaps are brought into this range, so that the vehicle ahead is ahead and leaves room for the others.
const POSSIBLE_GAP_M: (f64, f64) = (0.1, 400.0);

/// How an episode begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Position along the centre line, m.
    pub position: f64,
    /// Lane, from the right.
    pub lane: usize,
    /// Leftward distance from the centre of the lane, m.
    pub offset: f64,
    /// Direction relative to the road, rad, positive to the left.
    pub heading: f64,
    /// Forward speed, m/s.
    pub speed: f64,
    /// Gap to the vehicle ahead, m.
    pub gap: f64,
    /// Speed that the driver ahead wants, m/s.
    pub speed_ahead: f64,
}

impl Start {
    /// Reads an initial condition.
    ///
    /// # Panics
    /// If there is not one number per name.
    pub fn read(x: &[f64]) -> Start {
        let &[position, lane, offset, heading, speed, gap, speed_ahead] = x else {
            panic!("expected {} numbers, found {}", NAMES.len(), x.len())
        };
        let gap = gap.clamp(POSSIBLE_GAP_M.0, POSSIBLE_GAP_M.1);
        // The cast saturates, so that every number names a lane.
        let lane = (lane as usize).min(LANES - 1);
        Start {
            position,
            lane,
            offset,
            heading,
            speed: speed.max(0.0),
            gap,
            speed_ahead: speed_ahead.max(0.1),
        }
    }

    /// An initial condition at random.
    pub fn draw(track: &Track, rng: &mut Rng) -> Vec<f64> {
        vec![
            rng.range(0.0, track.length_m),
            rng.below(LANES) as f64,
            rng.range(-OFFSET_M, OFFSET_M),
            rng.range(-HEADING_RAD, HEADING_RAD),
            rng.range(SPEED_MPS.0, SPEED_MPS.1),
            rng.range(GAP_M.0, GAP_M.1),
            rng.range(DESIRED_MPS.0, DESIRED_MPS.1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_cover_the_track_and_the_lanes_and_read_back() {
        let (track, mut rng) = (Track::new(1), Rng::new(1));
        let starts: Vec<Start> = (0..400).map(|_| Start::read(&Start::draw(&track, &mut rng))).collect();
        assert!((0..LANES).all(|lane| starts.iter().filter(|s| s.lane == lane).count() > 60));
        assert!(starts.iter().all(|s| (0.0..track.length_m).contains(&s.position)));
        assert!(starts.iter().all(|s| s.offset.abs() <= OFFSET_M && s.heading.abs() <= HEADING_RAD));
        assert!(starts.iter().all(|s| (GAP_M.0..GAP_M.1).contains(&s.gap)));
        assert!(starts.iter().any(|s| s.position > 0.9 * track.length_m));
    }

    #[test]
    fn impossible_numbers_are_brought_into_range() {
        let start = Start::read(&[1.0, 7.9, 0.0, 0.0, -3.0, -5.0, 0.0]);
        assert_eq!((start.lane, start.speed, start.gap, start.speed_ahead), (3, 0.0, 0.1, 0.1));
        let start = Start::read(&[1.0, -2.0, 0.0, 0.0, 3.0, 1e9, 5.0]);
        assert_eq!((start.lane, start.gap), (0, 400.0));
    }
}
