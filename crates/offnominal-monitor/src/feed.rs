//! From numbers as they come, some of them missing, to steps without gaps.
//!
//! A number that is infinite or not a number is *missing*: it was not read. In its place stands what the monitor expects
//! given all that was read, held within what is usual for the channel, or, of a monitor that expects nothing, the last one
//! that was read. Where a number of the action is missing nothing can be said of the step, so that all of the observation
//! after it counts as missing.

use offnominal_core::detector::{Scorer, Signals};
use offnominal_core::partial::{Gaps, Partial, PartialScore};
use offnominal_core::transition::Transition;

/// The present step of an episode.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    /// The last observation without gaps, and which of its numbers were not read.
    obs: Vec<f32>,
    missing: Vec<bool>,
    /// Observations in a row without the number.
    ages: Vec<u32>,
    /// The action that followed it, and whether all of it was read.
    action: Vec<f32>,
    is_action_known: bool,
    /// The observation after it.
    next: Vec<f32>,
    next_missing: Vec<bool>,
    /// Those whose change cannot be judged.
    unjudged: Vec<bool>,
    usual: Vec<[f32; 2]>,
}

impl Feed {
    /// Before the first observation. `usual` says where the numbers of an observation lie; it may be empty.
    pub fn new([obs, act]: [usize; 2], usual: &[[f32; 2]]) -> Feed {
        let ([a, b], [c, d, e]) = ([(); 2].map(|()| vec![0.0; obs]), [(); 3].map(|()| vec![false; obs]));
        Feed {
            obs: a,
            missing: c,
            ages: vec![0; obs],
            action: vec![0.0; act],
            is_action_known: true,
            next: b,
            next_missing: d,
            unjudged: e,
            usual: usual.to_vec(),
        }
    }

    /// The first observation of an episode. What it lacks stands in the middle of what is usual.
    pub fn first(&mut self, obs: &[f32]) {
        for (j, &x) in obs.iter().enumerate() {
            self.missing[j] = !x.is_finite();
            self.ages[j] = u32::from(self.missing[j]);
            let middle = self.usual.get(j).map_or(0.0, |[low, high]| 0.5 * low + 0.5 * high);
            self.obs[j] = if x.is_finite() { x } else { middle };
        }
        self.action.fill(0.0);
    }

    /// The same observation once more: what it now has is no longer missing.
    pub fn again(&mut self, obs: &[f32]) {
        for (j, &x) in obs.iter().enumerate().filter(|(_, x)| x.is_finite()) {
            (self.obs[j], self.missing[j], self.ages[j]) = (x, false, 0);
        }
    }

    /// The action that follows the observation. What it lacks stays as it was.
    pub fn act(&mut self, action: &[f32]) {
        self.is_action_known = action.iter().all(|x| x.is_finite());
        let known = self.action.iter_mut().zip(action).filter(|(_, x)| x.is_finite());
        known.for_each(|(held, x)| *held = *x);
    }

    /// Scores the step that ends with an observation; whoever else looks at it does so before [`Feed::advance`].
    pub fn score(&mut self, next_obs: &[f32], scorer: &mut dyn Scorer) -> PartialScore {
        for (missing, x) in self.next_missing.iter_mut().zip(next_obs) {
            *missing = !x.is_finite();
        }
        self.next.copy_from_slice(next_obs);
        self.unjudged.copy_from_slice(&self.next_missing);
        if !self.is_action_known {
            self.unjudged.fill(true);
        }
        if self.step().is_whole() {
            return PartialScore { score: scorer.score(&self.step().seen), confidence: 1.0 };
        }
        self.fill(next_obs, scorer);
        scorer.score_partial(&self.step())
    }

    /// The step that was scored last.
    pub fn step(&self) -> Partial<'_> {
        Partial {
            seen: Transition { obs: &self.obs, action: &self.action, next_obs: &self.next },
            missing_before: &self.missing,
            missing_after: &self.unjudged,
        }
    }

    /// The observation after the step becomes that before the next one.
    pub fn advance(&mut self) {
        std::mem::swap(&mut self.obs, &mut self.next);
        std::mem::swap(&mut self.missing, &mut self.next_missing);
        for (age, missing) in self.ages.iter_mut().zip(&self.missing) {
            *age = if *missing { age.saturating_add(1) } else { 0 };
        }
    }

    /// The last observation without gaps.
    pub fn obs(&self) -> &[f32] {
        &self.obs
    }

    /// Which of its numbers were not read.
    pub fn missing(&self) -> &[bool] {
        &self.missing
    }

    /// Observations in a row, up to the last, without each number.
    pub fn ages(&self) -> &[u32] {
        &self.ages
    }

    fn fill(&mut self, next_obs: &[f32], scorer: &mut dyn Scorer) {
        let held = |j: usize, obs: &[f32]| if next_obs[j].is_finite() { next_obs[j] } else { obs[j] };
        (0..next_obs.len()).for_each(|j| self.next[j] = held(j, &self.obs));
        scorer.fill(&mut Gaps {
            obs: &mut self.obs,
            missing_before: &self.missing,
            action: &self.action,
            next_obs: &mut self.next,
            missing_after: &self.unjudged,
        });
        for (j, &x) in next_obs.iter().enumerate() {
            self.next[j] = if x.is_finite() { x } else { self.plausible(j, self.next[j]) };
            if self.missing[j] {
                self.obs[j] = self.plausible(j, self.obs[j]);
            }
        }
    }

    /// What is expected of a channel, held within three times the width of what is usual.
    fn plausible(&self, j: usize, expected: f32) -> f32 {
        let Some([low, high]) = self.usual.get(j) else {
            return if expected.is_finite() { expected } else { 0.0 };
        };
        let width = high - low;
        let expected = if expected.is_nan() { 0.5 * low + 0.5 * high } else { expected };
        expected.clamp((low - width).max(f32::MIN), (high + width).min(f32::MAX))
    }
}

/// Scores an episode, in which numbers may be missing, as a monitor at work would.
///
/// `usual` is that of [`crate::About::usual`].
pub fn score_episode(scorer: &mut dyn Scorer, usual: &[[f32; 2]], episode: &Signals<'_>) -> Vec<f64> {
    let mut scores = Vec::with_capacity(episode.len());
    let is_whole = episode.observations().iter().chain(episode.actions()).all(|x| x.is_finite());
    if is_whole {
        scorer.score_episode(episode, &mut scores);
        return scores;
    }
    let mut feed = Feed::new([episode.obs_width(), episode.act_width()], usual);
    scorer.reset();
    feed.first(&episode.observations()[..episode.obs_width()]);
    for seen in episode.transitions() {
        feed.act(seen.action);
        scores.push(feed.score(seen.next_obs, scorer).score);
        feed.advance();
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observations before and after a step, and what of them was missing.
    type Told = (Vec<f32>, Vec<f32>, Vec<bool>, Vec<bool>);

    /// Expects that each number grows by the action, and keeps what it is told.
    #[derive(Clone, Default)]
    struct Growing {
        told: Vec<Told>,
    }

    impl Scorer for Growing {
        fn reset(&mut self) {}

        fn score(&mut self, _: &Transition<'_>) -> f64 {
            -1.0
        }

        fn fill(&mut self, gaps: &mut Gaps<'_>) {
            let expected = gaps.next_obs.iter_mut().zip(&*gaps.obs);
            expected.for_each(|(next, x)| *next = x + gaps.action[0]);
        }

        fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
            let Partial { seen, missing_before, missing_after } = *step;
            let told =
                (seen.obs.to_vec(), seen.next_obs.to_vec(), missing_before.to_vec(), missing_after.to_vec());
            self.told.push(told);
            PartialScore { score: 0.0, confidence: 0.5 }
        }
    }

    const NAN: f32 = f32::NAN;

    #[test]
    fn gaps_hold_what_is_expected_and_are_told_before_and_after() {
        let (mut feed, mut scorer) = (Feed::new([2, 1], &[[0.0, 10.0], [0.0, 1.0]]), Growing::default());
        feed.first(&[NAN, 0.5]);
        assert_eq!((feed.obs(), feed.ages()), (&[5.0, 0.5][..], &[1, 0][..]));
        feed.act(&[1.0]);
        feed.score(&[NAN, f32::INFINITY], &mut scorer);
        feed.advance();
        assert_eq!(feed.ages(), [2, 1]);
        feed.act(&[9.0]);
        feed.score(&[7.0, NAN], &mut scorer);
        let wants = [
            (vec![5.0, 0.5], vec![6.0, 1.5], vec![true, false], vec![true, true]),
            // The second is held within three widths of what is usual.
            (vec![6.0, 1.5], vec![7.0, 2.0], vec![true, true], vec![false, true]),
        ];
        assert_eq!(scorer.told, wants);
    }

    #[test]
    fn a_step_whose_action_is_not_known_says_nothing() {
        let (mut feed, mut scorer) = (Feed::new([1, 1], &[]), Growing::default());
        feed.first(&[0.0]);
        feed.act(&[2.0]);
        assert_eq!(feed.score(&[2.0], &mut scorer), PartialScore { score: -1.0, confidence: 1.0 });
        feed.advance();
        feed.act(&[NAN]);
        feed.score(&[3.0], &mut scorer);
        assert_eq!(scorer.told, [(vec![2.0], vec![3.0], vec![false], vec![true])]);
        assert_eq!(feed.step().seen.action, [2.0], "the last one that was read");
        feed.advance();
        assert_eq!(feed.ages(), [0], "the observation was read");
    }

    #[test]
    fn what_comes_with_the_next_transition_is_no_longer_missing() {
        let mut feed = Feed::new([2, 0], &[]);
        feed.first(&[NAN, 1.0]);
        feed.again(&[4.0, NAN]);
        assert_eq!(
            (feed.obs(), feed.missing(), feed.ages()),
            (&[4.0, 1.0][..], &[false, false][..], &[0, 0][..])
        );
    }

    #[test]
    fn an_episode_without_gaps_is_scored_as_ever() {
        let episode = |obs: &'static [f32]| Signals::new(obs, &[0.0; 2], 1, 1);
        let scores = |obs| score_episode(&mut Growing::default(), &[], &episode(obs));
        assert_eq!(scores(&[0.0, 1.0, 2.0]), [-1.0; 2]);
        assert_eq!(scores(&[0.0, NAN, 2.0]), [0.0; 2]);
        assert_eq!(scores(&[0.0, 1.0, NAN]), [-1.0, 0.0]);
    }
}
