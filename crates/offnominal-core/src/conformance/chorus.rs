//! A policy that disagrees with itself, for the laws of detectors that look inside a policy.

use crate::Rng;
use crate::policy::Policy;
use crate::samples::{PolicySamples, Predictions, SamplesError, Shape};

/// Voices of a chorus.
const M: usize = 5;
/// Probability with which a voice that drops channels does not hear one.
const DEAF: f64 = 0.2;

/// A policy of five voices. Voice m hears the sum s of the channels, each times ±(m + 1); its values are (s, 0) where
/// there is a choice of two, and its command is s where there is none. What it hears of each channel are its features.
///
/// Every channel is heard, even one that never changes.
#[derive(Debug, Clone)]
pub struct Chorus {
    width: usize,
    is_choice: bool,
    drops: bool,
    predictions: usize,
    heads: Vec<f32>,
    commands: Vec<f32>,
    features: Vec<f32>,
}

impl Chorus {
    /// Five members that hear `width` channels and choose one of two.
    pub fn members(width: usize) -> Chorus {
        Chorus::new(width, false, M)
    }

    /// One network that drops channels at random, in five passes.
    pub fn passes(width: usize) -> Chorus {
        Chorus::new(width, true, M)
    }

    /// One network that drops nothing.
    pub fn plain(width: usize) -> Chorus {
        Chorus::new(width, false, 1)
    }

    /// The same with a real command.
    #[must_use]
    pub fn with_real_command(self) -> Chorus {
        Chorus { is_choice: false, heads: vec![0.0; self.predictions], ..self }
    }

    fn new(width: usize, drops: bool, predictions: usize) -> Chorus {
        Chorus {
            width,
            is_choice: true,
            drops,
            predictions,
            heads: vec![0.0; 2 * predictions],
            commands: vec![0.0; predictions],
            features: vec![0.0; width * predictions],
        }
    }

    fn n_members(&self) -> usize {
        if self.drops { 1 } else { self.predictions }
    }

    /// What voice `m` hears of a channel: odd voices hear all but the first upside down.
    fn gain(m: usize, channel: usize) -> f32 {
        let sign = if m % 2 == 1 && channel > 0 { -1.0 } else { 1.0 };
        sign * (m + 1) as f32
    }

    fn sing(&mut self, i: usize, obs: &[f32], rng: &mut Rng) {
        let (voice, n_heads) = (i % self.n_members(), self.n_heads());
        let heard = &mut self.features[i * self.width..][..self.width];
        for (channel, (out, x)) in heard.iter_mut().zip(obs).enumerate() {
            *out = Chorus::gain(voice, channel) * x * if self.drops { kept(rng) } else { 1.0 };
        }
        let sum = heard.iter().sum::<f32>();
        self.heads[i * n_heads] = sum;
        self.commands[i] = if self.is_choice { f32::from(u8::from(sum < 0.0)) } else { sum };
    }

    fn n_heads(&self) -> usize {
        1 + usize::from(self.is_choice)
    }
}

/// The factor of a channel that may be dropped; its mean is one.
fn kept(rng: &mut Rng) -> f32 {
    if rng.uniform() < DEAF { 0.0 } else { (1.0 / (1.0 - DEAF)) as f32 }
}

impl PolicySamples for Chorus {
    fn shape(&self) -> Shape {
        Shape {
            obs: self.width,
            predictions: self.predictions,
            members: self.n_members(),
            heads: self.n_heads(),
            commands: 1,
            features: self.width,
            is_choice: self.is_choice,
        }
    }

    fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
        assert_eq!(obs.len(), self.width, "width of the observation");
        for i in 0..self.predictions {
            self.sing(i, obs, rng);
        }
        Predictions { heads: &self.heads, commands: &self.commands, features: &self.features }
    }

    fn fork(&self) -> Box<dyn PolicySamples> {
        Box::new(self.clone())
    }
}

impl Policy for Chorus {
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
    use crate::conformance::{Law, assert_lawful, policy};
    use crate::spec::{Channel, EnvSpec};

    /// What is wrong with what a [`Liar`] tells.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Lie {
        Width,
        Shape,
        Value,
        Fork,
    }

    /// A chorus that lies about itself.
    #[derive(Clone)]
    struct Liar(Chorus, Lie, f32);

    impl Policy for Liar {
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

    impl PolicySamples for Liar {
        fn shape(&self) -> Shape {
            let mut shape = self.0.shape();
            shape.obs += usize::from(self.1 == Lie::Width);
            shape.heads += usize::from(self.1 == Lie::Shape);
            shape
        }

        fn predict(&mut self, obs: &[f32], rng: &mut Rng) -> Predictions<'_> {
            self.0.predict(obs, rng);
            self.2 += 1.0;
            match self.1 {
                Lie::Value => self.0.heads[0] = f32::NAN,
                Lie::Fork => self.0.heads[0] += self.2,
                _ => {}
            }
            Predictions { heads: &self.0.heads, commands: &self.0.commands, features: &self.0.features }
        }

        fn fork(&self) -> Box<dyn PolicySamples> {
            Box::new(self.clone())
        }
    }

    fn spec() -> EnvSpec {
        let observation = ["x", "v"].map(|name| Channel::unbounded(name, "what is heard", "m")).to_vec();
        let action = vec![Channel::choice("side", "left or right", 2)];
        EnvSpec { observation, action, ..EnvSpec::new("choir", "a fixture") }
    }

    #[test]
    fn a_chorus_is_a_sound_policy() {
        for chorus in [Chorus::members(2), Chorus::passes(2), Chorus::plain(2)] {
            assert_lawful("chorus", &policy(&chorus, &spec(), &[]));
        }
    }

    #[test]
    fn lies_about_the_inside_are_caught() {
        for lie in [Lie::Width, Lie::Shape, Lie::Value, Lie::Fork] {
            let found = policy(&Liar(Chorus::passes(2), lie, 0.0), &spec(), &[]);
            assert!(found.iter().any(|v| v.law == Law::SamplesAreSound), "{lie:?}: {found:?}");
        }
    }

    #[test]
    fn members_differ_always_and_passes_by_chance() {
        let mut rng = Rng::new(1);
        assert_eq!(
            Chorus::members(1).predict(&[2.0], &mut rng).heads,
            [2., 0., 4., 0., 6., 0., 8., 0., 10., 0.]
        );
        let mut passes = Chorus::passes(3);
        let first = passes.predict(&[1.0, 2.0, 3.0], &mut rng).features.to_vec();
        assert_ne!(first, passes.predict(&[1.0, 2.0, 3.0], &mut rng).features);
    }
}
