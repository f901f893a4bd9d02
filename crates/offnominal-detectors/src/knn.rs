//! Distance to the k-th nearest nominal observation.
//!
//! score(o′) = ‖z(o′) − z₍ₖ₎‖₂, exact, over all nominal observations.
//!
//! | symbol | meaning                                                    | shape |
//! |--------|------------------------------------------------------------|-------|
//! | o′     | observation after the step                                 | d     |
//! | z      | standardised observation, constant channels dropped        | ≤ d   |
//! | z₍ₖ₎   | the k-th nearest of the n standardised nominal observations | ≤ d   |
//!
//! Assumes: nominal behaviour returns to the states it was trained on.
//! Blind to: dynamics that change while the states visited stay the same; a slow fault in a familiar region.
//! Cost: fit O(n log² n), score O(n d) at worst, far less near nominal data.
//! Reference: Ramaswamy, Rastogi and Shim, SIGMOD 2000, section 2; k = 1 as in Anomaly-Gym, Table 11.  Deviates: no.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! // The observations 0, 1, …, 9: mean 4.5, standard deviation √8.25.
//! let observations: Vec<f32> = (0..10).map(|i| i as f32).collect();
//! let nominal = Signals::new(&observations, &[0.0; 9], 1, 1);
//! let entry = offnominal_detectors::catalogue();
//! let knn = entry.build("knn", &serde_json::json!({})).unwrap();
//! let mut monitor = knn.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! let score = monitor.score(&Transition { obs: &[9.0], action: &[0.0], next_obs: &[12.0] });
//! assert!((score - 3.0 / 8.25_f64.sqrt()).abs() < 1e-6);
//! ```

use crate::shared::nearest::{Nearest, Neighbours};
use crate::shared::prelude::*;
use crate::shared::ranges::up_to;
use crate::shared::scale::{Constant, Scale, n_observations};
use offnominal_core::limits::POINTS;

recipe! {
    /// The recipe.
    pub struct Knn {
        /// Rank of the neighbour.
        #[serde(deserialize_with = "up_to::<_, _, POINTS>")]
        pub k: NonZeroUsize = count(1),
        /// Whether channels that are constant in training are kept, as the released code of Anomaly-Gym does: it magnifies what
        /// becomes of them a million times.
        pub keep_constant_channels: bool = false,
    }
}

/// The entry of [`Knn`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(Knn as dyn Detector, "knn", "distance to the k-th nearest nominal observation");

impl Detector for Knn {
    fn fit(&self, Nominal { train, .. }: Nominal<'_>, _: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        check(train, self.k.get())?;
        let (scale, points) = Scale::of_observations(train, Constant::kept_if(self.keep_constant_channels));
        let index = Nearest::new(scale.width(), n_observations(train), &points);
        Ok(Box::new(Fitted(Neighbours::new(scale, index, self.k))))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let index = Nearest::load(&from.part("nominal"), scale.width(), self.k.get())?;
        Ok(Box::new(Fitted(Neighbours::new(scale, index, self.k))))
    }
}

#[derive(Clone)]
struct Fitted(Neighbours);

impl Scorer for Fitted {
    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        self.0.distance(seen.next_obs)
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let (scale, index) = self.0.model();
        scale.save(&mut to.part("obs"));
        index.save(&mut to.part("nominal"));
        Ok(())
    }
}
