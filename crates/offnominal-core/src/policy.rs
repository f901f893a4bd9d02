//! What acts: a map from observations to commands.

use crate::Rng;

/// A policy. A closure `|obs, action| …` is one.
pub trait Policy: Send + Sync {
    /// Forgets everything about the episode before.
    fn reset(&mut self) {}

    /// Writes the command for an observation. After warm-up this neither fails nor allocates.
    fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng);

    /// An independent copy, for another thread.
    fn fork(&self) -> Box<dyn Policy>;
}

impl<F: FnMut(&[f32], &mut [f32]) + Clone + Send + Sync + 'static> Policy for F {
    fn act(&mut self, obs: &[f32], action: &mut [f32], _: &mut Rng) {
        self(obs, action);
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

/// Draws every command uniformly between the bounds: the floor against which a policy's return is normalised.
#[derive(Debug, Clone, PartialEq)]
pub struct Random {
    bounds: Vec<(f64, f64)>,
}

impl Random {
    /// A random policy for the given action channels; an infinite bound counts as ±1.
    pub fn new(action: &[crate::spec::Channel]) -> Random {
        let finite = |x: f64, otherwise| if x.is_finite() { x } else { otherwise };
        Random { bounds: action.iter().map(|c| (finite(c.low, -1.0), finite(c.high, 1.0))).collect() }
    }
}

impl Policy for Random {
    fn act(&mut self, _: &[f32], action: &mut [f32], rng: &mut Rng) {
        for (out, &(low, high)) in action.iter_mut().zip(&self.bounds) {
            *out = rng.range(low, high) as f32;
        }
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}
