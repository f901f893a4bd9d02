//! Cumulative sum of another detector's self-information, with an allowance for what is usual.
//!
//! score(t) = S_t = max(0, S_{t−1} − k) + min(x_t, 20), S_0 = 0, with x_t = −ln p_t.
//!
//! | symbol | meaning                                                                                  |
//! |--------|------------------------------------------------------------------------------------------|
//! | p_t    | share of held-out nominal steps that the inner detector scores at least as high          |
//! | x_t    | self-information, exponential with mean one on nominal data                                      |
//! | k      | allowance; above one, so that on nominal data the sum returns to zero                    |
//!
//! Small doubts add up: a fault that lasts is seen though no step of it is remarkable. The sum begins
//! anew with each episode and is stationary after a few steps, so it does not tell the time; a limit of 20 per step
//! bounds how long a single freak is remembered.
//!
//! Assumes: the inner detector's nominal scores depend little on one another from step to step.
//! Blind to: what the inner detector is blind to; faults shorter than the sum needs to rise.
//! Cost: that of the inner detector, fitted on three quarters of the episodes; score O(log n) more.
//! Reference: Page, Biometrika 1954, as Lindley's recursion.  Deviates: of self-information in place of likelihood
//! ratios, as there is no model of the anomaly.
//!
//! ```
//! use offnominal_core::detector::{Nominal, Signals};
//! use offnominal_core::transition::Transition;
//! use offnominal_core::Rng;
//! let observations: Vec<f32> = (0..100).map(|i| i as f32).collect();
//! let nominal = Signals::new(&observations, &[0.0; 99], 1, 1);
//! let recipe = serde_json::json!({"inner": "knn", "allowance": 3.0});
//! let cusum = offnominal_detectors::catalogue().build("cusum", &recipe).unwrap();
//! let mut monitor = cusum.fit(Nominal::new(&[nominal], &[]), &mut Rng::new(0)).unwrap();
//! let far = Transition { obs: &[99.0], action: &[0.0], next_obs: &[900.0] };
//! // Every step is worth the limit of 20; the allowance of 3 is taken off between steps.
//! assert_eq!([20.0, 37.0, 54.0], [(); 3].map(|()| monitor.score(&far)));
//! ```

use crate::shared::inner::{Accumulate, Accumulated, Inner};
use crate::shared::prelude::*;
use crate::shared::ranges::Positive;
use crate::shared::self_information::LIMIT;

recipe! {
    /// The recipe.
    pub struct Cusum {
        /// The detector whose scores are added up.
        pub inner: Inner = Inner::named("ensemble-dm"),
        /// Taken off at each step, in self-information.
        pub allowance: Positive = Positive::new(1.5),
    }
}

/// The entry of [`Cusum`].
pub const ENTRY: Entry<dyn Detector> =
    entry!(Cusum as dyn Detector, "cusum", "cumulative sum of another detector's self-information");

impl Detector for Cusum {
    fn fit(&self, nominal: Nominal<'_>, rng: &mut Rng) -> Result<Box<dyn Scorer>, FitError> {
        Accumulated::fit(self, nominal, rng)
    }

    fn load(&self, from: &Reader<'_>, policy: Option<&dyn Policy>) -> Result<Box<dyn Scorer>, ArchiveError> {
        Accumulated::load(self, from, policy)
    }
}

impl Accumulate for Cusum {
    fn inner(&self) -> &Inner {
        &self.inner
    }

    fn add(&self, sum: f64, self_information: f64) -> f64 {
        (sum - self.allowance.get()).max(0.0) + self_information.min(LIMIT)
    }
}
