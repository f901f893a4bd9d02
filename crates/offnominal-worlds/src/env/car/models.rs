//! How road, barriers and vehicles look: sizes, colours, class ids.

use super::track::{LANE_WIDTH_M, LANES};
use super::{traffic, vehicle};

/// Names of the class ids; a pixel that several classes share equally belongs to the last of them.
pub const CLASSES: [&str; 9] =
    ["sky", "grass", "shoulder", "road", "marking", "barrier", "vehicle", "car", "debris"];
/// Class id of grass.
pub const GRASS: u8 = 1;
/// Class id of the shoulders.
pub const SHOULDER: u8 = 2;
/// Class id of the lanes.
pub const ROAD: u8 = 3;
/// Class id of painted lines.
pub const MARKING: u8 = 4;
/// Class id of the barriers beside the road.
pub const BARRIER: u8 = 5;
/// Class id of the other vehicles.
pub const VEHICLE: u8 = 6;
/// Class id of the car, which only the chase camera sees.
pub const CAR: u8 = 7;
/// Class id of what has fallen onto the road.
pub const DEBRIS: u8 = 8;

/// Colour of the sky, and of the haze into which distant things fade.
pub const SKY_COLOUR: [u8; 3] = [178, 203, 228];
/// Colour of grass.
pub const GRASS_COLOUR: [u8; 3] = [104, 132, 76];
/// Colour of the car.
pub const CAR_COLOUR: [u8; 3] = [236, 236, 232];
/// Shades of the barrier, in turn.
pub const BARRIER_COLOURS: [[u8; 3]; 2] = [[168, 168, 164], [140, 140, 138]];
/// Colours of the other vehicles.
pub const VEHICLE_COLOURS: [[u8; 3]; 8] = [
    [196, 44, 40],
    [34, 64, 150],
    [24, 26, 30],
    [222, 222, 220],
    [120, 124, 130],
    [40, 110, 84],
    [226, 170, 42],
    [110, 60, 44],
];
const GLASS: [u8; 3] = [52, 62, 72];
const RUBBER: [u8; 3] = [30, 30, 30];
const WHITE: [u8; 3] = [230, 230, 224];

/// Distance of the barriers from the centre line, m.
pub const BARRIER_AT_M: f64 = HALF_ROAD_M + SHOULDER_M + 0.1;
const HALF_ROAD_M: f64 = 0.5 * LANES as f64 * LANE_WIDTH_M;
const SHOULDER_M: f64 = 2.5;
const LINE_M: f64 = 0.2;

/// Length of the pieces of which the road is made, m.
pub const PIECE_M: f64 = 4.0;

/// A ribbon along the road, between two distances to the left of the centre line.
#[derive(Debug, Clone, Copy)]
pub struct Strip {
    /// Right edge, m.
    pub right: f64,
    /// Left edge, m.
    pub left: f64,
    /// Whether only every third piece is painted.
    pub is_dashed: bool,
    /// Class id.
    pub class: u8,
    /// Red, green and blue.
    pub colour: [u8; 3],
}

/// What the road is made of; later strips cover earlier ones.
pub const STRIPS: [Strip; 7] = [
    ribbon(HALF_ROAD_M + SHOULDER_M, SHOULDER, [132, 128, 120]),
    ribbon(HALF_ROAD_M, ROAD, [84, 86, 90]),
    line(LINE_M - HALF_ROAD_M, false),
    line(HALF_ROAD_M - LINE_M, false),
    line(-LANE_WIDTH_M, true),
    line(0.0, true),
    line(LANE_WIDTH_M, true),
];

const fn ribbon(half: f64, class: u8, colour: [u8; 3]) -> Strip {
    Strip { right: -half, left: half, is_dashed: false, class, colour }
}

const fn line(at: f64, is_dashed: bool) -> Strip {
    Strip { right: at - 0.5 * LINE_M, left: at + 0.5 * LINE_M, is_dashed, class: MARKING, colour: WHITE }
}

/// A box of a thing, aligned with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Distance of its middle ahead of the thing's, m.
    pub ahead: f64,
    /// Height of its underside, m.
    pub base: f64,
    /// Length, width and height, m.
    pub size: [f64; 3],
    /// Colour, if it is not the thing's.
    pub colour: Option<[u8; 3]>,
}

/// A box in the thing's own colour.
pub const fn part(ahead: f64, base: f64, size: [f64; 3]) -> Part {
    Part { ahead, base, size, colour: None }
}

/// A box that always has the same colour.
pub const fn dull(ahead: f64, base: f64, size: [f64; 3], colour: [u8; 3]) -> Part {
    Part { colour: Some(colour), ..part(ahead, base, size) }
}

/// Wheels and what is between them.
const fn chassis(length: f64) -> Part {
    dull(0.0, 0.0, [length, 1.7, 0.25], RUBBER)
}

const fn glass(ahead: f64, base: f64, size: [f64; 3]) -> Part {
    dull(ahead, base, size, GLASS)
}

/// Another vehicle.
pub const HATCHBACK: &[Part] = &[
    chassis(3.8),
    part(0.0, 0.25, [traffic::SIZE_M[0], traffic::SIZE_M[1], 0.65]),
    glass(-0.4, 0.9, [2.6, 1.6, 0.45]),
    part(-0.4, 1.35, [2.4, 1.6, 0.1]),
];

/// The car.
pub const SALOON: &[Part] = &[
    chassis(4.4),
    part(0.0, 0.25, [vehicle::SIZE_M[0], vehicle::SIZE_M[1], 0.65]),
    glass(-0.2, 0.9, [2.6, 1.65, 0.45]),
    part(-0.2, 1.35, [2.3, 1.65, 0.1]),
];

/// A piece of barrier.
pub const WALL: &[Part] = &[part(0.0, 0.0, [PIECE_M + 0.1, 0.2, 0.8])];
