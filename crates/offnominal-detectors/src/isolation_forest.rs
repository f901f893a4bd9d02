//! How few random splits isolate an observation from nominal ones.
//!
//! score(o′) = 2^(−E[h(z)] / c(ψ)), in (0, 1]; above 0.5 is easier to isolate than a nominal point.
//!
//! | symbol | meaning                                                                                |
//! |--------|----------------------------------------------------------------------------------------|
//! | z      | standardised observation after the step, constant channels dropped                     |
//! | h(z)   | splits on the way to its leaf, plus c(points left in the leaf); the mean is over trees |
//! | ψ      | points per tree, drawn without replacement                                             |
//! | c(n)   | 2 H(n−1) − 2 (n−1)/n, the mean path length in a random tree of n points                |
//!
//! Assumes: anomalous observations are few and different, channel by channel.
//! Blind to: how far outside a point lies (the score saturates beyond the range seen); broken correlations between
//! channels whose own ranges are kept; dynamics.
//! Cost: fit O(trees · ψ · log ψ · d), score O(trees · log ψ).
//! Reference: Liu, Ting and Zhou, ICDM 2008, equations 1 and 2; 100 trees as in Anomaly-Gym, Table 11.
//! Deviates: H is summed exactly, where the paper approximates it by a logarithm.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // Two distinct observations: every tree is one split, h = 1 = c(2), score 2^-1.
//! let nominal = Signals::new(&[0.0, 1.0], &[0.0], 1, 1);
//! let forest = offnominal_detectors::catalogue().build("isolation-forest", &serde_json::json!({})).unwrap();
//! let mut monitor = forest.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! assert_eq!(monitor.score(&Transition { obs: &[0.0], action: &[0.0], next_obs: &[9.0] }), 0.5);
//! ```

use crate::shared::forest::{Forest, Table};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::scale::{Constant, Scale, n_observations};
use offnominal_core::limits::{DRAWS, POINTS};

recipe! {
    /// The recipe.
    pub struct IsolationForest {
        /// Number of trees.
        #[serde(deserialize_with = "up_to::<_, _, DRAWS>")]
        pub trees: NonZeroUsize = count(100),
        /// Observations per tree, ψ.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub subsample: NonZeroUsize = count(256),
    }
}

/// The entry of [`IsolationForest`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    IsolationForest as dyn Detector,
    "isolation-forest",
    "how few random splits isolate an observation"
);

impl Detector for IsolationForest {
    fn fit(
        &self,
        Nominal { train, progress, .. }: Nominal<'_>,
        rng: &mut Rng,
    ) -> Result<Box<dyn Scorer>, FitError> {
        check(train, 1)?;
        let (scale, points) = Scale::of_observations(train, Constant::Dropped);
        let width = scale.width();
        let table = Table { points: &points, width, n_points: n_observations(train) };
        let forest = Forest::grow(table, self.trees.get(), self.subsample.get(), rng, progress)?;
        Ok(Box::new(Fitted { model: Arc::new((scale, forest)), z: vec![0.0; width] }))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let forest = Forest::load(&from.part("forest"), scale.width(), self.trees.get())?;
        let z = vec![0.0; scale.width()];
        Ok(Box::new(Fitted { model: Arc::new((scale, forest)), z }))
    }
}

/// The trees are shared by all forks.
#[derive(Clone)]
struct Fitted {
    model: Arc<(Scale, Forest)>,
    z: Vec<f32>,
}

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let (scale, forest) = &*self.model;
        scale.apply(seen.next_obs, &mut self.z);
        forest.score(&self.z)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let (scale, forest) = &*self.model;
        scale.save(&mut to.part("obs"));
        forest.save(&mut to.part("forest"));
        Ok(())
    }
}
