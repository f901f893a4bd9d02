//! The rules: two paddles, a ball that is hit faster and faster, and points.
//!
//! Lengths are pixels of a screen of 210 × 160, the clock is its frame (60 per second).

use offnominal_core::Rng;

/// Rows of the field, between the walls.
pub(super) const FIELD: [f64; 2] = [34.0, 194.0];
/// Height and width of a paddle, and of the ball.
pub(super) const PADDLE: [f64; 2] = [16.0, 4.0];
pub(super) const BALL: [f64; 2] = [4.0, 2.0];
/// Left column of the opponent's and of the agent's paddle.
pub(super) const PADDLES: [f64; 2] = [16.0, 140.0];
/// Points that win the game.
pub(super) const GOAL: u32 = 21;

/// Columns per second of screen width that the ball begins with, and the most it reaches, in pixels per frame.
const BALL_SPEED: [f64; 2] = [2.0, 4.0];
/// Growth of the ball's speed with every hit.
const SPEED_UP: f64 = 1.06;
/// Steepest flight after a hit with the end of a paddle.
const STEEPEST_RAD: f64 = 0.9;
/// Frames between a point and the next serve.
const PAUSE: u32 = 24;

offnominal_core::with_defaults! {
    /// What can be changed about the game.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Rules {
        /// Factor on the speed of the ball.
        pub(super) ball_speed: f64 = 1.0,
        /// Fastest movement of the opponent's paddle, px per frame.
        pub(super) opponent_speed: f64 = 1.6,
        /// Movement of the agent's paddle, px per frame.
        pub(super) paddle_speed: f64 = 3.0,
    }
}

/// The ball: its centre, its speed, and its direction (rad from the rows; 0 = to the right, positive = down).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ball {
    pub(super) row: f64,
    pub(super) column: f64,
    speed: f64,
    direction: f64,
}

/// A game in progress. Of pairs, the opponent's comes first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Game {
    /// `None` between a point and the next serve.
    pub(super) ball: Option<Ball>,
    /// Centre rows of the paddles.
    pub(super) paddles: [f64; 2],
    pub(super) points: [u32; 2],
    pause: u32,
}

impl Game {
    /// A game that begins with a serve: row and direction of the ball, and rows of the two paddles.
    pub(super) fn begun(x: &[f64]) -> Game {
        let ball = Ball { row: x[0], column: 80.0, speed: BALL_SPEED[0], direction: x[1] };
        Game { ball: Some(ball), paddles: [x[2], x[3]], points: [0, 0], pause: 0 }
    }

    /// Draws a serve: row and direction.
    pub(super) fn serve(rng: &mut Rng) -> [f64; 2] {
        let slope = rng.range(-0.7, 0.7);
        let to_the_left = rng.below(2) == 1;
        let direction = if to_the_left { std::f64::consts::PI - slope } else { slope };
        [rng.range(FIELD[0] + 20.0, FIELD[1] - 20.0), direction]
    }

    /// Draws a row for a paddle.
    pub(super) fn row(rng: &mut Rng) -> f64 {
        rng.range(FIELD[0] + PADDLE[0] / 2.0, FIELD[1] - PADDLE[0] / 2.0)
    }

    /// One frame, with the agent's paddle moving up (−1), down (1) or not; the point that was made, +1 for the agent.
    pub(super) fn frame(&mut self, agent: f64, rules: &Rules, rng: &mut Rng) -> f64 {
        self.paddles[1] = kept(self.paddles[1] + agent * rules.paddle_speed);
        let Some(ball) = self.ball else {
            self.wait(rng);
            return 0.0;
        };
        let toward = ball.row - self.paddles[0];
        self.paddles[0] = kept(self.paddles[0] + toward.clamp(-rules.opponent_speed, rules.opponent_speed));
        let moved = self.fly(ball, rules);
        let point = if moved.column < 0.0 { 1.0 } else { -1.0 };
        if (0.0..160.0).contains(&moved.column) {
            self.ball = Some(moved);
            return 0.0;
        }
        self.points[usize::from(point > 0.0)] += 1;
        (self.ball, self.pause) = (None, PAUSE);
        point
    }

    fn wait(&mut self, rng: &mut Rng) {
        self.pause = self.pause.saturating_sub(1);
        if self.pause == 0 {
            let [row, direction] = Game::serve(rng);
            self.ball = Some(Ball { row, column: 80.0, speed: BALL_SPEED[0], direction });
        }
    }

    /// Where the ball is a frame later, walls and paddles met on the way.
    fn fly(&self, ball: Ball, rules: &Rules) -> Ball {
        let (sin, cos) = ball.direction.sin_cos();
        let way = ball.speed * rules.ball_speed;
        let mut after = Ball { row: ball.row + way * sin, column: ball.column + way * cos, ..ball };
        after.bounce_off_walls();
        for (side, &paddle) in self.paddles.iter().enumerate() {
            after.meet(&ball, side, paddle);
        }
        after
    }

    /// Who has won, if anybody: `true` if the agent.
    pub(super) fn winner(&self) -> Option<bool> {
        self.points.iter().position(|&p| p >= GOAL).map(|side| side == 1)
    }
}

/// A paddle's row kept within the field.
fn kept(row: f64) -> f64 {
    row.clamp(FIELD[0] + PADDLE[0] / 2.0, FIELD[1] - PADDLE[0] / 2.0)
}

impl Ball {
    fn bounce_off_walls(&mut self) {
        let (top, bottom) = (FIELD[0] + BALL[0] / 2.0, FIELD[1] - BALL[0] / 2.0);
        let is_upwards = self.direction.sin() < 0.0;
        if self.row < top && is_upwards || self.row > bottom && !is_upwards {
            self.direction = -self.direction;
        }
        // A ball so fast that it would leave the field in one frame stays at the wall.
        self.row = (if self.row < top { 2.0 * top - self.row } else { self.row })
            .min(2.0 * bottom - self.row)
            .clamp(top, bottom);
    }

    /// The ball passed the face of a paddle: where it met the paddle, it flies back, steeper the farther from the middle.
    fn meet(&mut self, before: &Ball, side: usize, paddle: f64) {
        let face = if side == 0 { PADDLES[0] + PADDLE[1] } else { PADDLES[1] };
        let passed = if side == 0 {
            before.column >= face && self.column < face
        } else {
            before.column <= face && self.column > face
        };
        let share = (face - before.column) / (self.column - before.column);
        let off = before.row + share * (self.row - before.row) - paddle;
        let reach = (PADDLE[0] + BALL[0]) / 2.0;
        if !passed || off.abs() > reach {
            return;
        }
        let slope = STEEPEST_RAD * off / reach;
        self.direction = if side == 0 { slope } else { std::f64::consts::PI - slope };
        self.speed = (self.speed * SPEED_UP).min(BALL_SPEED[1]);
        self.column = 2.0 * face - self.column;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flying(row: f64, direction: f64, paddles: [f64; 2]) -> Game {
        Game::begun(&[row, direction, paddles[0], paddles[1]])
    }

    /// Plays until the ball is lost or `frames` have passed; the sum of points and the largest speed.
    fn play(game: &mut Game, frames: usize, rules: &Rules) -> (f64, f64) {
        let (mut points, mut fastest, mut rng) = (0.0, 0.0_f64, Rng::new(1));
        for _ in 0..frames {
            points += game.frame(0.0, rules, &mut rng);
            fastest = game.ball.map_or(fastest, |b| fastest.max(b.speed));
        }
        (points, fastest)
    }

    #[test]
    fn a_ball_that_nobody_meets_is_a_point() {
        let still = Rules { opponent_speed: 0.0, ..Rules::default() };
        // 80 px at 2 px per frame, and the paddles are far away.
        assert_eq!(play(&mut flying(180.0, 0.0, [50.0, 50.0]), 39, &still).0, 0.0);
        assert_eq!(play(&mut flying(180.0, 0.0, [50.0, 50.0]), 41, &still).0, -1.0);
        assert_eq!(play(&mut flying(180.0, std::f64::consts::PI, [50.0, 50.0]), 42, &still).0, 1.0);
    }

    #[test]
    fn hits_make_the_ball_faster_up_to_a_limit() {
        let still = Rules { opponent_speed: 0.0, ..Rules::default() };
        let mut game = flying(100.0, 0.0, [100.0, 100.0]);
        let (points, once) = play(&mut game, 35, &still);
        assert_eq!((points, once), (0.0, 2.0 * SPEED_UP));
        assert_eq!(
            play(&mut game, 2000, &still),
            (0.0, 4.0),
            "a straight ball between two centred paddles never ends"
        );
    }

    #[test]
    fn a_hit_off_the_middle_is_steep_and_walls_turn_it_back() {
        let still = Rules { opponent_speed: 0.0, ..Rules::default() };
        let mut game = flying(105.0, 0.0, [100.0, 100.0]);
        play(&mut game, 35, &still);
        let direction = game.ball.unwrap().direction;
        assert!((direction - (std::f64::consts::PI - STEEPEST_RAD * 0.5)).abs() < 1e-12, "{direction}");
        for _ in 0..500 {
            game.frame(0.0, &Rules { ball_speed: 30.0, ..still }, &mut Rng::new(0));
            assert!(game.ball.is_none_or(|b| (FIELD[0]..=FIELD[1]).contains(&b.row)), "{game:?}");
        }
    }

    #[test]
    fn a_fast_ball_does_not_fly_through_a_paddle() {
        let fast = Rules { ball_speed: 8.0, opponent_speed: 0.0, ..Rules::default() };
        assert_eq!(play(&mut flying(100.0, 0.0, [100.0, 100.0]), 100, &fast).0, 0.0);
    }

    #[test]
    fn a_slow_opponent_loses_and_a_game_has_a_winner() {
        let slow = Rules { opponent_speed: 0.2, ..Rules::default() };
        let (mut game, mut rng) = (flying(60.0, 0.3, [100.0, 100.0]), Rng::new(4));
        while game.winner().is_none() {
            // A player who follows the ball.
            let toward = game.ball.map_or(0.0, |b| b.row - game.paddles[1]);
            game.frame(if toward.abs() > 3.0 { toward.signum() } else { 0.0 }, &slow, &mut rng);
        }
        assert_eq!((game.winner(), game.points[1]), (Some(true), GOAL));
        assert!(game.points[0] < 5, "{:?}", game.points);
    }
}
