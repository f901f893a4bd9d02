//! Reaching four goals in space, one after the other.
//!
//! reward = (0 if d < 0.02 else −(1 + d)) − 0.1 |a|
//!
//! | symbol | meaning                                   | unit |
//! |--------|-------------------------------------------|------|
//! | d      | distance of the tool from the goal        | m    |
//! | a      | actions of the three axes `[3]`          | 1    |
//!
//! All four goals are in the initial condition, so a step draws no random number. A step is rewarded for the goal that
//! the policy saw; only then does the goal move or the next one take its place, and the new observation shows it.

use super::goals::{GoalSequence, reward};
use super::workcell::{CLASSES, Workcell};
use super::{card, distance};
use crate::env::DIVERGED;
use crate::env::mjc::delegate_to;
use offnominal_core::prelude::*;
use offnominal_rtde::ur3e::model;

pub(in super::super) const ENTRY: Entry<dyn Env> = Entry {
    id: "urm-reach",
    summary: "bring the tool of a UR3e to one goal after the other (MuJoCo)",
    build: |params| Ok(Box::new(Reach::new(params)?)),
    exempt: &[],
};

#[derive(Clone)]
struct Reach {
    cell: Workcell,
    goals: GoalSequence,
}

impl Reach {
    fn new(params: &serde_json::Value) -> Result<Reach, BuildError> {
        let cell = Workcell::build(&model::mjcf(), card::reach(&ENTRY), CLASSES, params)?;
        Ok(Reach { cell, goals: GoalSequence::default() })
    }

    fn distance(&self) -> f64 {
        distance(self.cell.tool(), self.cell.goal())
    }
}

impl Env for Reach {
    delegate_to!(cell);

    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        GoalSequence::draw(rng)
    }

    fn start(&mut self, x: &[f64], _: &mut Rng) {
        self.goals = GoalSequence::new(x);
        self.cell.start(self.goals.first(), |_| ());
    }

    fn observe(&self, obs: &mut [f32]) {
        assert_eq!(obs.len(), 9, "length of the observation");
        let numbers = [self.cell.tool(), self.cell.tool_velocity(), self.cell.goal()];
        obs.iter_mut().zip(numbers.as_flattened()).for_each(|(o, &n)| *o = n as f32);
    }

    fn step(&mut self, action: &[f32], _: &mut Rng) -> Step {
        assert_eq!(action.len(), 3, "length of the action");
        if self.cell.advance(action).is_err() {
            return DIVERGED;
        }
        let reward = reward(self.distance(), action);
        match self.goals.advance(self.distance()) {
            Some(next) => self.cell.set_goal(next),
            None => self.cell.move_goal(),
        }
        Step::running(reward)
    }

    fn goal_met(&self) -> Option<bool> {
        Some(self.goals.is_met(self.distance()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::goals::{GOALS, INTERVAL, is_near};
    use super::*;

    fn started(goals: [[f64; 3]; GOALS]) -> Reach {
        let mut world = Reach::new(&serde_json::json!({})).unwrap();
        world.start(goals.as_flattened(), &mut Rng::new(0));
        world
    }

    /// Two corners of the box that are farthest apart, in turn.
    const FAR: [[f64; 3]; GOALS] =
        [[0.15, 0.35, 0.1], [-0.25, 0.25, 0.2], [0.15, 0.25, 0.2], [-0.25, 0.35, 0.1]];

    /// The action that leads straight to the goal that is seen.
    fn straight(world: &Reach) -> [f32; 3] {
        let mut obs = [0.0; 9];
        world.observe(&mut obs);
        std::array::from_fn(|i| ((obs[6 + i] - obs[i]) / 0.02).clamp(-1.0, 1.0))
    }

    fn play(world: &mut Reach, steps: usize, policy: impl Fn(&Reach) -> [f32; 3]) -> f64 {
        (0..steps).map(|_| world.step(&policy(world), &mut Rng::new(0)).reward).sum()
    }

    #[test]
    fn the_farthest_goals_are_reached_in_time() {
        let mut world = started(FAR);
        for interval in 1..=GOALS {
            play(&mut world, INTERVAL - 1, straight);
            assert!(is_near(world.distance()), "goal {interval}: {} m", world.distance());
            play(&mut world, 1, straight);
            assert_eq!(world.goal_met(), Some(true), "after goal {interval}");
        }
    }

    #[test]
    fn a_goal_that_was_missed_is_not_forgiven() {
        let mut world = started(FAR);
        play(&mut world, INTERVAL, |_| [0.0; 3]);
        assert_eq!(world.goal_met(), Some(false));
        play(&mut world, 3 * INTERVAL, straight);
        assert_eq!(world.goal_met(), Some(false));
    }

    #[test]
    fn goals_change_after_their_interval_and_return_after_the_last() {
        let mut world = started(FAR);
        for (steps, goal) in [(49, 0), (1, 1), (50, 2), (99, 3), (1, 0)] {
            play(&mut world, steps, |_| [0.0; 3]);
            assert_eq!(world.cell.goal(), FAR[goal], "after {steps} steps more");
        }
    }

    #[test]
    fn rewards_are_those_of_the_formula() {
        let mut world = started(FAR);
        let reward = world.step(&[0.6, 0.0, -0.8], &mut Rng::new(0)).reward;
        assert!((reward + 1.0 + world.distance() + 0.1).abs() < 1e-6, "{reward}");
        let mut world = started([world.cell.tool(); GOALS]);
        let reward = world.step(&[0.0; 3], &mut Rng::new(0)).reward;
        assert_eq!(reward, 0.0);
    }

    #[test]
    fn a_moving_goal_moves_and_is_seen_to() {
        let mut world = started(FAR);
        world.set_parameter("moving-goal", 0.25).unwrap();
        let x = |w: &Reach| {
            let mut obs = [0.0; 9];
            w.observe(&mut obs);
            obs[6]
        };
        let before = x(&world);
        play(&mut world, 10, |_| [0.0; 3]);
        assert!((x(&world) - (before - 0.1)).abs() < 1e-5, "{} from {before}", x(&world));
    }
}
