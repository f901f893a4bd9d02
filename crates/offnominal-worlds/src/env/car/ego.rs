//! The car on its road: where it is, how it moves, and what its driver has done so far.

use super::debris::Debris;
use super::start::Start;
use super::track::{Track, lane_centre};
use super::traffic::{self, Ahead, Traffic};
use super::vehicle::{Condition, Motion, Pedals, SIZE_M, Wheels};

/// How much a full action changes an action in a step.
pub const INCREMENT: f64 = 0.1;
/// Duration of an integration step, s.
const TICK_SECS: f64 = 0.005;
/// Integration steps per step of the environment.
const TICKS: usize = 10;
/// Duration of a step of the environment, s.
pub const DT_SECS: f64 = TICK_SECS * TICKS as f64;

/// The car.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ego {
    /// The lane it has to keep.
    pub lane: usize,
    /// Position along the centre line, m; not wrapped.
    pub position: f64,
    /// Leftward distance from the centre line, m.
    pub lateral: f64,
    /// Direction relative to the road, rad, positive to the left.
    pub heading: f64,
    /// Velocity and yaw rate.
    pub motion: Motion,
    /// The actions as they have accumulated.
    pub pedals: Pedals,
    /// Size of the acceleration over the ground, m/s².
    pub acceleration: f64,
}

impl Ego {
    /// The car as an episode begins: rolling along its lane, actions at zero.
    pub fn at(start: &Start, track: &Track) -> Ego {
        let yaw_rate = start.speed * track.curvature(start.position);
        Ego {
            lane: start.lane,
            position: start.position,
            lateral: lane_centre(start.lane) + start.offset,
            heading: start.heading,
            motion: Motion { forward: start.speed, leftward: 0.0, yaw_rate },
            ..Ego::default()
        }
    }

    /// Adds an action to the actions; both stay in [−1, 1].
    pub fn act(&mut self, throttle: f64, steering: f64) {
        let add = |pedal: f64, action: f64| (pedal + INCREMENT * action.clamp(-1.0, 1.0)).clamp(-1.0, 1.0);
        self.pedals.throttle = add(self.pedals.throttle, throttle);
        self.pedals.steering = add(self.pedals.steering, steering);
    }

    /// Drives on for a step.
    pub fn advance(&mut self, track: &Track, condition: &Condition) {
        let wheels = Wheels::new(self.pedals, condition);
        for _ in 0..TICKS {
            self.roll(track);
            let [ahead, sideways] = self.motion.advance(&wheels, TICK_SECS);
            self.acceleration = ahead.hypot(sideways);
        }
    }

    /// Moves along and across the road.
    fn roll(&mut self, track: &Track) {
        let curvature = track.curvature(self.position);
        let (sin, cos) = self.heading.sin_cos();
        let Motion { forward, leftward, yaw_rate } = self.motion;
        let along = (forward * cos - leftward * sin) / (1.0 - curvature * self.lateral);
        self.position += along * TICK_SECS;
        self.lateral += (forward * sin + leftward * cos) * TICK_SECS;
        self.heading += (yaw_rate - curvature * along) * TICK_SECS;
    }

    /// Leftward distance from the centre of the lane, m.
    pub fn offset(&self) -> f64 {
        self.lateral - lane_centre(self.lane)
    }

    /// The car as other drivers see it.
    pub fn seen(&self) -> Ahead {
        Ahead { position: self.position, speed: self.motion.speed(), length: SIZE_M[0] }
    }

    /// Whether it touches another vehicle.
    pub fn collides(&self, traffic: &Traffic, track: &Track) -> bool {
        traffic.lanes.iter().enumerate().any(|(i, lane)| {
            let across = lane_centre(i) - self.lateral;
            // The first test spares the others most of the work.
            across.abs() < SIZE_M[0]
                && lane.positions.iter().any(|s| self.touches(track.ahead(self.position, *s), across))
        })
    }

    /// Whether it touches debris that lies so densely.
    pub fn hits(&self, debris: &Debris, density: f64, track: &Track) -> bool {
        let near = SIZE_M[0] + super::debris::EVERY_M;
        debris.between(self.position - near, self.position + near, density).any(|piece| {
            let along = track.ahead(self.position, piece.position);
            self.overlaps(along, piece.across - self.lateral, piece.size)
        })
    }

    /// Whether its outline overlaps that of a vehicle so many metres further and to the left.
    fn touches(&self, along: f64, across: f64) -> bool {
        self.overlaps(along, across, traffic::SIZE_M)
    }

    /// Whether its outline overlaps that of something of such a length and width along the road.
    ///
    /// Two rectangles are apart exactly if they are apart along a side of one of them.
    fn overlaps(&self, along: f64, across: f64, size: [f64; 2]) -> bool {
        let (sin, cos) = self.heading.sin_cos();
        let [a, b] = SIZE_M.map(|m| 0.5 * m);
        let [c, d] = size.map(|m| 0.5 * m);
        let (s, t) = (sin.abs(), cos.abs());
        along.abs() < a * t + b * s + c
            && across.abs() < a * s + b * t + d
            && (along * cos + across * sin).abs() < a + c * t + d * s
            && (across * cos - along * sin).abs() < b + c * s + d * t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn car(position: f64, heading: f64, forward: f64) -> Ego {
        let motion = Motion { forward, ..Motion::default() };
        Ego { position, heading, motion, lane: 1, lateral: lane_centre(1), ..Ego::default() }
    }

    #[test]
    fn a_car_that_goes_straight_draws_a_straight_line_through_every_bend() {
        let track = Track::new(1);
        for start in 0..12 {
            let mut ego = car(250.0 * f64::from(start), 0.1, 14.0);
            let place = |ego: &Ego| track.pose(ego.position, ego.lateral);
            let (from, direction) = (place(&ego), place(&ego).heading + ego.heading);
            (0..600).for_each(|_| ego.roll(&track));
            let to = place(&ego);
            // 3 s at 14 m/s; the table of the track is good to centimetres.
            let (sin, cos) = direction.sin_cos();
            let (dx, dy) = (to.x - from.x, to.y - from.y);
            let (along, across) = (dx * cos + dy * sin, dy * cos - dx * sin);
            assert!((along - 42.0).abs() < 0.1 && across.abs() < 0.1, "{along} m on, {across} m aside");
            assert!((to.heading + ego.heading - direction).sin().abs() < 2e-3);
        }
    }

    #[test]
    fn straight_on_leaves_a_bend_on_its_outside_by_half_the_curvature_times_the_square_of_the_way() {
        let track = Track::new(1);
        let sharpest = |s: &f64, t: &f64| track.curvature(*s).total_cmp(&track.curvature(*t));
        let bend = (0..2000).map(f64::from).max_by(sharpest).unwrap();
        let mut ego = car(bend, 0.0, 10.0);
        (0..200).for_each(|_| ego.roll(&track));
        let want = -0.5 * track.curvature(bend) * 10.0 * 10.0;
        assert!((ego.offset() / want - 1.0).abs() < 0.1, "expected {want}, found {}", ego.offset());
    }

    #[test]
    fn rectangles_touch_exactly_if_no_side_separates_them() {
        let upright = car(0.0, 0.0, 0.0);
        // Half lengths 2.7 and 2.3, half widths 1 and 0.95.
        assert!(upright.touches(4.9, 0.0) && !upright.touches(5.1, 0.0));
        assert!(upright.touches(-4.9, 1.9) && !upright.touches(0.0, 2.0));
        let turned = car(0.0, 0.5, 0.0);
        assert!(turned.touches(4.5, 2.0) && !turned.touches(4.5, -2.0));
        assert!(turned.touches(-4.5, -2.0) && !turned.touches(0.0, 3.5));
        // Their bounding boxes overlap here, and yet a side of the turned one separates them.
        assert!(!turned.touches(-4.0, 2.0));
    }

    #[test]
    fn only_a_vehicle_that_is_there_is_hit() {
        let (track, mut traffic, mut ego) = (Track::new(1), Traffic::default(), car(500.0, 0.0, 14.0));
        traffic.lanes[0].positions = vec![500.0];
        assert!(!ego.collides(&traffic, &track), "side by side");
        (ego.heading, ego.lateral) = (-0.7, ego.lateral - 1.0);
        assert!(ego.collides(&traffic, &track), "turning into the next lane");
        traffic.lanes[0].positions[0] += track.length_m;
        assert!(ego.collides(&traffic, &track), "positions are counted modulo a lap");
    }
}
