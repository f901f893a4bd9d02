//! A mock ensemble policy, for the laws of detectors that look inside a policy.

use offnominal_core::prelude::*;
use offnominal_core::samples::Shape;

/// Predictions of the ensemble.
const M: usize = 5;
/// Probability with which a pass with dropout drops a channel.
const DROPOUT: f64 = 0.2;

/// A policy of five linear members. Member m multiplies each channel by ±(m + 1), which are its features, and adds
/// them to s; its values are (s, 0) where there is a choice of two, and its action is s where there is none.
///
/// Every channel is read, even one that never changes.
#[derive(Debug, Clone)]
pub struct MockEnsemble {
    width: usize,
    is_choice: bool,
    drops: bool,
    predictions: usize,
    heads: Vec<f32>,
    actions: Vec<f32>,
    features: Vec<f32>,
}

impl MockEnsemble {
    /// Five members that read `width` channels and choose one of two.
    pub fn members(width: usize) -> MockEnsemble {
        MockEnsemble::new(width, false, M)
    }

    /// One network that drops channels at random, in five passes.
    pub fn passes(width: usize) -> MockEnsemble {
        MockEnsemble::new(width, true, M)
    }

    /// One network that drops nothing.
    pub fn plain(width: usize) -> MockEnsemble {
        MockEnsemble::new(width, false, 1)
    }

    /// The same with a real action.
    #[must_use]
    pub fn with_real_command(self) -> MockEnsemble {
        MockEnsemble { is_choice: false, heads: vec![0.0; self.predictions], ..self }
    }

    fn new(width: usize, drops: bool, predictions: usize) -> MockEnsemble {
        MockEnsemble {
            width,
            is_choice: true,
            drops,
            predictions,
            heads: vec![0.0; 2 * predictions],
            actions: vec![0.0; predictions],
            features: vec![0.0; width * predictions],
        }
    }

    fn n_members(&self) -> usize {
        if self.drops { 1 } else { self.predictions }
    }

    /// The weight of a channel in member `m`: odd members negate all but the first.
    fn weight(m: usize, channel: usize) -> f32 {
        let sign = if m % 2 == 1 && channel > 0 { -1.0 } else { 1.0 };
        sign * (m + 1) as f32
    }

    /// Makes prediction `i`.
    fn predict_one(&mut self, i: usize, obs: &[f32], rng: &mut Rng) {
        let (member, n_heads) = (i % self.n_members(), self.n_heads());
        let features = &mut self.features[i * self.width..][..self.width];
        for (channel, (out, x)) in features.iter_mut().zip(obs).enumerate() {
            *out = MockEnsemble::weight(member, channel) * x * if self.drops { dropout(rng) } else { 1.0 };
        }
        let sum = features.iter().sum::<f32>();
        self.heads[i * n_heads] = sum;
        self.actions[i] = if self.is_choice { f32::from(u8::from(sum < 0.0)) } else { sum };
    }

    fn n_heads(&self) -> usize {
        1 + usize::from(self.is_choice)
    }
}

/// The factor of a channel that may be dropped; its mean is one.
fn dropout(rng: &mut Rng) -> f32 {
    if rng.uniform() < DROPOUT { 0.0 } else { (1.0 / (1.0 - DROPOUT)) as f32 }
}

impl PolicySamples for MockEnsemble {
    fn shape(&self) -> Shape {
        Shape {
            obs: self.width,
            predictions: self.predictions,
            members: self.n_members(),
            heads: self.n_heads(),
            actions: 1,
            features: self.width,
            is_choice: self.is_choice,
        }
    }

    fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
        assert_eq!(obs.len(), self.width, "width of the observation");
        for i in 0..self.predictions {
            self.predict_one(i, obs, rng);
        }
        Predictions { heads: &self.heads, actions: &self.actions, features: &self.features }
    }

    fn fork(&self) -> Box<dyn PolicySamples> {
        Box::new(self.clone())
    }
}

impl Policy for MockEnsemble {
    fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
        self.predict(obs, rng);
        let mean = self.heads.iter().sum::<f32>() / self.predictions as f32;
        let choice = f32::from(u8::from(mean < 0.0));
        action[0] = if self.is_choice { choice } else { mean.clamp(-1.0, 1.0) };
    }

    fn fork(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }

    fn samples(&self, predictions: Option<usize>) -> Result<Box<dyn PolicySamples>, SamplesError> {
        let found = predictions.unwrap_or(self.predictions);
        if found == self.predictions {
            return Ok(Box::new(self.clone()));
        }
        Err(SamplesError::Refused(format!("predictions: expected {}, found {found}", self.predictions)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{assert_lawful, policy};

    /// What is wrong with a [`BrokenEnsemble`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Flaw {
        Width,
        Shape,
        Value,
        Fork,
    }

    /// An ensemble whose predictions are not what it declares.
    #[derive(Clone)]
    struct BrokenEnsemble(MockEnsemble, Flaw, f32);

    impl Policy for BrokenEnsemble {
        fn act(&mut self, obs: &[f32], action: &mut [f32], rng: &mut Rng) {
            self.0.act(obs, action, rng);
        }

        fn fork(&self) -> Box<dyn Policy> {
            Box::new(self.clone())
        }

        fn samples(&self, _: Option<usize>) -> Result<Box<dyn PolicySamples>, SamplesError> {
            Ok(Box::new(self.clone()))
        }
    }

    impl PolicySamples for BrokenEnsemble {
        fn shape(&self) -> Shape {
            let mut shape = self.0.shape();
            shape.obs += usize::from(self.1 == Flaw::Width);
            shape.heads += usize::from(self.1 == Flaw::Shape);
            shape
        }

        fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
            self.0.predict(obs, rng);
            self.2 += 1.0;
            match self.1 {
                Flaw::Value => self.0.heads[0] = f32::NAN,
                Flaw::Fork => self.0.heads[0] += self.2,
                _ => {}
            }
            Predictions { heads: &self.0.heads, actions: &self.0.actions, features: &self.0.features }
        }

        fn fork(&self) -> Box<dyn PolicySamples> {
            Box::new(self.clone())
        }
    }

    fn spec() -> EnvSpec {
        let observation = ["x", "v"].map(|name| Channel::unbounded(name, "what is read", "m")).to_vec();
        let action = vec![Channel::choice("side", "left or right", 2)];
        EnvSpec { observation, action, ..EnvSpec::new("mock", "a fixture") }
    }

    #[test]
    fn a_mock_ensemble_is_a_sound_policy() {
        for ensemble in [MockEnsemble::members(2), MockEnsemble::passes(2), MockEnsemble::plain(2)] {
            assert_lawful("ensemble", &policy(&ensemble, &spec(), &[]));
        }
    }

    #[test]
    fn predictions_that_are_not_what_is_declared_are_caught() {
        for flaw in [Flaw::Width, Flaw::Shape, Flaw::Value, Flaw::Fork] {
            let found = policy(&BrokenEnsemble(MockEnsemble::passes(2), flaw, 0.0), &spec(), &[]);
            assert!(found.iter().any(|v| v.law == Law::SamplesAreSound), "{flaw:?}: {found:?}");
        }
    }

    #[test]
    fn members_differ_always_and_passes_by_chance() {
        let mut rng = Rng::new(1);
        assert_eq!(
            MockEnsemble::members(1).predict(&[2.0], &mut rng).heads,
            [2., 0., 4., 0., 6., 0., 8., 0., 10., 0.]
        );
        let mut passes = MockEnsemble::passes(3);
        let first = passes.predict(&[1.0, 2.0, 3.0], &mut rng).features.to_vec();
        assert_ne!(first, passes.predict(&[1.0, 2.0, 3.0], &mut rng).features);
    }
}
