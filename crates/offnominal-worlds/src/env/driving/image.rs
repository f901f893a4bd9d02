//! The car and the track around it, seen from above.

use super::CAR_RADIUS_M;
use super::car::Car;
use super::track::{HALF_WIDTH_M, Track};
use crate::env::disc::{Style, View};
use offnominal_core::frame::Frame;

/// Half the side of the visible square, m; the car is in its middle.
const HALF_RANGE_M: f64 = 50.0;
/// Thickness of a wall, m.
const WALL_M: f64 = 1.0;
const GRASS: [u8; 3] = [104, 132, 76];

const WALL: Style = Style { class: 1, colour: [150, 60, 50], radius_m: HALF_WIDTH_M + WALL_M };
const ROAD: Style = Style { class: 2, colour: [110, 110, 112], radius_m: HALF_WIDTH_M };
const CAR: Style = Style { class: 3, colour: [236, 236, 232], radius_m: 1.5 * CAR_RADIUS_M };

/// Draws walls and road as discs along the centre line, then the car.
pub fn draw(track: &Track, at: usize, car: &Car, frame: &mut Frame) {
    frame.clear(GRASS);
    let (view, reach) = (View::new(car.position, HALF_RANGE_M, false, frame), track.len() / 2);
    for style in [&WALL, &ROAD] {
        for i in at + track.len() - reach..at + track.len() + reach {
            // Half-way points keep the rims straight.
            let (a, b) = (track.centre(i), track.centre(i + 1));
            view.disc(a, style, frame);
            view.disc((a + b) * 0.5, style, frame);
        }
    }
    view.disc(car.position, &CAR, frame);
}

#[cfg(test)]
mod tests {
    use super::super::track::NUMBERS;
    use super::*;

    #[test]
    fn the_car_is_in_the_middle_of_the_road_between_walls() {
        let track = Track::of(&[0.5; NUMBERS]);
        let car = Car::at(track.start());
        let mut frame = Frame::new(200, 200);
        draw(&track, 0, &car, &mut frame);
        let (column, row) = frame.centroid(CAR.class).unwrap();
        assert!((column - 99.5).abs() < 0.6 && (row - 99.5).abs() < 0.6, "{column} {row}");
        assert!(frame.share(ROAD.class) > 0.1 && frame.share(WALL.class) > 0.02 && frame.share(0) > 0.4);
    }
}
