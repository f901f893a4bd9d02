//! Samples of a policy's output as a monitor reads them.
//!
//! The passes of a policy are random. Here their generator is a branch of the monitor's seed that the observation names,
//! so the samples for an observation depend on nothing that was seen before it, and streams, episodes and forks agree.

use offnominal_core::detector::check;
use offnominal_core::prelude::*;
use offnominal_core::samples::Shape;
use std::num::NonZeroUsize;

/// The samples of a policy with the seed of its passes.
pub(crate) struct SeededSamples {
    samples: Box<dyn PolicySamples>,
    seed: Seed,
}

impl SeededSamples {
    /// Opens the policy that acted in the episodes; they must be sound, and as wide as what it reads.
    ///
    /// # Errors
    /// If they are not, or the policy gives no samples, or not that many.
    pub fn open(
        policy: &dyn Policy,
        predictions: Option<NonZeroUsize>,
        train: &[Signals<'_>],
        rng: &mut Rng,
    ) -> Result<SeededSamples, FitError> {
        check(train, 1)?;
        let samples = policy.samples(predictions.map(NonZeroUsize::get))?;
        reads(train[0].obs_width(), samples.as_ref())?;
        Ok(SeededSamples { samples, seed: Seed(rng.bits()) })
    }

    /// Writes the seed; the policy is not saved with the monitor.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("seed", &[self.seed.0]);
    }

    /// Opens the policy again.
    pub fn load(
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
        predictions: Option<NonZeroUsize>,
    ) -> Result<SeededSamples, ArchiveError> {
        let policy = policy.ok_or(ArchiveError::NoPolicy)?;
        let samples = policy.samples(predictions.map(NonZeroUsize::get))?;
        reads(from.obs_width, samples.as_ref())?;
        Ok(SeededSamples { samples, seed: Seed(from.one("seed")?) })
    }

    /// The sizes of the predictions.
    pub fn shape(&self) -> Shape {
        self.samples.shape()
    }

    /// The predictions for an observation.
    pub fn predict(&mut self, obs: &[f32]) -> Predictions<'_> {
        let named = obs.iter().fold(self.seed, |node, v| node.child(u64::from(v.to_bits())));
        self.samples.predict(obs, &mut named.rng())
    }
}

/// Requires samples of a policy that reads so many observation channels.
fn reads(expected: usize, samples: &dyn PolicySamples) -> Result<(), SamplesError> {
    let found = samples.shape().obs;
    let [wants, has] = [expected, found].map(|n| format!("that reads {n} observation channels"));
    if expected == found { Ok(()) } else { Err(SamplesError::Unfit { expected: wants, found: has }) }
}

impl Clone for SeededSamples {
    fn clone(&self) -> SeededSamples {
        SeededSamples { samples: self.samples.fork(), seed: self.seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_laws::MockEnsemble;

    fn open(policy: &MockEnsemble, width: usize) -> Result<SeededSamples, FitError> {
        let (obs, actions) = (vec![0.5; 3 * width], [0.0; 2]);
        SeededSamples::open(policy, None, &[Signals::new(&obs, &actions, width, 1)], &mut Rng::new(1))
    }

    #[test]
    fn passes_depend_on_the_observation_and_on_nothing_before() {
        let mut samples = open(&MockEnsemble::passes(3), 3).unwrap();
        let mut dropped =
            |obs: [f32; 3]| samples.predict(&obs).features.iter().map(|f| *f == 0.0).collect::<Vec<_>>();
        let first = dropped([1.0, 2.0, 3.0]);
        assert_ne!(first, dropped([2.0, 2.0, 3.0]), "which channels are dropped");
        assert_eq!(first, dropped([1.0, 2.0, 3.0]));
    }

    #[test]
    fn a_policy_of_another_width_is_refused() {
        let error = open(&MockEnsemble::passes(3), 2).err().unwrap().to_string();
        let want = "expected a policy that reads 2 observation channels, found one that reads 3 observation channels";
        assert_eq!(error, want);
    }
}
