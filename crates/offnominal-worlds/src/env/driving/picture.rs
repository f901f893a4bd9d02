//! The car and the track around it, seen from above.

use super::CAR_RADIUS_M;
use super::car::Car;
use super::track::{HALF_WIDTH_M, Point, Track};
use offnominal_core::frame::Frame;

/// Half the side of the visible square, m; the car is in its middle.
const HALF_RANGE_M: f64 = 50.0;
/// Thickness of a wall, m.
const WALL_M: f64 = 1.0;
const GRASS: [u8; 3] = [104, 132, 76];

/// How a disc is drawn.
struct Style {
    class: u8,
    colour: [u8; 3],
    radius_m: f64,
}

const WALL: Style = Style { class: 1, colour: [150, 60, 50], radius_m: HALF_WIDTH_M + WALL_M };
const ROAD: Style = Style { class: 2, colour: [110, 110, 112], radius_m: HALF_WIDTH_M };
const CAR: Style = Style { class: 3, colour: [236, 236, 232], radius_m: 1.5 * CAR_RADIUS_M };

/// Draws walls and road as discs along the centre line, then the car.
pub fn draw(track: &Track, at: usize, car: &Car, frame: &mut Frame) {
    frame.clear(GRASS);
    let reach = track.len() / 2;
    for style in [&WALL, &ROAD] {
        for i in at + track.len() - reach..at + track.len() + reach {
            // Half-way points keep the rims straight.
            let (a, b) = (track.centre(i), track.centre(i + 1));
            disc(frame, car.position, a, style);
            disc(frame, car.position, [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])], style);
        }
    }
    disc(frame, car.position, car.position, &CAR);
}

/// Paints the pixels whose middle is in a disc.
fn disc(frame: &mut Frame, eye: Point, at: Point, style: &Style) {
    let scale = frame.width.min(frame.height) as f64 / (2.0 * HALF_RANGE_M);
    let column = frame.width as f64 / 2.0 + scale * (at[0] - eye[0]);
    let row = frame.height as f64 / 2.0 - scale * (at[1] - eye[1]);
    let radius = scale * style.radius_m;
    for y in covered(row, radius, frame.height) {
        for x in covered(column, radius, frame.width) {
            if (x as f64 + 0.5 - column).hypot(y as f64 + 0.5 - row) <= radius {
                frame.paint(x, y, style.colour, style.class);
            }
        }
    }
}

/// The pixels of one axis that a disc can reach; casts saturate, so what lies outside gives an empty range.
fn covered(centre: f64, radius: f64, size: usize) -> std::ops::Range<usize> {
    ((centre - radius).floor() as usize)..((centre + radius).ceil() as usize).min(size)
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
