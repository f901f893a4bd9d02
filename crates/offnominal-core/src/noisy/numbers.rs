//! The standard normal numbers that nominal noise takes: what they stand for, and where they come from.

use super::{NominalNoise, Term};
use crate::Rng;
use crate::channel::Channel;
use crate::spec::EnvSpec;
use std::sync::Arc;

/// What the numbers stand for that nominal noise takes in an episode, in the order in which it takes them: some when the
/// episode begins, and equally many for each step, the first of which reaches the first observation.
///
/// Noise is a function of them: if all are zero there is none but the rounding of readings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NoiseNumbers {
    /// Those of the start.
    pub start: Vec<String>,
    /// Those of a step.
    pub step: Vec<String>,
}

impl NoiseNumbers {
    pub(super) fn of(noise: &NominalNoise, spec: &EnvSpec) -> NoiseNumbers {
        let sides = [("", &spec.observation, &noise.observation), ("command ", &spec.action, &noise.action)];
        let mut numbers = NoiseNumbers::default();
        for (side, channels, terms) in sides {
            for (name, term) in names(channels).zip(terms) {
                let named = |part: &str| format!("{side}{name}: {part}");
                numbers.start.extend(term.has_turn_on().then(|| named("bias")));
                numbers.step.extend(Self::each_step(term).map(named));
            }
        }
        numbers.step.extend((noise.jitter_secs > 0.0).then(|| "latency".into()));
        numbers
    }

    fn each_step(term: &Term) -> impl Iterator<Item = &'static str> {
        [(term.has_white(), "noise"), (term.has_walk(), "drift")]
            .into_iter()
            .filter_map(|(is_drawn, part)| is_drawn.then_some(part))
    }
}

/// A name for each number of the channels.
fn names(channels: &[Channel]) -> impl Iterator<Item = String> {
    channels.iter().flat_map(|c| {
        let one = move |i: usize| if c.width() == 1 { c.name.clone() } else { format!("{} {i}", c.name) };
        (0..c.width()).map(one)
    })
}

/// Where the numbers of an episode come from.
#[derive(Clone)]
pub(super) struct Source {
    rng: Rng,
    chosen: Option<Arc<[f64]>>,
    /// How many of the chosen ones were taken.
    taken: usize,
}

impl Source {
    pub fn new() -> Source {
        Source { rng: Rng::new(0), chosen: None, taken: 0 }
    }

    /// Chooses the numbers of the episodes to come.
    pub fn choose(&mut self, numbers: &Arc<[f64]>) {
        (self.chosen, self.taken) = (Some(Arc::clone(numbers)), 0);
    }

    /// Begins an episode, which draws from a stream unless its numbers were chosen.
    pub fn start(&mut self, stream: Rng) {
        (self.rng, self.taken) = (stream, 0);
    }

    /// The next number.
    pub fn normal(&mut self) -> f64 {
        let Some(chosen) = &self.chosen else { return self.rng.normal() };
        self.taken += 1;
        chosen.get(self.taken - 1).copied().unwrap_or(0.0)
    }
}
