//! Mahalanobis distance of the policy's penultimate features from their nominal mean.
//!
//! score(o′) = 1/K Σ_k √((f_k − μ_k)ᵀ C_k⁻¹ (f_k − μ_k)), with C = 0.95 S + 0.05 diag(S).
//!
//! | symbol | meaning                                                                                      |
//! |--------|----------------------------------------------------------------------------------------------|
//! | f_k    | what the last layer of member k reads for o′, the mean over passes where they are random     |
//! | K      | members; 1 if the policy is one network                                                      |
//! | μ, S   | mean and covariance of f over nominal observations; units that never vary are dropped        |
//!
//! Any policy that is a network will do, also one that makes a single prediction.
//!
//! Assumes: what is unfamiliar to the policy excites its hidden units unusually.
//! Blind to: what the policy has learned to ignore; units that nothing nominal excites.
//! Cost: fit n passes of the policy and O(n w² + w³), score a pass and O(w²), for w hidden units and each member.
//! Reference: Lee et al., NeurIPS 2018, section 2.1, with one class.  Deviates: a twentieth of the covariance is taken
//! as uncorrelated, since hidden units copy one another.
//!
//! ```
//! use offnominal_laws::MockEnsemble;
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The feature is the observation itself, of mean 0 and deviation 2.
//! let nominal = Signals::new(&[2.0, -2.0], &[0.0], 1, 1);
//! let entry = offnominal_detectors::catalogue();
//! let detector = entry.build("feature-mahalanobis", &serde_json::json!({})).unwrap();
//! let mut monitor = detector.fit(Nominal::new(&[nominal], &[]).with_policy(&MockEnsemble::plain(1)), &mut Rng::new(0)).unwrap();
//! let score = monitor.score(&Transition { obs: &[2.0], action: &[0.0], next_obs: &[6.0] });
//! assert!((score - 3.0).abs() < 1e-6);
//! ```

use crate::shared::features::{MemberModel, Members};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::scale::Scale;
use crate::shared::whiten::Whitener;
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    pub struct FeatureMahalanobis {
        /// The most nominal observations that are read, evenly spread over the episodes.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub points: NonZeroUsize = count(20_000),
    }
}

/// The entry of [`FeatureMahalanobis`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    FeatureMahalanobis as dyn Detector,
    "feature-mahalanobis",
    "Mahalanobis distance of the policy's penultimate features",
    exempt: &[(
        Law::IgnoresConstantChannels,
        "the policy reads every channel, and its features change with one that never moved in training"
    )]
);

impl Detector for FeatureMahalanobis {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Members::fit(nominal, self.points, rng, |(scale, rows)| {
            let rows: Vec<f64> = rows.iter().map(|&z| f64::from(z)).collect();
            let whitener = Whitener::fit(rows.chunks_exact(scale.width()), scale.width());
            Ok(Model::new(scale, whitener))
        })
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Members::load(from, policy, |from, units| {
            let scale = Scale::load(from, units)?;
            let whitener = Whitener::load(&from.part("nominal"), scale.width())?;
            Ok(Model::new(scale, whitener))
        })
    }
}

/// Units and covariance of the features of a member, shared by all forks, and buffers.
#[derive(Clone)]
pub(crate) struct Model {
    nominal: Arc<(Scale, Whitener)>,
    z: Vec<f32>,
    x: Vec<f64>,
}

impl Model {
    fn new(scale: Scale, whitener: Whitener) -> Model {
        let (z, x) = (vec![0.0; scale.width()], vec![0.0; scale.width()]);
        Model { nominal: Arc::new((scale, whitener)), z, x }
    }
}

impl MemberModel for Model {
    fn distance(&mut self, features: &[f32]) -> f64 {
        let (scale, whitener) = &*self.nominal;
        scale.apply(features, &mut self.z);
        self.x.iter_mut().zip(&self.z).for_each(|(x, z)| *x = f64::from(*z));
        (whitener.mean_square(&mut self.x) * scale.width() as f64).sqrt()
    }

    fn save(&self, to: &mut Writer<'_>) {
        self.nominal.0.save(to);
        self.nominal.1.save(&mut to.part("nominal"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offnominal_laws::{MockEnsemble, assert_lawful, detector_with};

    #[test]
    fn an_ensemble_obeys_the_laws() {
        let recipe = FeatureMahalanobis::default();
        let policy = |w| Box::new(MockEnsemble::members(w)) as Box<dyn Policy>;
        assert_lawful("members", &detector_with(&recipe, &policy, ENTRY.exempt));
    }

    #[test]
    fn moves_against_the_correlation_are_farther() {
        let mut rng = Rng::new(3);
        let rows = (0..500).flat_map(|_| {
            let (a, b) = (rng.normal() as f32, rng.normal() as f32);
            [a, a + 0.3 * b]
        });
        let (obs, actions): (Vec<f32>, _) = (rows.collect(), [0.0; 499]);
        let nominal = Signals::new(&obs, &actions, 2, 1);
        let recipe = FeatureMahalanobis::default();
        let mut monitor = recipe
            .fit(Nominal::new(&[nominal], &[]).with_policy(&MockEnsemble::plain(2)), &mut Rng::new(0))
            .unwrap();
        let mut at =
            |next_obs: &[f32]| monitor.score(&Transition { obs: &obs[..2], action: &[0.0], next_obs });
        assert!(at(&[1.0, -1.0]) > 3.0 * at(&[1.0, 1.0]));
    }
}
