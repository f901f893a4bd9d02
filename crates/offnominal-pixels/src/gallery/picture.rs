//! A small picture of an image or of its scores, with outlines of the truth and of what was found, and a frame around
//! the component that it is about.

use crate::panels::heat;
use crate::resize::{Size, bilinear};
use anyhow::Result;
use offnominal_files::image_file;
use offnominal_report::page::encoded;
use offnominal_stats::pixel::components::Compared;

/// The longer side of a picture has at most so many pixels.
const LONGEST: usize = 192;
/// Outline of the truth.
const TRUTH: [u8; 3] = [0, 225, 255];
/// Outline of what was found.
const FOUND: [u8; 3] = [255, 130, 0];
/// Frame around the component.
const FRAME: [u8; 3] = [255, 255, 255];
/// Pixels between the component and its frame.
const MARGIN: usize = 4;
/// Colours and scores are shown in steps of so many levels: without the noise of a sensor a file is a third as large.
const STEP: u8 = 12;

/// What is drawn over an image.
pub struct Picture {
    from: Size,
    size: Size,
    truth: Vec<bool>,
    found: Vec<bool>,
    /// First and last row and column of the frame.
    frame: [usize; 4],
}

impl Picture {
    /// What is drawn over an image of some size, to show the component at some places.
    pub fn new(from: Size, found: &Compared, places: &[usize]) -> Picture {
        let size = from.at_most(LONGEST);
        let inside = |labels: &[u32]| -> Vec<usize> {
            (0..labels.len()).filter(|&i| labels[i] > 0).map(|i| below(i, from, size)).collect()
        };
        let places: Vec<usize> = places.iter().map(|&i| below(i, from, size)).collect();
        Picture {
            from,
            size,
            truth: outline(&inside(&found.real.labels), size),
            found: outline(&inside(&found.predicted.labels), size),
            frame: around(&places, size),
        }
    }

    /// Colours in the size of the picture.
    pub fn small(&self, rgb: Vec<u8>) -> Vec<u8> {
        let small = if self.size == self.from { rgb } else { bilinear(&rgb, self.from, self.size) };
        small.into_iter().map(in_steps).collect()
    }

    /// The image, from its colours in the size of the picture.
    ///
    /// # Errors
    /// If the image is empty.
    pub fn image(&self, small: &[u8]) -> Result<String> {
        self.drawn(small.to_vec())
    }

    /// The scores; a pixel shows the highest of those that lie below it.
    ///
    /// # Errors
    /// If the image is empty.
    pub fn score(&self, scores: &[f32]) -> Result<String> {
        let mut small = vec![f32::NEG_INFINITY; self.size.pixels()];
        for (i, &score) in scores.iter().enumerate() {
            let at = below(i, self.from, self.size);
            small[at] = small[at].max(score);
        }
        self.drawn(heat(&small).into_iter().map(in_steps).collect())
    }

    fn drawn(&self, mut rgb: Vec<u8>) -> Result<String> {
        for (at, pixel) in rgb.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let (row, column) = (at / self.size.width, at % self.size.width);
            // Where both outlines run, they take turns.
            let is_first = (row + column) / 2 % 2 == 0;
            match (self.truth[at], self.found[at]) {
                (true, true) => *pixel = if is_first { TRUTH } else { FOUND },
                (true, false) => *pixel = TRUTH,
                (false, true) => *pixel = FOUND,
                (false, false) if self.is_frame(row, column) => *pixel = FRAME,
                _ => {}
            }
        }
        Ok(encoded(&image_file::small_colours(self.size.width, self.size.height, &rgb)?))
    }

    fn is_frame(&self, row: usize, column: usize) -> bool {
        let [top, bottom, left, right] = self.frame;
        let is_inside = (top..=bottom).contains(&row) && (left..=right).contains(&column);
        is_inside && (row == top || row == bottom || column == left || column == right)
    }
}

fn in_steps(level: u8) -> u8 {
    (level / STEP * STEP).saturating_add(STEP / 2)
}

/// The pixel of the picture in which one of the image lies.
fn below(at: usize, from: Size, to: Size) -> usize {
    let (row, column) = (at / from.width, at % from.width);
    row * to.height / from.height * to.width + column * to.width / from.width
}

/// The pixels around a set, so that none of it is hidden.
fn outline(inside: &[usize], size: Size) -> Vec<bool> {
    let mut is_inside = vec![false; size.pixels()];
    inside.iter().for_each(|&at| is_inside[at] = true);
    let mut line = vec![false; size.pixels()];
    for &at in inside {
        let (row, column) = (at / size.width, at % size.width);
        for r in row.saturating_sub(1)..(row + 2).min(size.height) {
            for c in column.saturating_sub(1)..(column + 2).min(size.width) {
                let next = r * size.width + c;
                line[next] = !is_inside[next];
            }
        }
    }
    line
}

/// The frame around places: first and last row, first and last column.
fn around(places: &[usize], size: Size) -> [usize; 4] {
    let ends = |values: &dyn Fn(usize) -> usize, n: usize| {
        let all = || places.iter().map(|&at| values(at));
        let (first, last) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        [first.saturating_sub(MARGIN), (last + MARGIN).min(n - 1)]
    };
    let [top, bottom] = ends(&|at| at / size.width, size.height);
    let [left, right] = ends(&|at| at % size.width, size.width);
    [top, bottom, left, right]
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;
    use offnominal_stats::pixel::components::Smallest;

    #[test]
    fn outlines_surround_and_hide_nothing() {
        let size = Size { width: 5, height: 4 };
        let line = outline(&[6], size);
        let places: Vec<usize> = (0..20).filter(|&i| line[i]).collect();
        assert_eq!(places, [0, 1, 2, 5, 7, 10, 11, 12]);
        // At a border there is no line, and neighbours hide it.
        let line = outline(&[0, 1], size);
        assert_eq!((0..20).filter(|&i| line[i]).collect::<Vec<_>>(), [2, 5, 6, 7]);
    }

    #[test]
    fn frames_keep_a_margin_and_stay_inside() {
        let size = Size { width: 20, height: 10 };
        assert_eq!(around(&[5 * 20 + 10, 6 * 20 + 11], size), [1, 9, 6, 15]);
    }

    #[test]
    fn small_things_stay_visible_in_large_images() {
        let (from, to) = (Size { width: 384, height: 2 }, Size { width: 192, height: 1 });
        assert_eq!((below(3, from, to), below(384 + 383, from, to)), (1, 191));
        // One unknown pixel in a large image, called; its score is the highest below pixel 1 of the picture.
        let mut truth = vec![Truth::Known; 768];
        let mut scores = vec![0.0; 768];
        (truth[3], scores[3]) = (Truth::Unknown, 1.0);
        let found = Compared::new(&scores, &truth, 384, 0.5, Smallest { predicted: 1, truth: 1 });
        let picture = Picture::new(from, &found, &[3]);
        assert_eq!(picture.size, to);
        assert!(picture.truth[0] && !picture.truth[1] && picture.truth[2] && !picture.truth[3]);
        assert_eq!(picture.truth, picture.found);
    }
}
