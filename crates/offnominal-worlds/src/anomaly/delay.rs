//! Values that arrive late.
//!
//! x′ₜ = xₜ₋d; d is the magnitude, in whole steps; 0 is no delay. While fewer than d steps have passed since the episode
//! began, the first value is held. Values from before the onset count: the line is as long as it is.
//!
//! Reference: Anomaly-Gym (TMLR submission 7913), section 5.2, for actions.

use super::signal::*;

/// On observations.
pub const OBS: Listed = on_observation::<Delay>(Words {
    id: "obs-delay",
    summary: "readings that arrive some steps late",
    equation: "o′ₜ = oₜ₋d",
    imitates: "a slow camera or filter, a busy computer, a remote link",
    shows: "readings that lag behind the action: the residual of a dynamics model",
});

/// On actions.
pub const ACT: Listed = on_action::<Delay>(Words {
    id: "act-delay",
    summary: "actions that arrive some steps late",
    equation: "a′ₜ = aₜ₋d",
    imitates: "a slow bus, a busy computer, a remote link",
    shows: "answers that fit an earlier action: prediction over several steps, or from past actions",
});

recipe! {
    /// The recipe, and the line of each channel in which values wait.
    pub struct Delay {
        #[serde(skip)]
        lines: Vec<Line>,
    }
}

impl Operator for Delay {
    const NAME: &'static str = "delay";
    const DOMAIN: Domain = Domain::Whole;
    const REACH: &'static [Reach] = &[Reach::one(1.0, 50.0)];
    const MAGNITUDE: &'static str =
        "d, delay in whole steps; the first value is held until d steps have passed";
    const BY_DEGREES: bool = false;

    fn fit(&mut self, width: usize) {
        self.lines = vec![Line::new(self.magnitude as usize); width];
    }

    fn disturb(&mut self, At { channel, .. }: At, value: f64, _: &mut Rng) -> f64 {
        self.lines[channel].late(value)
    }

    fn watch(&mut self, channel: usize, value: f64) {
        self.lines[channel].late(value);
    }
}

/// The last d + 1 values as a ring.
#[derive(Debug, Clone)]
struct Line {
    values: Vec<f64>,
    /// Place of the oldest value, which the next one replaces.
    oldest: usize,
    has_begun: bool,
}

impl Line {
    fn new(delay: usize) -> Line {
        Line { values: vec![0.0; delay + 1], oldest: 0, has_begun: false }
    }

    /// Takes a value and returns the oldest.
    fn late(&mut self, value: f64) -> f64 {
        if !self.has_begun {
            self.values.fill(value);
            self.has_begun = true;
        }
        self.values[self.oldest] = value;
        self.oldest = (self.oldest + 1) % self.values.len();
        self.values[self.oldest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delay: usize, want: &[f64]) {
        let mut line = Line::new(delay);
        assert_eq!((1..=6).map(|t| line.late(f64::from(t))).collect::<Vec<_>>(), want);
    }

    #[test]
    fn values_come_out_late_and_the_first_is_held() {
        check(0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(1, &[1.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        check(4, &[1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    }
}
