//! An image of an environment: colours and class ids.

use serde::{Deserialize, Serialize};

/// Which of an environment's cameras: an index into `EnvSpec::cameras`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Camera(pub usize);

/// An image, row by row from the top left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green and blue of each pixel, `[height, width, 3]`.
    pub rgb: Vec<u8>,
    /// Class id of each pixel, `[height, width]`; names in `EnvSpec::classes`, 0 is the background.
    pub classes: Vec<u8>,
}

impl Frame {
    /// A black frame.
    pub fn new(width: usize, height: usize) -> Frame {
        Frame { width, height, rgb: vec![0; width * height * 3], classes: vec![0; width * height] }
    }

    /// Paints every pixel with one colour and the background class.
    pub fn clear(&mut self, colour: [u8; 3]) {
        for pixel in self.rgb.as_chunks_mut().0 {
            *pixel = colour;
        }
        self.classes.fill(0);
    }

    /// Paints one pixel.
    ///
    /// # Panics
    /// If the pixel lies outside the frame.
    pub fn paint(&mut self, column: usize, row: usize, colour: [u8; 3], class: u8) {
        let at = row * self.width + column;
        self.rgb[3 * at..3 * at + 3].copy_from_slice(&colour);
        self.classes[at] = class;
    }

    /// The share of pixels that carry a class id.
    pub fn share(&self, class: u8) -> f64 {
        self.classes.iter().filter(|&&c| c == class).count() as f64 / self.classes.len() as f64
    }

    /// Mean column and row of the pixels that carry a class id; `None` if there are none.
    pub fn centroid(&self, class: u8) -> Option<(f64, f64)> {
        let (mut n, mut columns, mut rows) = (0_usize, 0, 0);
        for (at, _) in self.classes.iter().enumerate().filter(|&(_, &c)| c == class) {
            n += 1;
            columns += at % self.width;
            rows += at / self.width;
        }
        (n > 0).then(|| (columns as f64 / n as f64, rows as f64 / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_painted_pixel_is_found_where_it_was_painted() {
        let mut frame = Frame::new(4, 3);
        frame.paint(2, 1, [9, 8, 7], 5);
        assert_eq!(frame.centroid(5), Some((2.0, 1.0)));
        assert_eq!(frame.share(5), 1.0 / 12.0);
        frame.clear([1, 2, 3]);
        assert_eq!((frame.centroid(5), frame.rgb[3..6].to_vec()), (None, vec![1, 2, 3]));
    }
}
