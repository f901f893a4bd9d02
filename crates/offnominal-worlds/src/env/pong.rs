//! Pong, seen as images: two paddles, a ball, 21 points.
//!
//! The agent has the right paddle; the left one follows the ball, but not faster than it can. The policy sees the screen
//! as agents of the Arcade Learning Environment do: every fourth frame, grey, 84 × 84, four of them.
//!
//! Cost: a step redraws and averages only what moved; 4 × 84 × 84 numbers are written per observation.
//! Reference: Mohammed and Valdenegro-Toro, "Benchmark for Out-of-Distribution Detection in Deep Reinforcement Learning"
//! (2021), and Mnih et al., Nature 518 (2015), for what is seen. Deviates: see the `source` of the specification.

mod card;
mod corruptions;
mod frame_stack;
mod game;
mod player;
mod screen;

use corruptions::Corruptions;
use frame_stack::FrameStack;
use game::{Game, Rules};
use offnominal_core::prelude::*;
pub(crate) use player::player;
use screen::{Screen, Shape};
use std::sync::Arc;

pub(super) const ENTRY: Entry<dyn Env> = Entry {
    id: "pong",
    summary: "win 21 points of Pong, seen as images (re-implemented)",
    build: |params| {
        super::no_options(params)?;
        Ok(Box::new(Pong::new()))
    },
    exempt: &[],
};

/// Frames per step.
const SKIP: usize = 4;

/// One game.
#[derive(Clone)]
struct Pong {
    spec: Arc<EnvSpec>,
    rules: Rules,
    game: Game,
    frames: FrameStack,
    corruptions: Corruptions,
}

impl Pong {
    fn new() -> Pong {
        let game = Game::begun(&[104.0, 0.0, 104.0, 104.0]);
        let (rules, frames, corruptions) = (Rules::default(), FrameStack::new(), Corruptions::default());
        Pong { spec: Arc::new(card::spec()), rules, game, frames, corruptions }
    }

    /// Looks at two successive frames, through the corruptions.
    fn look(&mut self, before: &Game) {
        self.frames.look([before, &self.game]);
        if self.corruptions.is_active() {
            self.corruptions.corrupt(&mut self.frames);
        }
    }

    fn status(&self) -> Status {
        match self.game.winner() {
            None => Status::Running,
            Some(true) => Status::Succeeded,
            Some(false) => Status::Failed,
        }
    }
}

impl Env for Pong {
    spec_and_fork!();

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let [row, direction] = Game::serve(rng);
        vec![row, direction, Game::row(rng), Game::row(rng)]
    }

    fn start(&mut self, x: &[f64], rng: &mut Rng) {
        assert_eq!(x.len(), self.spec.initial.len(), "{}: length of the initial condition", self.spec.id);
        self.game = Game::begun(x);
        self.corruptions.start(rng);
        let game = self.game.clone();
        self.look(&game);
        self.frames.fill();
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), self.spec.obs_width(), "{}: length of the observation", self.spec.id);
        self.frames.write(obs);
    }

    fn step(&mut self, action: &[f32], rng: &mut Rng) -> Step {
        let &[only] = action else { panic!("{}: expected 1 action, found {}", self.spec.id, action.len()) };
        let Some(choice) = self.spec.action[0].chosen(only) else {
            return super::DIVERGED;
        };
        let (mut reward, mut before) = (0.0, self.game.clone());
        for _ in 0..SKIP {
            before.clone_from(&self.game);
            reward += self.game.frame([0.0, -1.0, 1.0][choice], &self.rules, rng);
        }
        self.look(&before);
        self.frames.push();
        Step { reward, status: self.status() }
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.game.points[1] > self.game.points[0])
    }

    fn parameter(&self, name: &str) -> Option<f64> {
        Some(match name {
            "ball-speed" => self.rules.ball_speed,
            "opponent-speed" => self.rules.opponent_speed,
            "paddle-speed" => self.rules.paddle_speed,
            _ => return self.corruptions.get(name),
        })
    }

    fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), ParameterError> {
        self.spec.check(name, value)?;
        match name {
            "ball-speed" => self.rules.ball_speed = value,
            "opponent-speed" => self.rules.opponent_speed = value,
            "paddle-speed" => self.rules.paddle_speed = value,
            _ => {
                assert!(
                    self.corruptions.set(name, value),
                    "the specification lists only the parameters above"
                );
                self.frames.restore();
            }
        }
        Ok(())
    }

    fn render(&mut self, _: Camera, frame: &mut Frame) {
        let mut screen = Screen::still(self.game.points);
        Shape::moving(&self.game).for_each(|shape| screen.paint(&shape));
        screen.show(frame);
    }
}
