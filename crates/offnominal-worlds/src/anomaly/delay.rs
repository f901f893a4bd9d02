//! Actions that arrive late.
//!
//! a′ₜ = aₜ₋d; d is the magnitude, in whole steps; 0 is no delay. While fewer than d steps have passed since the
//! episode began, the first action is held. Actions given before the onset count: the line is as long as it is.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2.

use super::Listed;
use super::kind::{AnomalyKind, Class, Domain, Reach};
use super::signal::check_magnitude;
use offnominal_core::anomaly::AnomalyError;
use offnominal_core::prelude::*;
use serde::Deserialize;

const ID: &str = "act-delay";

/// On actions.
pub const ACT: Listed = Listed {
    entry: entry!(Delay as dyn Anomaly, "act-delay", "actions that arrive some steps late"),
    kind: AnomalyKind {
        class: Class::Action,
        domain: Domain::Whole,
        neutral: 0.0,
        reach: &[Reach::one(1.0, 50.0)],
        equation: "a′ₜ = aₜ₋d",
        magnitude: "d, delay in whole steps; the first action is held until d steps have passed",
        imitates: "a slow bus, a busy computer, a remote link",
        shows: "answers that fit an earlier action: prediction over several steps, or from past actions",
    },
};

/// The recipe, and the line in which actions wait.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    magnitude: f64,
    #[serde(default)]
    channels: Channels,
    #[serde(skip)]
    chosen: Chosen,
    #[serde(skip)]
    line: Line,
}

impl Anomaly for Delay {
    fn fit(&mut self, spec: &EnvSpec) -> Result<(), AnomalyError> {
        check_magnitude(ID, Domain::Whole, self.magnitude)?;
        self.chosen = Chosen::of(&self.channels, &spec.id, "action", &spec.action)?;
        self.line = Line::new(self.magnitude as usize, spec.action.len());
        Ok(())
    }

    fn begin(&mut self, _: &mut dyn Env, rng: &mut Rng) {
        self.chosen.draw(rng);
    }

    fn on_action(&mut self, action: &mut [f32], _: &mut Rng) {
        self.line.push(action);
        let late = self.line.oldest();
        self.chosen.iter().for_each(|i| action[i] = late[i]);
    }

    fn watch(&mut self, action: &[f32]) {
        self.line.push(action);
    }
}

/// The last d + 1 actions, `[d + 1, width]`, as a ring.
#[derive(Debug, Default)]
struct Line {
    actions: Vec<f32>,
    width: usize,
    /// Row of the oldest action, which the next one replaces.
    oldest: usize,
    has_begun: bool,
}

impl Line {
    fn new(delay: usize, width: usize) -> Line {
        Line { actions: vec![0.0; (delay + 1) * width], width, oldest: 0, has_begun: false }
    }

    fn push(&mut self, action: &[f32]) {
        if !self.has_begun {
            self.actions.chunks_exact_mut(self.width).for_each(|row| row.copy_from_slice(action));
            self.has_begun = true;
        }
        let at = self.oldest * self.width;
        self.actions[at..at + self.width].copy_from_slice(action);
        self.oldest = (self.oldest + 1) % (self.actions.len() / self.width);
    }

    fn oldest(&self) -> &[f32] {
        &self.actions[self.oldest * self.width..][..self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delay: usize, want: &[f32]) {
        let mut line = Line::new(delay, 1);
        let late = |t: usize| {
            line.push(&[t as f32]);
            line.oldest()[0]
        };
        assert_eq!((1..=6).map(late).collect::<Vec<_>>(), want);
    }

    #[test]
    fn actions_come_out_late_and_the_first_is_held() {
        check(0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(1, &[1.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        check(4, &[1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    }
}
