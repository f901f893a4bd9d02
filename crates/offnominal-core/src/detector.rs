//! What scores: a detector is fitted on nominal episodes and becomes a scorer of one transition after another.
//!
//! Unfitted and fitted are different types, so there is no "call fit first" error. A detector sees [`Signals`] and a
//! scorer sees [`Transition`]s: neither reward nor label nor clock can be reached from them.

use crate::Rng;
use crate::archive::{ArchiveError, Reader, Writer};
use crate::evidence::Evidence;
use crate::fit_progress::{FitProgress, Stopped};
use crate::partial::{Gaps, Missing, Partial, PartialScore};
use crate::policy::Policy;
use crate::samples::SamplesError;
use crate::transition::Transition;

/// The observations and actions of one episode of T steps; before its channels are brought to single precision, of another
/// type of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signals<'a, X = f32> {
    observations: &'a [X],
    actions: &'a [X],
    obs_width: usize,
    act_width: usize,
}

impl<'a, X: Copy> Signals<'a, X> {
    /// Views `[T + 1, obs_width]` observations and `[T, act_width]` actions as an episode. Recordings may have no actions:
    /// then `act_width` is zero.
    ///
    /// # Panics
    /// If the lengths do not fit together, or there is no observation.
    pub fn new(observations: &'a [X], actions: &'a [X], obs_width: usize, act_width: usize) -> Self {
        assert!(obs_width > 0, "an episode needs at least one observation channel");
        let rows = observations.len() / obs_width;
        assert!(rows > 0 && observations.len() == rows * obs_width, "observations do not fill whole rows");
        assert_eq!(actions.len(), (rows - 1) * act_width, "expected one more observation than actions");
        Signals { observations, actions, obs_width, act_width }
    }

    /// Number of steps T.
    pub fn len(&self) -> usize {
        self.observations.len() / self.obs_width - 1
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers per observation.
    pub fn obs_width(&self) -> usize {
        self.obs_width
    }

    /// Numbers per action.
    pub fn act_width(&self) -> usize {
        self.act_width
    }

    /// All observations, `[T + 1, obs_width]`.
    pub fn observations(&self) -> &'a [X] {
        self.observations
    }

    /// All actions, `[T, act_width]`.
    pub fn actions(&self) -> &'a [X] {
        self.actions
    }

    /// The first `steps` steps.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn until(&self, steps: usize) -> Signals<'a, X> {
        Signals {
            observations: &self.observations[..(steps + 1) * self.obs_width],
            actions: &self.actions[..steps * self.act_width],
            ..*self
        }
    }

    /// The steps from `step` on.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn from(&self, step: usize) -> Signals<'a, X> {
        Signals {
            observations: &self.observations[step * self.obs_width..],
            actions: &self.actions[step * self.act_width..],
            ..*self
        }
    }

    /// The transition of step `t`.
    ///
    /// # Panics
    /// If `t` is not below `len()`.
    pub fn transition(&self, t: usize) -> Transition<'a, X> {
        let row = |t: usize| &self.observations[t * self.obs_width..(t + 1) * self.obs_width];
        Transition {
            obs: row(t),
            action: &self.actions[t * self.act_width..(t + 1) * self.act_width],
            next_obs: row(t + 1),
        }
    }

    /// The transitions in order.
    pub fn transitions(&self) -> impl ExactSizeIterator<Item = Transition<'a, X>> + use<'a, X> {
        let all = *self;
        (0..all.len()).map(move |t| all.transition(t))
    }
}

/// What a detector is fitted on.
#[derive(Clone, Copy)]
pub struct Nominal<'a> {
    /// Nominal episodes to learn from.
    pub train: &'a [Signals<'a>],
    /// Others that tell when to stop, for detectors that ask.
    pub validation: &'a [Signals<'a>],
    /// The policy that acted, if it is at hand, for detectors that look inside it.
    pub policy: Option<&'a dyn Policy>,
    /// Who is told how far the fit is, and may end it. A fit that takes long says so every few milliseconds.
    pub progress: FitProgress<'a>,
}

impl<'a> Nominal<'a> {
    /// Episodes alone, which nobody waits for.
    pub fn new(train: &'a [Signals<'a>], validation: &'a [Signals<'a>]) -> Nominal<'a> {
        Nominal { train, validation, policy: None, progress: FitProgress::unseen() }
    }

    /// The same with the policy that acted in them.
    #[must_use]
    pub fn with_policy(self, policy: &'a dyn Policy) -> Nominal<'a> {
        Nominal { policy: Some(policy), ..self }
    }

    /// The same, watched.
    #[must_use]
    pub fn with_progress(self, progress: FitProgress<'a>) -> Nominal<'a> {
        Nominal { progress, ..self }
    }

    /// The policy, for a detector that cannot do without.
    ///
    /// # Errors
    /// If there is none.
    pub fn policy(&self) -> Result<&'a dyn Policy, FitError> {
        self.policy.ok_or(FitError::NoPolicy)
    }
}

/// The recipe of a detector: plain data that can be fitted.
pub trait Detector: Send + Sync {
    /// Learns what is nominal.
    ///
    /// # Errors
    /// If there is no data, the widths differ, a number is not finite, or the policy is missing or does not tell what
    /// the detector reads.
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError>;

    /// Brings back a scorer that this recipe made and that wrote itself with [`Scorer::save`]: the same scores, bit for
    /// bit. The policy is for a detector that looks inside it, or brings back one that may.
    ///
    /// # Errors
    /// If the detector cannot be kept, a list is missing or not what this recipe writes, or the policy is missing.
    fn load(
        &self,
        _from: &Reader<'_>,
        _policy: Option<&dyn Policy>,
    ) -> Result<Box<dyn Scorer>, ArchiveError> {
        Err(ArchiveError::NotKept)
    }
}

/// A fitted detector, scoring one episode at a time. It is [`Clone`], from which [`Fork`] follows.
pub trait Scorer: Fork + Send + Sync {
    /// Forgets the episode before; nothing, where nothing is remembered.
    fn reset(&mut self) {}

    /// How anomalous this step is: larger is more anomalous, and always finite. After warm-up this does not allocate.
    fn score(&mut self, seen: &Transition<'_>) -> f64;

    /// What it does about numbers that were not read.
    fn missing(&self) -> Missing {
        Missing::Held
    }

    /// Fills the gaps of a step with what it expects, given all that was read; what it cannot tell stays. It is asked before
    /// [`Scorer::score_partial`], of every step that has gaps and of no other.
    fn fill(&mut self, _gaps: &mut Gaps<'_>) {}

    /// As [`Scorer::score`], of a step whose gaps were filled. Of a whole step it is the same, bit for bit. What was not
    /// read raises no score: if it cannot be left out, its place holds what the monitor expects or what was last read.
    fn score_partial(&mut self, step: &Partial<'_>) -> PartialScore {
        PartialScore { score: self.score(&step.seen), confidence: step.share_read() }
    }

    /// Writes which part of the score of the last step is due to each number of the observation, if it can tell; else false, and
    /// nothing is written. The parts sum to the score, and may be below zero where it is. It is asked after [`Scorer::score`] or
    /// [`Scorer::score_partial`], and changes nothing; it does not allocate.
    fn shares(&mut self, _shares: &mut [f64]) -> bool {
        false
    }

    /// What spoke in the score of the last step, if it can tell; asked as [`Scorer::shares`] is, and changes as little. An
    /// observation's channel that it names is the one with the largest share.
    fn evidence(&mut self) -> Option<Evidence> {
        None
    }

    /// Scores a whole episode, as `reset` and then `score` for each step would.
    fn score_episode(&mut self, seen: &Signals<'_>, scores: &mut Vec<f64>) {
        self.reset();
        scores.clear();
        scores.extend(seen.transitions().map(|step| self.score(&step)));
    }

    /// Scores episodes, each as [`Scorer::score_episode`] would. One with a large memory may take them side by side.
    fn score_episodes(&mut self, seen: &[Signals<'_>]) -> Vec<Vec<f64>> {
        let score = |episode: &Signals<'_>| {
            let mut scores = Vec::with_capacity(episode.len());
            self.score_episode(episode, &mut scores);
            scores
        };
        seen.iter().map(score).collect()
    }

    /// Writes what was learned, not what is remembered of an episode, so that [`Detector::load`] can bring it back.
    ///
    /// # Errors
    /// If the detector cannot be kept.
    fn save(&self, _to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        Err(ArchiveError::NotKept)
    }
}

/// What can be copied without its type being known; every [`Scorer`] that is [`Clone`].
pub trait Fork {
    /// An independent copy, for another thread.
    fn fork(&self) -> Box<dyn Scorer>;
}

impl<S: Scorer + Clone + 'static> Fork for S {
    fn fork(&self) -> Box<dyn Scorer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Scorer> {
    fn clone(&self) -> Box<dyn Scorer> {
        self.fork()
    }
}

/// Why a detector could not be fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// There are too few steps to learn from.
    #[error("expected at least {needed} nominal steps to fit on, found {found}")]
    TooFewSteps {
        /// Steps that the detector needs.
        needed: usize,
        /// Steps that were given.
        found: usize,
    },
    /// The episodes do not have the same channels.
    #[error("episode {episode}: expected {expected} observation and action channels, found {found}")]
    Width {
        /// Index of the first episode that differs.
        episode: usize,
        /// Channels of the first episode, `obs + act`.
        expected: String,
        /// Channels of this one.
        found: String,
    },
    /// A value is infinite or not a number.
    #[error("episode {episode}: expected finite numbers, found {found} at step {step}")]
    NotFinite {
        /// Index of the episode.
        episode: usize,
        /// Step at which it was found.
        step: usize,
        /// The value.
        found: f32,
    },
    /// A detector that looks inside the policy was fitted on episodes alone.
    #[error("expected the policy that acts, which this detector looks inside, found only its episodes")]
    NoPolicy,
    /// The policy does not tell what the detector reads.
    #[error(transparent)]
    Policy(#[from] SamplesError),
    /// The videos do not have the same size.
    #[error("video {episode}: expected {expected}, found {found}")]
    Video {
        /// Index of the first video that differs.
        episode: usize,
        /// Images and actions of the first video.
        expected: String,
        /// Those of this one.
        found: String,
    },
    /// Whoever asked for the fit has ended it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Something that the detector needs cannot be had: weights, memory, a device.
    #[error("{0}")]
    Missing(String),
    /// Training a model went to infinity.
    #[error("training diverged in epoch {epoch}: expected a finite loss; try a smaller learning rate")]
    Diverged {
        /// The epoch in which it was noticed.
        epoch: usize,
    },
}

/// Checks what every detector requires of its training data: enough steps, equal widths, finite numbers.
///
/// # Errors
/// The first violation found.
pub fn check(train: &[Signals<'_>], needed: usize) -> Result<(), FitError> {
    let found = train.iter().map(Signals::len).sum();
    if found < needed.max(1) {
        return Err(FitError::TooFewSteps { needed: needed.max(1), found });
    }
    let widths = |s: &Signals<'_>| format!("{} + {}", s.obs_width, s.act_width);
    for (episode, s) in train.iter().enumerate() {
        if (s.obs_width, s.act_width) != (train[0].obs_width, train[0].act_width) {
            return Err(FitError::Width { episode, expected: widths(&train[0]), found: widths(s) });
        }
        not_finite(s.observations, s.obs_width, episode)?;
        not_finite(s.actions, s.act_width, episode)?;
    }
    Ok(())
}

fn not_finite(values: &[f32], width: usize, episode: usize) -> Result<(), FitError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => Err(FitError::NotFinite { episode, step: at / width, found: values[at] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_overlap_by_one_observation() {
        let obs = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let signals = Signals::new(&obs, &[7.0, 8.0], 2, 1);
        let all: Vec<_> = signals.transitions().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].next_obs, all[1].obs);
        assert_eq!(all[1], Transition { obs: &[2.0, 3.0], action: &[8.0], next_obs: &[4.0, 5.0] });
        assert_eq!(signals.until(1).transitions().collect::<Vec<_>>(), all[..1]);
        assert_eq!(signals.from(1).transitions().collect::<Vec<_>>(), all[1..]);
    }

    #[test]
    fn bad_training_data_is_named() {
        let good = Signals::new(&[0.0, 1.0], &[0.0], 1, 1);
        let nan = Signals::new(&[0.0, f32::NAN], &[0.0], 1, 1);
        let wide = Signals::new(&[0.0; 4], &[0.0], 2, 1);
        assert_eq!(check(&[], 1).unwrap_err(), FitError::TooFewSteps { needed: 1, found: 0 });
        assert_eq!(check(&[good], 3).unwrap_err(), FitError::TooFewSteps { needed: 3, found: 1 });
        assert!(matches!(check(&[good, nan], 1), Err(FitError::NotFinite { episode: 1, step: 1, .. })));
        assert!(matches!(check(&[good, wide], 1), Err(FitError::Width { episode: 1, .. })));
    }
}
