//! A small picture of an image or of its scores, with outlines of the truth and of what was found, and a frame around
//! the component that it is about.

use crate::heat::heat;
use crate::resize::{Size, bilinear, nearest};
use anyhow::Result;
use offnominal_files::image_file;
use offnominal_report::page::encoded;
use offnominal_stats::pixel::components::Compared;

/// The longer side of what is shown has at most so many pixels.
const LONGEST: usize = 192;
/// A small image is enlarged as often as its longer side fits into so many pixels, so that lines are thin beside it.
const ENLARGED: usize = 256;
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
    /// The image, made small.
    small: Size,
    /// The picture, some times as large.
    size: Size,
    truth: Vec<bool>,
    found: Vec<bool>,
    /// First and last row and column of the frame.
    frame: [usize; 4],
}

impl Picture {
    /// What is drawn over an image of some size, to show the component at some places.
    pub fn new(from: Size, found: &Compared, places: &[usize]) -> Picture {
        let small = from.at_most(LONGEST);
        let times = (ENLARGED / small.width.max(small.height)).max(1);
        let size = Size { width: times * small.width, height: times * small.height };
        // A pixel of the picture is inside where anything below it is, so that small things stay visible.
        let inside = |places: &mut dyn Iterator<Item = usize>| {
            let mut is_inside = vec![false; small.pixels()];
            places.for_each(|at| is_inside[below(at, from, small)] = true);
            nearest(&is_inside, small, size)
        };
        let of = |labels: &[u32]| inside(&mut (0..labels.len()).filter(|&i| labels[i] > 0));
        Picture {
            from,
            small,
            size,
            truth: outline(&of(&found.real.labels), size),
            found: outline(&of(&found.predicted.labels), size),
            frame: around(&inside(&mut places.iter().copied()), size),
        }
    }

    /// The colours of the image, made small.
    pub fn small(&self, rgb: Vec<u8>) -> Vec<u8> {
        let small = if self.small == self.from { rgb } else { bilinear(&rgb, self.from, self.small) };
        small.into_iter().map(in_steps).collect()
    }

    /// The image with both outlines, from its small colours.
    ///
    /// # Errors
    /// If the image is empty.
    pub fn image(&self, small: &[u8]) -> Result<String> {
        // Where both run, they take turns.
        let is_turn = |at: usize| ((at / self.size.width + at % self.size.width) / 3).is_multiple_of(2);
        self.drawn(small, |at| match (self.truth[at], self.found[at]) {
            (true, true) if is_turn(at) => Some(FOUND),
            (true, _) => Some(TRUTH),
            (false, true) => Some(FOUND),
            (false, false) => None,
        })
    }

    /// The scores with the outline of the truth; a pixel shows the highest of those that lie below it.
    ///
    /// # Errors
    /// If the image is empty.
    pub fn score(&self, scores: &[f32]) -> Result<String> {
        let mut small = vec![f32::NEG_INFINITY; self.small.pixels()];
        for (i, &score) in scores.iter().enumerate() {
            let at = below(i, self.from, self.small);
            small[at] = small[at].max(score);
        }
        let small: Vec<u8> = heat(&small).into_iter().map(in_steps).collect();
        self.drawn(&small, |at| self.truth[at].then_some(TRUTH))
    }

    fn drawn(&self, small: &[u8], line: impl Fn(usize) -> Option<[u8; 3]>) -> Result<String> {
        let mut pixels = nearest(small.as_chunks::<3>().0, self.small, self.size);
        for (at, pixel) in pixels.iter_mut().enumerate() {
            let frame = self.is_frame(at / self.size.width, at % self.size.width).then_some(FRAME);
            *pixel = line(at).or(frame).unwrap_or(*pixel);
        }
        Ok(encoded(&image_file::small_colours(self.size.width, self.size.height, pixels.as_flattened())?))
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
pub(crate) fn outline(is_inside: &[bool], size: Size) -> Vec<bool> {
    let mut line = vec![false; size.pixels()];
    for at in (0..is_inside.len()).filter(|&at| is_inside[at]) {
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

/// The frame around a set: first and last row, first and last column.
fn around(is_inside: &[bool], size: Size) -> [usize; 4] {
    let ends = |part: fn(usize, usize) -> usize, n: usize| {
        let all = || (0..is_inside.len()).filter(|&at| is_inside[at]).map(|at| part(at, size.width));
        let (first, last) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        [first.saturating_sub(MARGIN), (last + MARGIN).min(n - 1)]
    };
    let [top, bottom] = ends(|at, width| at / width, size.height);
    let [left, right] = ends(|at, width| at % width, size.width);
    [top, bottom, left, right]
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_stats::pixel::Truth;
    use offnominal_stats::pixel::components::Smallest;

    fn mask(places: &[usize], size: Size) -> Vec<bool> {
        (0..size.pixels()).map(|at| places.contains(&at)).collect()
    }

    #[test]
    fn outlines_surround_and_hide_nothing() {
        let size = Size { width: 5, height: 4 };
        let line = outline(&mask(&[6], size), size);
        assert_eq!(line, mask(&[0, 1, 2, 5, 7, 10, 11, 12], size));
        // At a border there is no line, and none between neighbours.
        assert_eq!(outline(&mask(&[0, 1], size), size), mask(&[2, 5, 6, 7], size));
    }

    #[test]
    fn frames_keep_a_margin_and_stay_inside() {
        let size = Size { width: 20, height: 10 };
        assert_eq!(around(&mask(&[5 * 20 + 10, 6 * 20 + 11], size), size), [1, 9, 6, 15]);
    }

    /// The picture of an image with one unknown pixel, which is called.
    fn picture(from: Size, unknown: usize) -> Picture {
        let mut truth = vec![Truth::Known; from.pixels()];
        let mut scores = vec![0.0; from.pixels()];
        (truth[unknown], scores[unknown]) = (Truth::Unknown, 1.0);
        let found = Compared::new(&scores, &truth, from.width, 0.5, Smallest { predicted: 1, truth: 1 });
        Picture::new(from, &found, &[unknown])
    }

    #[test]
    fn small_things_stay_visible_in_large_images() {
        let (from, to) = (Size { width: 384, height: 2 }, Size { width: 192, height: 1 });
        assert_eq!((below(3, from, to), below(384 + 383, from, to)), (1, 191));
        let picture = picture(from, 3);
        assert_eq!((picture.small, picture.size), (to, to));
        assert_eq!(picture.truth, mask(&[0, 2], to));
        assert_eq!(picture.found, picture.truth);
    }

    #[test]
    fn small_images_are_enlarged_and_their_lines_are_not() {
        let (from, to) = (Size { width: 100, height: 2 }, Size { width: 200, height: 4 });
        let picture = picture(from, 0);
        assert_eq!((picture.small, picture.size), (from, to));
        assert_eq!(picture.truth, mask(&[2, 202, 400, 401, 402], to));
        assert_eq!(picture.frame, [0, 3, 0, 5]);
    }
}
