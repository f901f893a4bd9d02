//! From pixels to metres on a flat road before a camera, and back.
//!
//! A pinhole camera looks straight ahead, so many metres above the ground; its horizon lies in the middle row. A place is
//! metres ahead of the camera and metres to its right.

use std::ops::Range;

/// The camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ground {
    /// Focal length in pixels.
    focal: f64,
    /// Row of the horizon, and column straight ahead, in pixels from the upper left corner.
    centre: [f64; 2],
    height_m: f64,
}

/// Metres ahead of the camera, and to its right.
pub type Place = [f64; 2];

impl Ground {
    /// A camera with a horizontal angle of view in degrees, at a height in metres, for images of a size in pixels.
    pub fn new(view_deg: f64, height_m: f64, (width, height): (usize, usize)) -> Ground {
        let focal = 0.5 * width as f64 / (0.5 * view_deg.to_radians()).tan();
        Ground { focal, centre: [0.5 * height as f64, 0.5 * width as f64], height_m }
    }

    /// What is seen at a point below the horizon, which is given as row and column.
    pub fn place(&self, [row, column]: [f64; 2]) -> Place {
        let ahead = self.focal * self.height_m / (row - self.centre[0]).max(1e-3);
        [ahead, ahead * (column - self.centre[1]) / self.focal]
    }

    /// Row and column at which a place is seen.
    pub fn seen(&self, [ahead, right]: Place) -> [f64; 2] {
        let [row, column] = self.centre;
        [row + self.focal * self.height_m / ahead, column + self.focal * right / ahead]
    }

    /// Pixels that a metre takes at a distance.
    pub fn pixels_per_m(&self, ahead: f64) -> f64 {
        self.focal / ahead
    }

    /// Metres of distance that a row is worth at a distance of one metre; at others it is times their square.
    pub fn metres_per_row(&self) -> f64 {
        1.0 / (self.focal * self.height_m)
    }

    /// Metres to either side that are in view at a distance.
    pub fn in_view(&self, ahead: f64) -> f64 {
        self.centre[1] / self.pixels_per_m(ahead)
    }

    /// The rows in which something lower than the camera is seen that stands at least so far away.
    pub fn rows(&self, nearest_m: f64, height: usize) -> Range<usize> {
        let [lowest, _] = self.seen([nearest_m, 0.0]);
        let first = (self.centre[0].floor() as usize).min(height.saturating_sub(1));
        first..(lowest.ceil() as usize).clamp(first + 1, height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_seen_where_it_is() {
        let ground = Ground::new(90.0, 1.5, (256, 128));
        // 90° over 256 pixels: a focal length of 128 pixels.
        let [row, column] = ground.seen([12.0, -3.0]);
        assert!((row - 80.0).abs() < 1e-9 && (column - 96.0).abs() < 1e-9);
        let [ahead, right] = ground.place([row, column]);
        assert!((ahead - 12.0).abs() < 1e-9 && (right + 3.0).abs() < 1e-9);
        assert_eq!(ground.rows(6.0, 128), 64..96);
        assert_eq!(ground.rows(0.5, 128), 64..128);
        assert!((ground.pixels_per_m(16.0) - 8.0).abs() < 1e-12);
        assert!((ground.in_view(16.0) - 16.0).abs() < 1e-9);
    }
}
