//! What the policy sees: the brightest of the last two frames of the screen, grey, averaged to 84 × 84, four of them.
//!
//! Averaging by area is separable: each output row or column is a weighted sum of at most four, with weights made once.
//! Only the outputs above something that moved are computed anew.

use super::game::Game;
use super::screen::{COLUMNS, ROWS, Screen, Shape, grey};
use std::sync::Arc;

/// Rows and columns of what is seen, and the number of images in the stack.
pub(super) const SIDE: usize = 84;
pub(super) const FRAMES: usize = 4;
/// Pixels of one image.
const PIXELS: usize = SIDE * SIDE;
/// Screen rows or columns under one output, at most.
const TAPS: usize = 4;

/// The first screen row (or column) under each output, and the share of each of the next ones.
type Axis = [(usize, [f32; TAPS]); SIDE];

/// The shares of an area average from `n` to 84.
fn axis(n: usize) -> Axis {
    let width = n as f64 / SIDE as f64;
    std::array::from_fn(|i| {
        let (from, to) = (i as f64 * width, (i + 1) as f64 * width);
        let first = from as usize;
        let share = |k: usize| {
            let (left, right) = ((first + k) as f64, (first + k + 1) as f64);
            ((to.min(right) - from.max(left)).max(0.0) / width) as f32
        };
        (first, std::array::from_fn(share))
    })
}

/// The tables, which all forks of an environment share.
#[derive(Debug)]
struct Tables {
    down: Axis,
    across: Axis,
    grey: [f32; 256],
}

/// The screen as it was drawn last, and the stack of images.
#[derive(Debug, Clone)]
pub(super) struct FrameStack {
    tables: Arc<Tables>,
    screen: Screen,
    points: [u32; 2],
    drawn: Vec<Shape>,
    /// The image of the screen, `[84, 84]`.
    image: Vec<u8>,
    /// The last images, `[4, 84, 84]` as a ring.
    stack: Vec<u8>,
    oldest: usize,
}

impl FrameStack {
    pub(super) fn new() -> FrameStack {
        let grey = std::array::from_fn(|class| if class < 5 { f32::from(grey(class as u8)) } else { 0.0 });
        let mut frames = FrameStack {
            tables: Arc::new(Tables { down: axis(ROWS), across: axis(COLUMNS), grey }),
            screen: Screen::still([0, 0]),
            points: [0, 0],
            drawn: Vec::with_capacity(6),
            image: vec![0; PIXELS],
            stack: vec![0; FRAMES * PIXELS],
            oldest: 0,
        };
        frames.average_all();
        frames
    }

    /// The screen: everything that moves in its places of the last two frames.
    pub(super) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Draws two successive frames of a game on top of one another.
    pub(super) fn look(&mut self, frames: [&Game; 2]) {
        if self.points != frames[1].points {
            self.points = frames[1].points;
            self.screen.redraw(self.points);
            self.average_all();
            self.drawn.clear();
        }
        let mut shapes = std::mem::take(&mut self.drawn);
        shapes.iter().for_each(|s| self.screen.erase(s));
        let n_old = shapes.len();
        shapes.extend(frames.into_iter().flat_map(Shape::moving));
        shapes[n_old..].iter().for_each(|s| self.screen.paint(s));
        shapes.iter().for_each(|s| self.average(s));
        shapes.drain(..n_old);
        self.drawn = shapes;
    }

    fn average_all(&mut self) {
        (0..SIDE).for_each(|row| (0..SIDE).for_each(|column| self.average_at(row, column)));
    }

    /// Averages anew what lies above a shape.
    fn average(&mut self, shape: &Shape) {
        let above =
            |range: &std::ops::Range<usize>, n: usize| range.start * SIDE / n..(range.end * SIDE).div_ceil(n);
        for row in above(&shape.rows, ROWS) {
            for column in above(&shape.columns, COLUMNS) {
                self.average_at(row, column);
            }
        }
    }

    fn average_at(&mut self, row: usize, column: usize) {
        let Tables { down, across, grey } = &*self.tables;
        let classes = &self.screen.classes;
        self.image[row * SIDE + column] =
            area_mean(&down[row], &across[column], |at| grey[classes[at] as usize]);
    }

    /// The image of a screen of other colours, `[210, 160, 3]`.
    pub(super) fn image_of(&mut self, rgb: &[u8]) {
        let Tables { down, across, .. } = &*self.tables;
        let brightness = |at: usize| {
            let [r, g, b] = [0, 1, 2].map(|i| f32::from(rgb[3 * at + i]));
            0.299 * r + 0.587 * g + 0.114 * b
        };
        for (i, pixel) in self.image.iter_mut().enumerate() {
            *pixel = area_mean(&down[i / SIDE], &across[i % SIDE], brightness);
        }
    }

    /// Makes the image that of the screen again, after [`FrameStack::image_of`].
    pub(super) fn restore(&mut self) {
        self.average_all();
    }

    /// Puts the image on the stack.
    pub(super) fn push(&mut self) {
        self.stack[self.oldest * PIXELS..][..PIXELS].copy_from_slice(&self.image);
        self.oldest = (self.oldest + 1) % FRAMES;
    }

    /// Fills the stack with the image: an episode begins.
    pub(super) fn fill(&mut self) {
        (0..FRAMES).for_each(|_| self.push());
    }

    /// Writes the stack, the oldest image first.
    pub(super) fn write(&self, obs: &mut [f32]) {
        let (newer, older) = self.stack.split_at(self.oldest * PIXELS);
        for (out, &pixel) in obs.iter_mut().zip(older.iter().chain(newer)) {
            *out = f32::from(pixel);
        }
    }
}

/// The mean under one output, in whole levels.
fn area_mean(down: &(usize, [f32; TAPS]), across: &(usize, [f32; TAPS]), at: impl Fn(usize) -> f32) -> u8 {
    let terms = |axis: &(usize, [f32; TAPS])| {
        let (first, shares) = *axis;
        shares.into_iter().enumerate().filter(|&(_, w)| w > 0.0).map(move |(k, w)| (first + k, w))
    };
    let line = |row: usize| -> f32 { terms(across).map(|(column, w)| w * at(row * COLUMNS + column)).sum() };
    let mean: f32 = terms(down).map(|(row, w)| w * line(row)).sum();
    mean.round() as u8
}

#[cfg(test)]
mod tests {
    use super::super::game::Rules;
    use super::*;
    use offnominal_core::Rng;

    #[test]
    fn shares_sum_to_one_and_cover_the_screen_evenly() {
        for n in [ROWS, COLUMNS] {
            let mut covered = vec![0.0; n + TAPS];
            for (first, shares) in axis(n) {
                assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-6);
                shares.iter().enumerate().for_each(|(k, w)| covered[first + k] += w);
            }
            let each = SIDE as f32 / n as f32;
            assert!(covered[..n].iter().all(|c| (c - each).abs() < 1e-5));
        }
    }

    #[test]
    fn what_is_drawn_step_by_step_is_what_is_drawn_at_once() {
        let (mut frames, mut rng) = (FrameStack::new(), Rng::new(1));
        let mut game = Game::begun(&[100.0, 0.4, 60.0, 150.0]);
        for t in 0..600 {
            let before = game.clone();
            game.frame([-1.0, 0.0, 1.0][t / 7 % 3], &Rules::default(), &mut rng);
            frames.look([&before, &game]);
            let mut fresh = FrameStack::new();
            fresh.look([&before, &game]);
            assert!(frames.image == fresh.image && frames.screen == fresh.screen, "frame {t}");
        }
        assert!(game.points[0] > 0, "the score was drawn anew, too");
    }

    #[test]
    fn a_screen_in_its_own_colours_gives_its_own_image() {
        let mut frames = FrameStack::new();
        let game = Game::begun(&[100.0, 0.4, 60.0, 150.0]);
        frames.look([&game, &game]);
        let (plain, mut rgb) = (frames.image.clone(), vec![0; 3 * ROWS * COLUMNS]);
        frames.screen().rgb(&mut rgb);
        frames.image_of(&rgb);
        // Brightness is rounded before the mean in one way and after it in the other.
        assert!(plain.iter().zip(&frames.image).all(|(a, b)| a.abs_diff(*b) <= 1));
    }

    #[test]
    fn the_stack_has_the_newest_image_last() {
        let mut frames = FrameStack::new();
        frames.fill();
        let game = Game::begun(&[100.0, 0.4, 60.0, 150.0]);
        frames.look([&game, &game]);
        frames.push();
        let mut obs = vec![0.0; FRAMES * PIXELS];
        frames.write(&mut obs);
        let frame = |k: usize| &obs[k * PIXELS..][..PIXELS];
        assert!(frame(0) == frame(2) && frame(2) != frame(3));
    }
}
