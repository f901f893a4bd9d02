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
//! use offnominal_core::detector::{Signals, Transition};
//! use offnominal_core::Rng;
//! // The observations 0, 1, …, 9: mean 4.5, standard deviation √8.25.
//! let observations: Vec<f32> = (0..10).map(|i| i as f32).collect();
//! let nominal = Signals::new(&observations, &[0.0; 9], 1, 1);
//! let entry = offnominal_detectors::catalogue();
//! let knn = entry.build("knn", &serde_json::json!({})).unwrap();
//! let mut monitor = knn.fit(&[nominal], &[], &mut Rng::new(0)).unwrap();
//! let score = monitor.score(&Transition { obs: &[9.0], action: &[0.0], next_obs: &[12.0] });
//! assert!((score - 3.0 / 8.25_f64.sqrt()).abs() < 1e-6);
//! ```

use crate::shared::nearest::{Nearest, Scratch};
use crate::shared::scale::{Scale, n_observations};
use offnominal_core::detector::check;
use offnominal_core::prelude::*;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The entry of [`Knn`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(Knn as dyn Detector, "knn", "distance to the k-th nearest nominal observation");

/// The recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Knn {
    /// Rank of the neighbour.
    pub k: NonZeroUsize,
}

impl Default for Knn {
    fn default() -> Self {
        Knn { k: NonZeroUsize::MIN }
    }
}

impl Detector for Knn {
    fn fit(
        &self,
        train: &[Signals<'_>],
        _validation: &[Signals<'_>],
        _rng: &mut Rng,
    ) -> Result<Box<dyn Monitor>, FitError> {
        check(train, self.k.get())?;
        let (scale, points) = Scale::of_observations(train);
        let index = Nearest::new(scale.width(), n_observations(train), &points);
        Ok(Box::new(Fitted::new(scale, index, self.k)))
    }

    fn load(&self, from: &Reader<'_>, _: Option<&dyn Policy>) -> Result<Box<dyn Monitor>, ArchiveError> {
        let scale = Scale::load(&from.part("obs"), from.obs_width)?;
        let index = Nearest::load(&from.part("nominal"), scale.width(), self.k.get())?;
        Ok(Box::new(Fitted::new(scale, index, self.k)))
    }
}

/// The points are shared by all forks; each has its own scratch.
#[derive(Clone)]
struct Fitted {
    model: Arc<(Scale, Nearest)>,
    z: Vec<f32>,
    scratch: Scratch,
}

impl Fitted {
    fn new(scale: Scale, index: Nearest, k: NonZeroUsize) -> Fitted {
        let (z, scratch) = (vec![0.0; scale.width()], index.scratch(k.get()));
        Fitted { model: Arc::new((scale, index)), z, scratch }
    }
}

impl Monitor for Fitted {
    fn reset(&mut self) {}

    fn score(&mut self, seen: &Transition<'_>) -> f64 {
        let (scale, index) = &*self.model;
        scale.apply(seen.next_obs, &mut self.z);
        f64::from(index.squared_distance(&self.z, &mut self.scratch)).sqrt()
    }

    fn fork(&self) -> Box<dyn Monitor> {
        Box::new(self.clone())
    }

    fn save(&self, to: &mut Writer<'_>) -> Result<(), ArchiveError> {
        let (scale, index) = &*self.model;
        scale.save(&mut to.part("obs"));
        index.save(&mut to.part("nominal"));
        Ok(())
    }
}
