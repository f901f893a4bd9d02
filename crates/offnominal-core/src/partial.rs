//! Steps of which some numbers were not read: a sensor was late, silent, or delivered no number.
//!
//! Whoever feeds a monitor has the gaps filled, so that a monitor only ever scores numbers; and it says which they are, so
//! that a monitor that can do so leaves them out.

use crate::transition::Transition;
use serde::{Deserialize, Serialize};

/// What a monitor does about a number that was not read, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It is left out of the score: the score is that of the numbers that were read.
    LeftOut,
    /// It is replaced by what the monitor predicts, so that it says nothing.
    Predicted,
    /// It is replaced by the last one that was read.
    Held,
}

/// A step whose gaps are to be filled. Where a number was not read stands what is known so far: what was filled in before,
/// or the last number that was read.
#[derive(Debug)]
pub struct Gaps<'a> {
    /// The observation before the step; its gaps may be filled once more, in the light of what was read after it.
    pub obs: &'a mut [f32],
    /// Which of its numbers were not read.
    pub missing_before: &'a [bool],
    /// The action.
    pub action: &'a [f32],
    /// The observation after the step. What is written where a number was read does not count.
    pub next_obs: &'a mut [f32],
    /// Which of its numbers were not read, or say nothing because the action is not known.
    pub missing_after: &'a [bool],
}

impl Gaps<'_> {
    /// The step as it is filled now.
    pub fn seen(&self) -> Transition<'_> {
        Transition { obs: self.obs, action: self.action, next_obs: self.next_obs }
    }
}

/// A step whose gaps were filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Partial<'a> {
    /// The step, without gaps.
    pub seen: Transition<'a>,
    /// Which numbers of the observation before the step were not read; as many as there are.
    pub missing_before: &'a [bool],
    /// Which numbers of the observation after it were not read, or say nothing because the action is not known.
    pub missing_after: &'a [bool],
}

impl Partial<'_> {
    /// Whether there was no gap.
    pub fn is_whole(&self) -> bool {
        !self.missing_before.contains(&true) && !self.missing_after.contains(&true)
    }

    /// Share of the numbers of the observation after the step that were read.
    pub fn share_read(&self) -> f64 {
        let read = self.missing_after.iter().filter(|missing| !**missing).count();
        read as f64 / self.missing_after.len().max(1) as f64
    }
}

/// The score of a step whose gaps were filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartialScore {
    /// As [`crate::detector::Scorer::score`].
    pub score: f64,
    /// Share of what the monitor compares that was read: 1 without a gap, 0 if the score says nothing.
    pub confidence: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_whole_if_everything_was_read() {
        let seen = Transition { obs: &[0.0; 4], action: &[], next_obs: &[0.0; 4] };
        let step = |missing_before, missing_after| Partial { seen, missing_before, missing_after };
        let (read, gap) = ([false; 4], [false, true, false, false]);
        assert!(
            step(&read, &read).is_whole() && !step(&gap, &read).is_whole() && !step(&read, &gap).is_whole()
        );
        assert_eq!((step(&gap, &read).share_read(), step(&read, &gap).share_read()), (1.0, 0.75));
    }
}
