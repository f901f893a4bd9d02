//! A player who follows the ball.
//!
//! It reads the newest image and nothing else: the mean row of what is not field between the paddles, and that of its
//! own paddle. One step moves the paddle by 4.8 rows of the image, so it moves if the ball is farther off than half of
//! that.

use super::frame_stack::SIDE;
use super::game::FIELD;
use super::screen::{COLUMNS, ROWS, grey};
use std::ops::Range;

/// Columns of the image between the two paddles.
const BETWEEN: Range<usize> = 12..72;
/// A column that is within the agent's paddle.
const PADDLE: Range<usize> = 74..75;
/// Difference from the field, in grey levels, that is a thing.
const THING: f32 = 12.0;
/// Distance of the ball that is followed, in rows.
const NEAR: f32 = 2.5;

/// Up if the ball is above the paddle, down if it is below, else nothing.
pub(crate) fn player(obs: &[f32], action: &mut [f32]) {
    let image = &obs[obs.len() - SIDE * SIDE..];
    let rows = [BETWEEN, PADDLE].map(|columns| mean_row(image, columns));
    action[0] = match rows {
        [Some(ball), Some(paddle)] if ball < paddle - NEAR => 1.0,
        [Some(ball), Some(paddle)] if ball > paddle + NEAR => 2.0,
        _ => 0.0,
    };
}

/// Mean row of what is not field in some columns, weighted by its brightness; nothing if there is nothing.
fn mean_row(image: &[f32], columns: Range<usize>) -> Option<f32> {
    let (field, first) = (f32::from(grey(0)), (FIELD[0] as usize * SIDE).div_ceil(ROWS));
    let last = FIELD[1] as usize * SIDE / ROWS;
    let (mut sum, mut weight) = (0.0, 0.0);
    for row in first..last {
        let line = &image[row * SIDE..][columns.clone()];
        let here: f32 = line.iter().map(|v| v - field).filter(|&v| v > THING).sum();
        (sum, weight) = (sum + here * row as f32, weight + here);
    }
    (weight > 0.0).then(|| sum / weight)
}

// The columns above are those of the image, not of the screen.
const _: () = assert!(COLUMNS > SIDE && PADDLE.end <= SIDE);

#[cfg(test)]
mod tests {
    use super::super::frame_stack::FrameStack;
    use super::super::game::Game;
    use super::*;

    fn choice(ball: f64, paddle: f64) -> f32 {
        let (mut frames, mut obs, mut action) = (FrameStack::new(), vec![0.0; 4 * SIDE * SIDE], [9.0]);
        let game = Game::begun(&[ball, 0.2, 60.0, paddle]);
        frames.look([&game, &game]);
        frames.fill();
        frames.write(&mut obs);
        player(&obs, &mut action);
        action[0]
    }

    #[test]
    fn the_ball_is_followed() {
        assert_eq!([choice(60.0, 120.0), choice(150.0, 60.0), choice(101.0, 100.0)], [1.0, 2.0, 0.0]);
    }
}
