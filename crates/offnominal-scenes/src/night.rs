//! The light of lamps: those along the street, and the head lamps of the car that carries the camera.

use crate::noise::smooth;
use offnominal_core::vec3::{Vec3, vec3};

/// A street lamp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lamp {
    /// Where it hangs.
    pub at: Vec3,
    /// Its light on a surface below it at a distance of its reach.
    pub colour: Vec3,
}

/// Farther than this a lamp lights nothing, in metres.
const REACH_M: f32 = 17.0;
/// Where the head lamps of the camera's car are.
const HEAD: Vec3 = vec3(0.0, 0.7, 0.0);

/// Light that falls on a surface from street lamps.
pub fn street(lamps: &[Lamp], point: Vec3, normal: Vec3) -> Vec3 {
    let near = lamps.iter().filter(|l| (l.at.z - point.z).abs() < REACH_M);
    near.fold(Vec3::default(), |sum, lamp| {
        let way = lamp.at - point;
        let square = way.dot(way);
        if square > REACH_M * REACH_M {
            return sum;
        }
        let distance = square.sqrt();
        let fall = (1.0 - distance / REACH_M) * 22.0 / (12.0 + square);
        sum + lamp.colour * (fall * (normal.dot(way) / distance).max(0.08))
    })
}

/// Light that falls on a surface from the head lamps of the camera's car: dipped, and to both sides.
pub fn headlight(point: Vec3, normal: Vec3) -> Vec3 {
    let way = point - HEAD;
    if way.z < 0.5 {
        return Vec3::default();
    }
    let (aside, up) = ((way.x / way.z).abs(), way.y / way.z);
    let beam = smooth(0.75, 0.1, aside) * smooth(0.06, -0.02, up);
    let distance = way.length();
    let facing = (-normal.dot(way) / distance).max(0.0).sqrt();
    vec3(1.0, 0.95, 0.85) * (beam * facing * 28.0 / (60.0 + distance * distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Vec3 = vec3(0.0, 1.0, 0.0);

    #[test]
    fn a_lamp_lights_what_is_below_more_than_what_is_aside_and_nothing_far_away() {
        let lamps = [Lamp { at: vec3(0.0, 6.0, 20.0), colour: Vec3::all(1.0) }];
        let at = |x: f32| street(&lamps, vec3(x, 0.0, 20.0), UP).x;
        assert!(at(0.0) > 1.5 * at(5.0) && at(5.0) > 3.0 * at(12.0) && at(20.0) == 0.0);
    }

    #[test]
    fn head_lamps_light_the_road_ahead_and_not_the_sky() {
        let at = |x: f32, y: f32, z: f32| headlight(vec3(x, y, z), vec3(0.0, 0.0, -1.0)).x;
        assert!(at(0.0, 0.2, 8.0) > 2.0 * at(0.0, 0.2, 25.0));
        assert_eq!((at(0.0, 4.0, 8.0), at(9.0, 0.2, 8.0), at(0.0, 0.0, -8.0)), (0.0, 0.0, 0.0));
    }
}
