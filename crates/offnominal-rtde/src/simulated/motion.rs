//! What a controller makes of commands to move: a reference for each tick.
//!
//! * Movements (`movej`, `movel`) run along a path with a trapezoidal profile of speed.
//! * Servoing (`servoj`): the rate is the gain times the distance to the target from where the arm will be after the
//!   look-ahead time, q̇ = g (target − q − T q̇), hence q̇ = (target − q) / (1/g + T): a lag of 1/g + T.
//! * Speeds (`speedj`, `speedl`) are approached with the given acceleration, and kept for the given time.

use super::arm::TICK_SECS;
use crate::ur3e::{Joints, Pose, forward, inverse};
use std::f64::consts::{PI, TAU};

/// Fastest rates of the joints of a UR3e, in rad/s: the first three, and the wrist.
const FASTEST: Joints = [PI, PI, PI, TAU, TAU, TAU];

/// Largest acceleration that a servo commands, in rad/s².
const SERVO_ACCELERATION: f64 = 40.0;

/// What the reference does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motion {
    /// It slows down with that acceleration (rad/s²) and then rests.
    Stop(f64),
    /// It runs along a path.
    Path {
        /// From where to where.
        path: Path,
        /// How fast.
        profile: Trapezoid,
        /// Seconds since the start.
        elapsed_secs: f64,
    },
    /// It follows a posture.
    Servo {
        /// The posture.
        target: Joints,
        /// Look-ahead time, in s.
        lookahead_secs: f64,
        /// Gain, in 1/s.
        gain: f64,
    },
    /// The joints turn.
    Turn {
        /// Rates, in rad/s.
        rates: Joints,
        /// How they are approached, in rad/s².
        acceleration: f64,
    },
    /// The flange moves.
    Slide {
        /// Velocity in m/s and rotation in rad/s, in the base.
        twist: [f64; 6],
        /// How it is approached, in m/s².
        acceleration: f64,
        /// What is reached of it.
        reached: [f64; 6],
    },
}

/// A way from one place to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Path {
    /// All joints turn in proportion.
    Joints(Joints, Joints),
    /// The flange moves on a straight line.
    Line(Pose, Pose),
}

/// A profile of speed: up, level, down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trapezoid {
    /// Length of the way, in rad or m.
    pub length: f64,
    /// Highest speed, per second.
    pub speed: f64,
    /// Acceleration, per second squared.
    pub acceleration: f64,
}

impl Trapezoid {
    /// The profile of a way; absurd speeds and accelerations are brought into range.
    pub fn new(length: f64, speed: f64, acceleration: f64) -> Trapezoid {
        let acceleration = acceleration.abs().clamp(0.01, 80.0);
        // A short way has no level part.
        let speed = speed.abs().clamp(0.001, TAU).min((length * acceleration).sqrt().max(1e-9));
        Trapezoid { length, speed, acceleration }
    }

    /// Seconds from start to end.
    pub fn duration_secs(&self) -> f64 {
        self.length / self.speed + self.speed / self.acceleration
    }

    /// The part of the way that lies behind at a time, 0 to 1.
    pub fn part(&self, at_secs: f64) -> f64 {
        if self.length <= 1e-12 || at_secs >= self.duration_secs() {
            return 1.0;
        }
        let ramp = self.speed / self.acceleration;
        let rest = self.duration_secs() - at_secs;
        let way = if at_secs < ramp {
            0.5 * self.acceleration * at_secs * at_secs
        } else if rest < ramp {
            self.length - 0.5 * self.acceleration * rest * rest
        } else {
            self.speed * (at_secs - 0.5 * ramp)
        };
        way / self.length
    }
}

/// The reference that the arm follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// Angles, in rad.
    pub q: Joints,
    /// Rates, in rad/s.
    pub qd: Joints,
    motion: Motion,
}

/// The reference would have to jump, or the place is out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfReach;

impl Reference {
    /// At rest.
    pub fn resting(q: Joints) -> Reference {
        Reference { q, qd: [0.0; 6], motion: Motion::Stop(1.0) }
    }

    /// Begins another motion.
    pub fn set(&mut self, motion: Motion) {
        self.motion = match (motion, self.motion) {
            // A new velocity is approached from the present one.
            (Motion::Slide { twist, acceleration, .. }, Motion::Slide { reached, .. }) => {
                Motion::Slide { twist, acceleration, reached }
            }
            (motion, _) => motion,
        };
    }

    /// Runs along a path from here.
    pub fn run(&mut self, path: Path, speed: f64, acceleration: f64) {
        let profile = Trapezoid::new(path.length(), speed, acceleration);
        self.set(Motion::Path { path, profile, elapsed_secs: 0.0 });
    }

    /// Whether a path is run to its end, or a stop has come to rest.
    pub fn is_settled(&self) -> bool {
        match self.motion {
            Motion::Path { .. } => false,
            _ => self.qd.iter().all(|v| v.abs() < 1e-9),
        }
    }

    /// One tick.
    ///
    /// # Errors
    /// If there is no posture for the next place; the reference is then unchanged.
    pub fn advance(&mut self) -> Result<(), OutOfReach> {
        let q = self.next()?;
        if !q.iter().all(|a| a.abs() <= TAU) {
            return Err(OutOfReach);
        }
        self.qd = std::array::from_fn(|i| (q[i] - self.q[i]) / TICK_SECS);
        self.q = q;
        Ok(())
    }

    fn next(&mut self) -> Result<Joints, OutOfReach> {
        match &mut self.motion {
            Motion::Stop(acceleration) => Ok(turned(&self.q, &self.qd, &[0.0; 6], *acceleration)),
            Motion::Turn { rates, acceleration } => Ok(turned(&self.q, &self.qd, rates, *acceleration)),
            Motion::Servo { target, lookahead_secs, gain } => {
                let lag_secs = 1.0 / *gain + *lookahead_secs;
                let rates = std::array::from_fn(|i| (target[i] - self.q[i]) / lag_secs);
                Ok(turned(&self.q, &self.qd, &rates, SERVO_ACCELERATION))
            }
            Motion::Slide { twist, acceleration, reached } => {
                *reached = approached(reached, twist, *acceleration * TICK_SECS);
                slid(&self.q, reached)
            }
            Motion::Path { path, profile, elapsed_secs } => {
                *elapsed_secs += TICK_SECS;
                let q = path.at(profile.part(*elapsed_secs), &self.q)?;
                if *elapsed_secs >= profile.duration_secs() {
                    self.motion = Motion::Stop(80.0);
                }
                Ok(q)
            }
        }
    }
}

/// Where the joints are after a tick in which they approach the given rates.
fn turned(q: &Joints, qd: &Joints, rates: &Joints, acceleration: f64) -> Joints {
    let next = approached(qd, rates, acceleration * TICK_SECS);
    std::array::from_fn(|i| q[i] + TICK_SECS * next[i].clamp(-FASTEST[i], FASTEST[i]))
}

/// Each number moved towards its goal by at most `most`.
fn approached(from: &[f64; 6], to: &[f64; 6], most: f64) -> [f64; 6] {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]).clamp(-most, most))
}

/// Where the joints are after the flange moved for a tick.
fn slid(q: &Joints, twist: &[f64; 6]) -> Result<Joints, OutOfReach> {
    let [x, y, z, rest @ ..] = twist.map(|v| v * TICK_SECS);
    let at = forward(q);
    let turn = Pose::from_rotation_vector([0.0; 3], rest);
    let [px, py, pz] = at.position_m;
    let next = Pose { position_m: [px + x, py + y, pz + z], rotation: turn.then(&at).rotation };
    near(&next, q)
}

/// The posture for a pose, if it lies near.
fn near(pose: &Pose, q: &Joints) -> Result<Joints, OutOfReach> {
    let found = inverse(pose, q).ok_or(OutOfReach)?;
    let is_near = found.iter().zip(q).all(|(a, b)| (a - b).abs() < 0.2);
    if is_near { Ok(found) } else { Err(OutOfReach) }
}

impl Path {
    /// Length, in rad of the joint that turns most, or in m.
    pub fn length(&self) -> f64 {
        match self {
            Path::Joints(a, b) => a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
            Path::Line(a, b) => {
                let way: f64 = a.position_m.iter().zip(b.position_m).map(|(a, b)| (a - b).powi(2)).sum();
                let turn: f64 = a.inverse().then(b).rotation_vector().iter().map(|r| r * r).sum();
                // A turn on the spot counts by the way of a point a tenth of a metre away.
                way.sqrt().max(0.1 * turn.sqrt())
            }
        }
    }

    fn at(&self, part: f64, near_q: &Joints) -> Result<Joints, OutOfReach> {
        match self {
            Path::Joints(a, b) => Ok(std::array::from_fn(|i| a[i] + part * (b[i] - a[i]))),
            Path::Line(a, b) => near(&between(a, b, part), near_q),
        }
    }
}

fn between(a: &Pose, b: &Pose, part: f64) -> Pose {
    let turn = a.inverse().then(b).rotation_vector().map(|r| part * r);
    let turned = Pose { position_m: [0.0; 3], ..*a }.then(&Pose::from_rotation_vector([0.0; 3], turn));
    let way = |i: usize| a.position_m[i] + part * (b.position_m[i] - a.position_m[i]);
    Pose { position_m: std::array::from_fn(way), rotation: turned.rotation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ur3e::kinematics::HOME;

    #[test]
    fn a_trapezoid_covers_its_way_in_its_time_and_never_goes_faster() {
        for (length, speed, acceleration) in [(1.0, 0.5, 1.0), (0.1, 3.0, 1.0), (0.0, 1.0, 1.0)] {
            let profile = Trapezoid::new(length, speed, acceleration);
            let steps = 1000;
            let at =
                |i: i32| profile.part(profile.duration_secs() * f64::from(i) / f64::from(steps)) * length;
            let dt = profile.duration_secs() / f64::from(steps);
            let fastest = (0..steps).map(|i| (at(i + 1) - at(i)) / dt).fold(0.0, f64::max);
            assert!(fastest <= profile.speed * (1.0 + 1e-9) + 1e-12, "{fastest}");
            assert!((profile.part(profile.duration_secs()) - 1.0).abs() < 1e-12);
        }
        // 1 m at 0.5 m/s and 1 m/s²: half a second up, 1.5 s level, half a second down.
        assert!((Trapezoid::new(1.0, 0.5, 1.0).duration_secs() - 2.5).abs() < 1e-12);
    }

    #[test]
    fn servoing_lags_by_look_ahead_and_gain() {
        for lookahead_secs in [0.03, 0.06, 0.2] {
            let mut reference = Reference::resting(HOME);
            let lag_secs = 0.01 + lookahead_secs;
            // Behind a target that moves steadily, the reference lags by the same time for ever.
            for tick in 0..2000 {
                let target = HOME.map(|q| q + 0.1 * f64::from(tick) * TICK_SECS);
                reference.set(Motion::Servo { target, lookahead_secs, gain: 100.0 });
                reference.advance().unwrap();
            }
            let behind = HOME[0] + 0.1 * 1999.0 * TICK_SECS - reference.q[0];
            assert!(
                (behind / 0.1 - lag_secs).abs() < 2.0 * TICK_SECS,
                "{} s instead of {lag_secs}",
                behind / 0.1
            );
        }
    }

    #[test]
    fn a_line_is_straight() {
        let mut reference = Reference::resting(HOME);
        let from = forward(&HOME);
        let to = Pose { position_m: from.position_m.map(|p| p + 0.05), ..from };
        reference.run(Path::Line(from, to), 0.25, 1.0);
        while !reference.is_settled() {
            reference.advance().unwrap();
            let at = forward(&reference.q).position_m;
            let along: Vec<f64> = at.iter().zip(from.position_m).map(|(a, b)| a - b).collect();
            assert!((along[0] - along[1]).abs() < 1e-6 && (along[1] - along[2]).abs() < 1e-6, "{along:?}");
        }
        assert!(forward(&reference.q).distance(&to) < 1e-6);
    }

    #[test]
    fn what_cannot_be_reached_leaves_the_reference_where_it_is() {
        let mut reference = Reference::resting(HOME);
        reference.set(Motion::Servo { target: [f64::NAN; 6], lookahead_secs: 0.1, gain: 100.0 });
        assert_eq!(reference.advance(), Err(OutOfReach));
        assert_eq!(reference.q, HOME);
    }
}
