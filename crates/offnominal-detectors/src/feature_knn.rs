//! Distance of the policy's penultimate features to the k-th nearest nominal ones.
//!
//! score(o′) = 1/K Σ_k ‖z(f_k) − z₍ₙ₎‖₂, exact, over the nominal features that are kept.
//!
//! | symbol | meaning                                                                                      |
//! |--------|----------------------------------------------------------------------------------------------|
//! | f_k    | what the last layer of member k reads for o′, the mean over passes where they are random     |
//! | K      | members; 1 if the policy is one network                                                      |
//! | z      | standardised features; units that never vary are dropped                                     |
//! | z₍ₙ₎   | the n-th nearest of the standardised nominal features of the member, n being `k` of the recipe |
//!
//! Any policy that is a network will do, also one that makes a single prediction.
//!
//! Assumes: what is unfamiliar to the policy excites its hidden units unusually.
//! Blind to: what the policy has learned to ignore; units that nothing nominal excites.
//! Cost: fit n passes of the policy and O(n log² n), score a pass and up to O(n w), for w hidden units and each member.
//! Reference: Sun et al., "Out-of-Distribution Detection with Deep Nearest Neighbors", ICML 2022.  Deviates: features
//! are standardised, not brought to unit length, as the length of rectified features tells how far one is from home.
//!
//! ```
//! use offnominal_laws::MockEnsemble;
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The feature is the observation itself, of mean 0 and deviation 2.
//! let nominal = Signals::new(&[2.0, -2.0], &[0.0], 1, 1);
//! let detector = offnominal_detectors::catalogue().build("feature-knn", &serde_json::json!({})).unwrap();
//! let mut monitor = detector.fit(Nominal::new(&[nominal], &[]).with_policy(&MockEnsemble::plain(1)), &mut Rng::new(0)).unwrap();
//! let score = monitor.score(&Transition { obs: &[2.0], action: &[0.0], next_obs: &[6.0] });
//! assert!((score - 2.0).abs() < 1e-6);
//! ```

use crate::shared::features::{MemberModel, Members};
use crate::shared::nearest::{Nearest, Neighbours};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::scale::Scale;
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    pub struct FeatureKnn {
        /// Rank of the neighbour.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub k: NonZeroUsize = count(1),
        /// The most nominal observations that are kept, evenly spread over the episodes.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub points: NonZeroUsize = count(5_000),
    }
}

/// The entry of [`FeatureKnn`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    FeatureKnn as dyn Detector,
    "feature-knn",
    "distance of the policy's penultimate features to the k-th nearest nominal ones",
    exempt: &[(
        Law::IgnoresConstantChannels,
        "the policy reads every channel, and its features change with one that never moved in training"
    )]
);

impl Detector for FeatureKnn {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Members::fit(nominal, self.points, rng, |(scale, rows)| {
            let (needed, found) = (self.k.get(), rows.len() / scale.width());
            if found < needed {
                return Err(FitError::TooFewSteps { needed, found });
            }
            let index = Nearest::new(scale.width(), found, &rows);
            Ok(Neighbours::new(scale, index, self.k))
        })
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Members::load(from, policy, |from, units| {
            let scale = Scale::load(from, units)?;
            let index = Nearest::load(from, scale.width(), self.k.get())?;
            Ok(Neighbours::new(scale, index, self.k))
        })
    }
}

impl MemberModel for Neighbours {
    fn distance(&mut self, features: &[f32]) -> f64 {
        Neighbours::distance(self, features)
    }

    fn save(&self, to: &mut Writer<'_>) {
        let (scale, index) = self.model();
        scale.save(to);
        index.save(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_laws::{MockEnsemble, assert_lawful, detector_with};

    #[test]
    fn an_ensemble_obeys_the_laws() {
        let recipe = FeatureKnn { k: NonZeroUsize::new(2).unwrap(), ..FeatureKnn::default() };
        let policy = |w| Box::new(MockEnsemble::members(w)) as Box<dyn Policy>;
        assert_lawful("members", &detector_with(&recipe, &policy, ENTRY.exempt));
    }

    #[test]
    fn more_neighbours_than_points_are_refused() {
        let nominal = Signals::new(&[2.0, -2.0], &[0.0], 1, 1);
        let recipe = FeatureKnn { k: NonZeroUsize::new(3).unwrap(), ..FeatureKnn::default() };
        let error = recipe
            .fit(Nominal::new(&[nominal], &[]).with_policy(&MockEnsemble::plain(1)), &mut Rng::new(0))
            .err();
        assert_eq!(error, Some(FitError::TooFewSteps { needed: 3, found: 2 }));
    }
}
