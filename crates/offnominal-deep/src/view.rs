//! Labelled images, and how training looks at them: larger or smaller, cut out anywhere, and mirrored.

use crate::segments::standardised;
use offnominal_core::Rng;

/// The label of pixels that are not judged.
pub const IGNORED: u8 = 255;

/// An image whose pixels have labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `[height, width, 3]`.
    pub rgb: Vec<u8>,
    /// `[height, width]`; what is no class is not judged.
    pub labels: Vec<u8>,
    /// Pixels per row.
    pub width: usize,
}

/// What training sees of an image.
pub struct View {
    /// In units of their deviation, `[3, height, width]`.
    pub channels: Vec<f32>,
    /// `[height, width]`.
    pub labels: Vec<u8>,
}

/// Where a view lies in an image.
struct Window {
    /// Pixels of the image for each of the view.
    pace: f64,
    top: f64,
    left: f64,
    is_mirrored: bool,
    /// Rows and columns of the view.
    size: [usize; 2],
}

impl Window {
    fn draw(height: usize, width: usize, size: [usize; 2], scales: [f64; 2], rng: &mut Rng) -> Window {
        let pace = 1.0 / rng.range(scales[0], scales[1]);
        let mut start = |all: usize, seen: usize| {
            let room = all as f64 - seen as f64 * pace;
            rng.range(room.min(0.0), room.max(0.0))
        };
        let (top, left) = (start(height, size[0]), start(width, size[1]));
        Window { pace, top, left, is_mirrored: rng.uniform() < 0.5, size }
    }

    /// Where the middle of a pixel of the view lies.
    fn place(&self, row: usize, column: usize) -> [f64; 2] {
        let column = if self.is_mirrored { self.size[1] - 1 - column } else { column };
        let at = |start: f64, i: usize| start + (i as f64 + 0.5) * self.pace;
        [at(self.top, row), at(self.left, column)]
    }
}

impl Image {
    fn height(&self) -> usize {
        self.labels.len() / self.width
    }

    /// A random view: colours are interpolated, labels are those of the nearest pixel.
    pub fn view(&self, size: [usize; 2], scales: [f64; 2], rng: &mut Rng) -> View {
        let window = Window::draw(self.height(), self.width, size, scales, rng);
        let n = size[0] * size[1];
        let mut view = View { channels: vec![0.0; 3 * n], labels: vec![IGNORED; n] };
        let whole = standardised(&self.rgb);
        for pixel in 0..n {
            let [y, x] = window.place(pixel / size[1], pixel % size[1]);
            let inside = (0.0..self.height() as f64).contains(&y) && (0.0..self.width as f64).contains(&x);
            if inside {
                view.labels[pixel] = self.labels[y as usize * self.width + x as usize];
                let plane = self.labels.len();
                (0..3).for_each(|c| {
                    view.channels[c * n + pixel] = self.colour(&whole[c * plane..][..plane], y, x);
                });
            }
        }
        view
    }

    /// Bilinearly between the middles of pixels.
    fn colour(&self, plane: &[f32], y: f64, x: f64) -> f32 {
        let split = |v: f64, size: usize| {
            let v = (v - 0.5).clamp(0.0, (size - 1) as f64);
            (v as usize, (v as usize + 1).min(size - 1), v.fract() as f32)
        };
        let ((top, low, down), (left, right, across)) = (split(y, self.height()), split(x, self.width));
        let at = |row: usize, column: usize| plane[row * self.width + column];
        let row = |row: usize| at(row, left) * (1.0 - across) + at(row, right) * across;
        row(top) * (1.0 - down) + row(low) * down
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let labels: Vec<u8> = (0..6 * 8).map(|p| (p % 8) as u8).collect();
        Image { rgb: labels.iter().flat_map(|&l| [10 * l; 3]).collect(), labels, width: 8 }
    }

    #[test]
    fn a_view_of_the_same_size_is_the_image_or_its_mirror_image() {
        let (image, mut rng) = (image(), Rng::new(3));
        let whole = standardised(&image.rgb);
        let mut mirrored = 0;
        for _ in 0..20 {
            let view = image.view([6, 8], [1.0, 1.0], &mut rng);
            let is_mirrored = view.labels[0] == 7;
            mirrored += u32::from(is_mirrored);
            let source = |p: usize| if is_mirrored { p / 8 * 8 + 7 - p % 8 } else { p };
            assert!((0..48).all(|p| view.labels[p] == image.labels[source(p)]));
            assert!((0..48).all(|p| (view.channels[p] - whole[source(p)]).abs() < 1e-5));
        }
        assert!((3..18).contains(&mirrored));
    }

    #[test]
    fn what_lies_outside_the_image_is_not_judged() {
        let view = image().view([6, 8], [0.5, 0.5], &mut Rng::new(1));
        assert_eq!(view.labels.iter().filter(|&&l| l != IGNORED).count(), 3 * 4);
        let view = image().view([6, 8], [2.0, 2.0], &mut Rng::new(1));
        assert!(view.labels.iter().all(|&l| l != IGNORED));
    }
}
