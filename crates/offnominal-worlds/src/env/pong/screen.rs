//! The screen: which thing is at each of 210 × 160 pixels, drawn anew only where something moved.

use super::game::{BALL, FIELD, Game, PADDLE, PADDLES};
use offnominal_core::frame::Frame;
use std::ops::Range;

/// Rows and columns of the screen.
pub(super) const ROWS: usize = 210;
pub(super) const COLUMNS: usize = 160;

/// Class ids in the order of brightness, with names and colours. The largest of two images is therefore the larger id.
pub(super) const CLASSES: [(&str, [u8; 3]); 5] = [
    ("field", [140, 74, 22]),
    ("opponent", [206, 122, 66]),
    ("agent", [104, 190, 96]),
    ("wall", [232, 232, 232]),
    ("ball", [240, 240, 240]),
];
const FIELD_ID: u8 = 0;
const SIDES: [u8; 2] = [1, 2];
const WALL: u8 = 3;
const BALL_ID: u8 = 4;

/// The brightness of each class, rounded (ITU-R BT.601).
pub(super) fn grey(class: u8) -> u8 {
    let [r, g, b] = CLASSES[class as usize].1.map(f64::from);
    (0.299 * r + 0.587 * g + 0.114 * b).round() as u8
}

/// A rectangle of one class.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
    class: u8,
}

impl Shape {
    /// A rectangle around a centre row, with its left column, cut at the edges of the screen.
    fn at(row: f64, left: f64, size: [f64; 2], class: u8) -> Shape {
        let top = (row - size[0] / 2.0).round();
        let cut =
            |from: f64, len: f64, n: usize| from.max(0.0) as usize..(((from + len).max(0.0)) as usize).min(n);
        Shape { rows: cut(top, size[0], ROWS), columns: cut(left.round(), size[1], COLUMNS), class }
    }

    /// Everything in a game that moves, the brightest last.
    pub(super) fn moving(game: &Game) -> impl Iterator<Item = Shape> + use<> {
        let paddle = |side: usize| Shape::at(game.paddles[side], PADDLES[side], PADDLE, SIDES[side]);
        let ball = game.ball.map(|b| Shape::at(b.row, b.column - BALL[1] / 2.0, BALL, BALL_ID));
        [paddle(0), paddle(1)].into_iter().chain(ball)
    }
}

/// Class ids of the whole screen, `[210, 160]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Screen {
    pub(super) classes: Vec<u8>,
}

impl Screen {
    /// The walls and the score, and nothing that moves.
    pub(super) fn still(points: [u32; 2]) -> Screen {
        let mut screen = Screen { classes: vec![FIELD_ID; ROWS * COLUMNS] };
        screen.redraw(points);
        screen
    }

    /// Draws walls and score anew.
    pub(super) fn redraw(&mut self, points: [u32; 2]) {
        self.classes.fill(FIELD_ID);
        for rows in [FIELD[0] as usize - 10..FIELD[0] as usize, FIELD[1] as usize..ROWS] {
            self.paint(&Shape { rows, columns: 0..COLUMNS, class: WALL });
        }
        for (side, &n) in points.iter().enumerate() {
            self.number(n, [24, 104][side], SIDES[side]);
        }
    }

    /// Paints a shape over what is there, unless that is brighter.
    pub(super) fn paint(&mut self, shape: &Shape) {
        for row in shape.rows.clone() {
            let line = &mut self.classes[row * COLUMNS..][shape.columns.clone()];
            line.iter_mut().for_each(|class| *class = shape.class.max(*class));
        }
    }

    /// Removes a shape; whatever moves is on the field.
    pub(super) fn erase(&mut self, shape: &Shape) {
        for row in shape.rows.clone() {
            self.classes[row * COLUMNS..][shape.columns.clone()].fill(FIELD_ID);
        }
    }

    /// A number of two digits, 20 px high, from a column on.
    fn number(&mut self, n: u32, column: usize, class: u8) {
        for (digit, left) in [(n / 10 % 10, column), (n % 10, column + 16)] {
            let pattern = if digit == 0 && left == column { 0 } else { DIGITS[digit as usize] };
            for dot in (0..15).filter(|i| pattern >> (14 - i) & 1 == 1) {
                let (top, left) = (2 + 4 * (dot / 3), left + 4 * (dot % 3));
                self.paint(&Shape { rows: top..top + 4, columns: left..left + 4, class });
            }
        }
    }

    /// The colours, `[210, 160, 3]`.
    pub(super) fn rgb(&self, out: &mut [u8]) {
        for (pixel, &class) in out.as_chunks_mut().0.iter_mut().zip(&self.classes) {
            *pixel = CLASSES[class as usize].1;
        }
    }

    /// Paints an image of any size, each pixel with what the screen shows at its centre.
    pub(super) fn show(&self, frame: &mut Frame) {
        for row in 0..frame.height {
            for column in 0..frame.width {
                let from = |i: usize, n: usize, screen: usize| (2 * i + 1) * screen / (2 * n);
                let class = self.classes
                    [from(row, frame.height, ROWS) * COLUMNS + from(column, frame.width, COLUMNS)];
                frame.paint(column, row, CLASSES[class as usize].1, class);
            }
        }
    }
}

/// Dots of the digits in five rows of three, the first dot in the highest of fifteen bits.
const DIGITS: [u16; 10] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_011_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_brightness() {
        let greys: Vec<u8> = (0..5).map(grey).collect();
        assert!(greys.is_sorted_by(|a, b| a < b), "{greys:?}");
        // Also colour by colour where things can overlap: the ball, and a paddle in two frames.
        assert!((0..4).all(|class| (0..3).all(|i| CLASSES[class].1[i] < CLASSES[4].1[i])));
    }

    #[test]
    fn what_is_painted_and_erased_leaves_nothing() {
        let game = Game::begun(&[100.0, 0.0, 60.0, 150.0]);
        let (mut screen, still) = (Screen::still([3, 21]), Screen::still([3, 21]));
        Shape::moving(&game).for_each(|s| screen.paint(&s));
        let count = |class| screen.classes.iter().filter(|&&c| c == class).count();
        assert_eq!(
            (count(4), count(1) + count(2) - 2 * 64),
            (8, still.classes.iter().filter(|c| [1, 2].contains(*c)).count())
        );
        Shape::moving(&game).for_each(|s| screen.erase(&s));
        assert_eq!(screen, still);
    }

    #[test]
    fn scores_can_be_told_apart() {
        let all: Vec<Screen> = (0..=21).map(|n| Screen::still([n, 0])).collect();
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "{i}");
        }
    }
}
