//! Mean of another detector's last self-information: accumulation at its simplest.
//!
//! score(t) = S_t = (1 − r) S_{t−1} + r min(x_t, 20), S_0 = 1, with x_t = −ln p_t.
//!
//! | symbol | meaning                                                                             |
//! |--------|-------------------------------------------------------------------------------------|
//! | p_t    | share of held-out nominal steps that the inner detector scores at least as high     |
//! | x_t    | self-information, exponential with mean one on nominal data                                 |
//! | r      | weight of the newest step: about 2/r steps are looked at                            |
//!
//! It begins at the mean of a nominal self-information, so that young episodes do not stand out, and is the rival that
//! shows what other detectors owe to looking at more than one step. A limit of 20 per step bounds how long a single
//! freak is remembered.
//!
//! Assumes: as `cusum`.
//! Blind to: what the inner detector is blind to; faults much shorter than 1/r steps.
//! Cost: that of the inner detector, fitted on three quarters of the episodes; score O(log n) more.
//! Reference: Roberts, Technometrics 1959 (EWMA charts).  Deviates: of self-information in place of measurements.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..100).map(|i| i as f32).collect();
//! let nominal = Signals::new(&observations, &[0.0; 99], 1, 1);
//! let recipe = serde_json::json!({"inner": "knn", "rate": 0.5});
//! let mean = offnominal_detectors::catalogue().build("running-mean", &recipe).unwrap();
//! let mut monitor = mean.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! let far = Transition { obs: &[99.0], action: &[0.0], next_obs: &[900.0] };
//! // From 1, half of the way to the limit of 20 at each step.
//! assert_eq!([10.5, 15.25], [(); 2].map(|()| monitor.score(&far)));
//! ```

use crate::shared::inner::{Accumulate, Accumulated, Inner};
use crate::shared::prelude::*;
use crate::shared::ranges::Rate;
use crate::shared::self_information::LIMIT;

recipe! {
    /// The recipe.
    pub struct RunningMean {
        /// The detector whose scores are averaged.
        pub inner: Inner = Inner::named("ensemble-dm"),
        /// Weight of the newest step, r.
        pub rate: Rate = Rate::new(0.1),
    }
}

/// The entry of [`RunningMean`].
pub const ENTRY: Entry<dyn Detector> = entry!(
    RunningMean as dyn Detector,
    "running-mean",
    "exponentially weighted mean of another detector's self-information"
);

impl Detector for RunningMean {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Accumulated::fit(self, nominal, rng)
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Accumulated::load(self, from, policy)
    }
}

impl Accumulate for RunningMean {
    fn inner(&self) -> &Inner {
        &self.inner
    }

    fn start(&self) -> f64 {
        1.0
    }

    fn add(&self, mean: f64, self_information: f64) -> f64 {
        mean + self.rate.get() * (self_information.min(LIMIT) - mean)
    }
}
