//! What there is to see around the car, as plain data: flat patches on the ground, things that stand on it, and a camera.
//!
//! The scene says nothing of pixels ([`super::image`] paints it), and whatever else is to be seen can be added to it:
//! a [`Thing`] is a place and a few boxes.

use super::debris::Debris;
use super::ego::Ego;
use super::models::{self, PIECE_M, Part, Strip};
use super::track::{Pose, Track};
use super::traffic::Traffic;

/// The road is shown from so far behind the car, m,
pub const BEHIND_M: f64 = 16.0;
/// to so far ahead of it, m.
pub const AHEAD_M: f64 = 240.0;

/// Which of the cameras in the card looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above the bonnet, looking straight ahead, as in CAR-LaneKeep.
    Bumper,
    /// Behind and above the car, looking down on it.
    Chase,
}

/// Where the image is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Camera {
    /// Place and direction.
    pub pose: Pose,
    /// Height, m.
    pub height: f64,
    /// Angle above the horizontal, rad.
    pub pitch: f64,
}

/// A flat convex piece of the ground; corners in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patch {
    /// The corners, m, in the plane.
    pub corners: [[f64; 2]; 4],
    /// Class id.
    pub class: u8,
    /// Red, green and blue.
    pub colour: [u8; 3],
}

/// Something that stands on the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thing {
    /// Where it stands and which way it faces.
    pub pose: Pose,
    /// Its boxes, from the ground up.
    pub parts: &'static [Part],
    /// Class id.
    pub class: u8,
    /// Red, green and blue of the parts that have no colour of their own.
    pub colour: [u8; 3],
}

/// Everything to be seen.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Where it is seen from.
    pub camera: Camera,
    /// What lies on the ground, what covers others later.
    pub ground: Vec<Patch>,
    /// What stands on the ground, in any order.
    pub things: Vec<Thing>,
}

impl Scene {
    /// Describes the surroundings of the car; the vectors are used again.
    ///
    /// `debris` is what may lie there, and how many things per 100 m do.
    pub fn describe(
        &mut self,
        track: &Track,
        ego: &Ego,
        traffic: &Traffic,
        debris: (&Debris, f64),
        place: Place,
    ) {
        self.ground.clear();
        self.things.clear();
        let car = pose_of(track, ego);
        self.camera = camera(car, place);
        models::STRIPS.iter().for_each(|strip| self.lay(strip, track, ego.position));
        self.fence(track, ego.position);
        self.park(track, ego.position, traffic);
        self.scatter(track, ego.position, debris);
        if place == Place::Chase {
            let (class, colour) = (models::CAR, models::CAR_COLOUR);
            self.things.push(Thing { pose: car, parts: models::SALOON, class, colour });
        }
    }

    /// Lays a strip along the road.
    fn lay(&mut self, strip: &Strip, track: &Track, position: f64) {
        for piece in pieces(position).filter(|piece| !strip.is_dashed || piece.rem_euclid(3) == 0) {
            let (from, to) = (PIECE_M * piece as f64, PIECE_M * (piece + 1) as f64);
            let corner = |s, d| {
                let pose = track.pose(s, d);
                [pose.x, pose.y]
            };
            let corners = [
                corner(from, strip.right),
                corner(to, strip.right),
                corner(to, strip.left),
                corner(from, strip.left),
            ];
            self.ground.push(Patch { corners, class: strip.class, colour: strip.colour });
        }
    }

    /// Sets barriers on both sides; their shades alternate, so that driving shows.
    fn fence(&mut self, track: &Track, position: f64) {
        for piece in pieces(position) {
            let colour = models::BARRIER_COLOURS[piece.rem_euclid(2) as usize];
            for side in [-1.0, 1.0] {
                let pose = track.pose(PIECE_M * (piece as f64 + 0.5), side * models::BARRIER_AT_M);
                self.things.push(Thing { pose, parts: models::WALL, class: models::BARRIER, colour });
            }
        }
    }

    /// Puts the other vehicles on their lanes.
    fn park(&mut self, track: &Track, position: f64, traffic: &Traffic) {
        for (lane, number, s) in traffic.vehicles() {
            let along = track.ahead(position, s);
            if (-BEHIND_M..AHEAD_M).contains(&along) {
                let pose = track.pose(s, super::track::lane_centre(lane));
                let colour = models::VEHICLE_COLOURS[(7 * lane + 3 * number) % models::VEHICLE_COLOURS.len()];
                self.things.push(Thing { pose, parts: models::HATCHBACK, class: models::VEHICLE, colour });
            }
        }
    }

    /// Lays what has fallen onto the road.
    fn scatter(&mut self, track: &Track, position: f64, (debris, density): (&Debris, f64)) {
        for piece in debris.between(position - BEHIND_M, position + AHEAD_M, density) {
            let pose = track.pose(piece.position, piece.across);
            let (class, colour) = (models::DEBRIS, piece.colour);
            self.things.push(Thing { pose, parts: piece.parts, class, colour });
        }
    }
}

/// Numbers of the pieces of road around a position.
fn pieces(position: f64) -> std::ops::Range<i64> {
    let number = |s: f64| (s / PIECE_M).floor() as i64;
    number(position - BEHIND_M)..number(position + AHEAD_M)
}

/// Where the car is in the plane.
fn pose_of(track: &Track, ego: &Ego) -> Pose {
    let road = track.pose(ego.position, ego.lateral);
    Pose { heading: road.heading + ego.heading, ..road }
}

fn camera(car: Pose, place: Place) -> Camera {
    let (ahead, height, pitch) = match place {
        Place::Bumper => (0.5, 1.5, 0.0),
        Place::Chase => (-9.0, 4.0, -0.2),
    };
    let (sin, cos) = car.heading.sin_cos();
    let pose = Pose { x: car.x + ahead * cos, y: car.y + ahead * sin, heading: car.heading };
    Camera { pose, height, pitch }
}
