//! The inside of a policy as a monitor reads it.
//!
//! The passes of a policy are random. Here their generator is a branch of the monitor's seed that the observation names,
//! so what is told of an observation depends on nothing that was seen before it, and streams, episodes and forks agree.

use offnominal_core::detector::check;
use offnominal_core::insight::Shape;
use offnominal_core::prelude::*;
use std::num::NonZeroUsize;

/// An open policy with the seed of its passes.
pub(crate) struct Gaze {
    insight: Box<dyn Insight>,
    seed: Seed,
}

impl Gaze {
    /// Opens the policy that acted in the episodes; they must be sound, and as wide as what it reads.
    ///
    /// # Errors
    /// If they are not, or the policy tells nothing, or cannot predict that often.
    pub fn open(
        policy: &dyn Policy,
        predictions: Option<NonZeroUsize>,
        train: &[Signals<'_>],
        rng: &mut Rng,
    ) -> Result<Gaze, FitError> {
        check(train, 1)?;
        let insight = policy.insight(predictions.map(NonZeroUsize::get))?;
        reads(train[0].obs_width(), insight.as_ref())?;
        Ok(Gaze { insight, seed: Seed(rng.bits()) })
    }

    /// Writes the seed; the policy is not kept with the monitor.
    pub fn save(&self, to: &mut Writer<'_>) {
        to.put("seed", &[self.seed.0]);
    }

    /// Opens the policy again.
    pub fn load(
        from: &Reader<'_>,
        policy: Option<&dyn Policy>,
        predictions: Option<NonZeroUsize>,
    ) -> Result<Gaze, ArchiveError> {
        let policy = policy.ok_or(ArchiveError::NoPolicy)?;
        let insight = policy.insight(predictions.map(NonZeroUsize::get))?;
        reads(from.obs_width, insight.as_ref())?;
        Ok(Gaze { insight, seed: Seed(from.one("seed")?) })
    }

    /// What is told.
    pub fn shape(&self) -> Shape {
        self.insight.shape()
    }

    /// The predictions for an observation.
    pub fn look(&mut self, obs: &[f32]) -> Predictions<'_> {
        let named = obs.iter().fold(self.seed, |node, v| node.child(u64::from(v.to_bits())));
        self.insight.look(obs, &mut named.rng())
    }
}

/// Requires an insight into a policy that reads so many observation channels.
fn reads(expected: usize, insight: &dyn Insight) -> Result<(), InsightError> {
    let found = insight.shape().obs;
    let [wants, has] = [expected, found].map(|n| format!("that reads {n} observation channels"));
    if expected == found { Ok(()) } else { Err(InsightError::Unfit { expected: wants, found: has }) }
}

impl Clone for Gaze {
    fn clone(&self) -> Gaze {
        Gaze { insight: self.insight.fork(), seed: self.seed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_laws::MockEnsemble;

    fn open(policy: &MockEnsemble, width: usize) -> Result<Gaze, FitError> {
        let (obs, actions) = (vec![0.5; 3 * width], [0.0; 2]);
        Gaze::open(policy, None, &[Signals::new(&obs, &actions, width, 1)], &mut Rng::new(1))
    }

    #[test]
    fn passes_depend_on_the_observation_and_on_nothing_before() {
        let mut gaze = open(&MockEnsemble::passes(3), 3).unwrap();
        let mut told = |obs: [f32; 3]| gaze.look(&obs).features.iter().map(|f| *f == 0.0).collect::<Vec<_>>();
        let first = told([1.0, 2.0, 3.0]);
        assert_ne!(first, told([2.0, 2.0, 3.0]), "which channels are dropped");
        assert_eq!(first, told([1.0, 2.0, 3.0]));
    }

    #[test]
    fn a_policy_of_another_width_is_refused() {
        let error = open(&MockEnsemble::passes(3), 2).err().unwrap().to_string();
        let want = "expected a policy that reads 2 observation channels, found one that reads 3 observation channels";
        assert_eq!(error, want);
    }
}
