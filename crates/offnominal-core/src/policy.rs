//! What acts: a map from observations to actions.

use crate::Rng;
use crate::samples::{PolicySamples, SamplesError};
use crate::spec::Channel;
use std::any::Any;
use std::sync::Arc;

/// Where a policy acts: something that an environment at the same place knows, and no other one.
pub type Seat = Arc<dyn Any + Send + Sync>;

/// A policy. A closure `|obs, action| …` is one.
pub trait Policy: Send + Sync {
    /// Forgets everything about the episode before.
    fn reset(&mut self) {}

    /// Writes the action for an observation. After warm-up this neither fails nor allocates.
    fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng);

    /// An independent copy, for another thread.
    fn fork(&self) -> Box<dyn Policy>;

    /// Whether the policy can still act.
    ///
    /// # Errors
    /// Why it cannot, such as a process of its own that ended.
    fn health(&self) -> Result<(), String> {
        Ok(())
    }

    /// Where the policy acts, for an environment that may be there too: see [`Env::play_ahead`](crate::env::Env::play_ahead).
    /// A policy that wraps another one has no seat, for its commands are not those of the other.
    fn seat(&self) -> Option<Seat> {
        None
    }

    /// Samples of the policy's output, so many predictions at a time; as many as it acts on if not given.
    ///
    /// # Errors
    /// If it gives none, or not that many.
    fn samples(&self, _predictions: Option<usize>) -> Result<Box<dyn PolicySamples>, SamplesError> {
        Err(SamplesError::Opaque)
    }
}

impl<F: FnMut(&[f32], &mut [f32]) + Clone + Send + Sync + 'static> Policy for F {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        self(obs, action);
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

/// Draws every action uniformly between the bounds, or among the choices: the floor against which a policy's return is
/// normalised.
#[derive(Debug, Clone, PartialEq)]
pub struct Random {
    ranges: Vec<Range>,
}

/// What one action is drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Range {
    Between(f64, f64),
    Below(usize),
}

impl Random {
    /// A random policy for the given action channels; an infinite bound counts as ±1, or lies 1 from the other one where that
    /// is beyond.
    pub fn new(action: &[Channel]) -> Random {
        Random { ranges: action.iter().map(Range::of).collect() }
    }
}

impl Range {
    fn of(channel: &Channel) -> Range {
        match channel.choices {
            0 => match (channel.low, channel.high) {
                (low, high) if low.is_finite() && high.is_finite() => Range::Between(low, high),
                (low, _) if low.is_finite() => Range::Between(low, if low < 1.0 { 1.0 } else { low + 1.0 }),
                (_, high) if high.is_finite() => {
                    Range::Between(if high > -1.0 { -1.0 } else { high - 1.0 }, high)
                }
                _ => Range::Between(-1.0, 1.0),
            },
            n => Range::Below(n as usize),
        }
    }

    fn draw(self, rng: &mut Rng) -> f32 {
        match self {
            Range::Between(low, high) => rng.range(low, high) as f32,
            Range::Below(n) => rng.below(n) as f32,
        }
    }
}

impl Policy for Random {
    fn act(&mut self, _: &[f32], action: &mut [f32], rng: &mut Rng) {
        for (out, range) in action.iter_mut().zip(&self.ranges) {
            *out = range.draw(rng);
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_lies_within_bounds_of_which_one_is_infinite() {
        let inf = f64::INFINITY;
        let bounds = [
            (5.0, inf, [5.0, 6.0]),
            (-inf, -3.0, [-4.0, -3.0]),
            (0.0, inf, [0.0, 1.0]),
            (-inf, inf, [-1.0, 1.0]),
        ];
        let (mut rng, mut action) = (Rng::new(1), [0.0]);
        for (low, high, [least, most]) in bounds {
            let mut policy = Random::new(&[Channel::new("push", "force", "N", low, high)]);
            for _ in 0..50 {
                policy.act(&[], &mut action, &mut rng);
                assert!((least..=most).contains(&action[0]), "{low} {high}: {action:?}");
            }
        }
    }

    #[test]
    fn choices_are_drawn_equally_often() {
        let mut policy = Random::new(&[Channel::choice("push", "direction", 3)]);
        let (mut rng, mut counts, mut action) = (Rng::new(1), [0; 3], [0.0]);
        for _ in 0..3000 {
            policy.act(&[], &mut action, &mut rng);
            assert_eq!(action[0].fract(), 0.0);
            counts[action[0] as usize] += 1;
        }
        // Four standard errors of a binomial count with p = 1/3.
        assert!(counts.iter().all(|&c: &i32| (c - 1000).abs() < 104), "{counts:?}");
    }
}
