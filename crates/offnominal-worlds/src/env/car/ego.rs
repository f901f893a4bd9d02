//! The car on its road: where it is, how it moves, and what its driver has commanded so far.

use super::course::{Course, lane_centre};
use super::start::Start;
use super::traffic::{self, Ahead, Traffic};
use super::vehicle::{Condition, Motion, Pedals, SIZE_M, Wheels};

/// How much a full action changes a command in a step.
pub const INCREMENT: f64 = 0.1;
/// Duration of an integration step, s.
const TICK_SECS: f64 = 0.005;
/// Integration steps per step of the world.
const TICKS: usize = 10;
/// Duration of a step of the world, s.
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
    /// The commands as they have accumulated.
    pub pedals: Pedals,
    /// Size of the acceleration over the ground, m/s².
    pub acceleration: f64,
}

impl Ego {
    /// The car as an episode begins: rolling along its lane, commands at zero.
    pub fn at(start: &Start, course: &Course) -> Ego {
        let yaw_rate = start.speed * course.curvature(start.position);
        Ego {
            lane: start.lane,
            position: start.position,
            lateral: lane_centre(start.lane) + start.offset,
            heading: start.heading,
            motion: Motion { forward: start.speed, leftward: 0.0, yaw_rate },
            ..Ego::default()
        }
    }

    /// Adds an action to the commands; both stay in [−1, 1].
    pub fn command(&mut self, throttle: f64, steering: f64) {
        let add =
            |command: f64, action: f64| (command + INCREMENT * action.clamp(-1.0, 1.0)).clamp(-1.0, 1.0);
        self.pedals.throttle = add(self.pedals.throttle, throttle);
        self.pedals.steering = add(self.pedals.steering, steering);
    }

    /// Drives on for a step.
    pub fn advance(&mut self, course: &Course, condition: &Condition) {
        let wheels = Wheels::new(self.pedals, condition);
        for _ in 0..TICKS {
            self.roll(course);
            let [ahead, sideways] = self.motion.advance(&wheels, TICK_SECS);
            self.acceleration = ahead.hypot(sideways);
        }
    }

    /// Moves along and across the road.
    fn roll(&mut self, course: &Course) {
        let curvature = course.curvature(self.position);
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
    pub fn collides(&self, traffic: &Traffic, course: &Course) -> bool {
        traffic.lanes.iter().enumerate().any(|(i, lane)| {
            let across = lane_centre(i) - self.lateral;
            // The first test spares the others most of the work.
            across.abs() < SIZE_M[0]
                && lane.positions.iter().any(|s| self.touches(course.ahead(self.position, *s), across))
        })
    }

    /// Whether its outline overlaps that of a vehicle so many metres further and to the left.
    ///
    /// Two rectangles are apart exactly if they are apart along a side of one of them.
    fn touches(&self, along: f64, across: f64) -> bool {
        let (sin, cos) = self.heading.sin_cos();
        let [a, b] = SIZE_M.map(|m| 0.5 * m);
        let [c, d] = traffic::SIZE_M.map(|m| 0.5 * m);
        let (s, t) = (sin.abs(), cos.abs());
        along.abs() < a * t + b * s + c
            && across.abs() < a * s + b * t + d
            && (along * cos + across * sin).abs() < a + c * t + d * s
            && (across * cos - along * sin).abs() < b + c * s + d * t
    }
}
